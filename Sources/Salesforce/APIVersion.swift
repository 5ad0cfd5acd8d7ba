/// A version of an org's API, such as 66.0: there is a new one three times a year, and none between two.
package struct APIVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// What stands before the point.
  package let number: Int

  /// The newest whose answers we know.
  package static let newestKnown = APIVersion(66)

  /// The version of a number.
  package init(_ number: Int) { self.number = number }

  /// Reads `66.0`; nil for anything else.
  package init?(_ text: String) {
    guard text.hasSuffix(".0"), let number = Int(text.dropLast(2)), number > 0 else { return nil }
    self.number = number
  }

  /// As it stands in a path, without its v.
  package var description: String { "\(number).0" }

  /// Whether one is older than the other.
  package static func < (one: APIVersion, other: APIVersion) -> Bool { one.number < other.number }

  /// The version to speak with an org that has `versions`: the one that was asked for, or the newest
  /// that both know.
  package static func choose(
    asked: String?, from versions: [String], for features: Set<APIFeature>
  ) throws(OrgError) -> APIVersion {
    let known = versions.compactMap { APIVersion($0) }.sorted()
    guard let oldest = known.first, let newest = known.last else {
      throw OrgError(
        .invalidResponse, message: "the answer names no version", request: Versions.request)
    }
    let chosen: APIVersion
    if let asked {
      guard let version = APIVersion(asked), known.contains(version) else {
        throw refusal("the org has no API version \(asked): it has \(oldest) to \(newest)")
      }
      chosen = version
    } else {
      chosen = known.last { $0 <= newestKnown } ?? oldest
    }
    for feature in APIFeature.allCases where features.contains(feature) && chosen < feature.since {
      let whose = asked == nil ? "the org's newest is" : "what was asked for is"
      throw refusal("\(feature.words) need API version \(feature.since), and \(whose) \(chosen)")
    }
    return chosen
  }

  private static func refusal(_ message: String) -> OrgError {
    OrgError(.configuration, message: message, request: Versions.request)
  }
}

/// What is asked of an org that not every version of its API has; the one table of it.
package enum APIFeature: CaseIterable, Sendable {
  /// Records in collections, and upserts that answer which record it was.
  case records
  /// The ids of a user's briefcases, all of them and those that changed.
  case briefcases

  /// The first version that has it.
  package var since: APIVersion {
    switch self {
    case .records: APIVersion(46)
    case .briefcases: APIVersion(57)
    }
  }

  /// What it is, in several words of one sentence.
  package var words: String {
    switch self {
    case .records: "collections of records"
    case .briefcases: "briefcases"
    }
  }
}
