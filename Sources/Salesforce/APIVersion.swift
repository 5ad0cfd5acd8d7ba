/// A version of an org's API, such as 66.0.
///
/// There are three new ones a year, all whole numbers.
package struct APIVersion: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The number before the point.
  package let number: Int

  /// The newest version that attache supports.
  package static let newestKnown = APIVersion(66)

  package init(_ number: Int) { self.number = number }

  /// Parses `66.0`; nil for anything else.
  package init?(_ text: String) {
    guard text.hasSuffix(".0"), let number = Int(text.dropLast(2)), number > 0 else { return nil }
    self.number = number
  }

  /// The version as in a path, without the v.
  package var description: String { "\(number).0" }

  package static func < (one: APIVersion, other: APIVersion) -> Bool { one.number < other.number }

  /// The version to use with an org that has `versions`: the requested one, or the newest that both
  /// support.
  package static func choose(
    asked: String?, from versions: [String], for features: Set<APIFeature>
  ) throws(OrgError) -> APIVersion {
    let known = versions.compactMap { APIVersion($0) }.sorted()
    guard let oldest = known.first, let newest = known.last else {
      throw OrgError(
        .invalidResponse, message: "the response lists no version", request: Versions.request)
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
      let whose = asked == nil ? "the org's newest version is" : "the requested version is"
      throw refusal("\(feature.words) need API version \(feature.since), and \(whose) \(chosen)")
    }
    return chosen
  }

  private static func refusal(_ message: String) -> OrgError {
    OrgError(.configuration, message: message, request: Versions.request)
  }
}

/// The features that not every version of the API has, with the versions that introduced them.
package enum APIFeature: CaseIterable, Sendable {
  /// Collections of records, and upserts that return the record's ID.
  case records
  /// The IDs in a user's briefcases, all of them or only the changed ones.
  case briefcases

  /// The first version with the feature.
  package var since: APIVersion {
    switch self {
    case .records: APIVersion(46)
    case .briefcases: APIVersion(57)
    }
  }

  /// The feature, as a plural phrase for messages.
  package var words: String {
    switch self {
    case .records: "collections of records"
    case .briefcases: "briefcases"
    }
  }
}
