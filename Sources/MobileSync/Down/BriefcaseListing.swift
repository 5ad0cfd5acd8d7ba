import Salesforce
import System

/// The IDs in a user's briefcases, collected from the pages of priming records.
package struct BriefcaseListing: Sendable {
  /// A record in a briefcase.
  package struct Entry: Sendable, Hashable {
    /// The 18-character ID.
    package var id: String
    /// The record's last change, in milliseconds.
    var stamp: Int64

    package init(id: String, stamp: Int64) {
      self.id = id
      self.stamp = stamp
    }
  }

  private var lists: [String: [Entry]] = [:]
  private var places: [String: Int] = [:]
  private var tokens: Set<String> = []
  /// The rules that failed; their records are missing from the listing.
  private(set) var ruleErrors: [String] = []

  package init(ruleErrors: [String] = []) {
    self.ruleErrors = ruleErrors
  }

  /// Adds a record; one returned by several rules is listed once, with its latest stamp.
  package mutating func add(type: String, id: String, stamp: Int64) {
    let id = id.recordID18 ?? id
    let key = type.lowercased()
    if let place = places[id], let list = lists[key], place < list.count, list[place].id == id {
      lists[key]?[place].stamp = max(stamp, list[place].stamp)
      return
    }
    places[id] = lists[key]?.count ?? 0
    lists[key, default: []].append(Entry(id: id, stamp: stamp))
  }

  mutating func add(ruleErrors: [String]) { self.ruleErrors += ruleErrors }

  /// Returns the token of the next page, or nil after the last one; throws if a token repeats,
  /// since the listing would never end.
  package mutating func follow(_ relayToken: String?) throws(SyncError) -> String? {
    guard let relayToken, !relayToken.isEmpty else { return nil }
    guard tokens.insert(relayToken).inserted else {
      throw SyncError(
        .badResponse, "the org returned the same relay token of priming records twice",
        fix: "retry; if it happens again, the list of the briefcases cannot be read")
    }
    return relayToken
  }

  /// The records of a type in listing order; empty if there are none.
  package func entries(of type: String) -> [Entry] { lists[type.lowercased()] ?? [] }

  /// The number of records of types other than these.
  package func count(ofTypesOtherThan types: [String]) -> Int {
    let known = Set(types.map { $0.lowercased() })
    return lists.reduce(0) { known.contains($1.key) ? $0 : $0 + $1.value.count }
  }
}

extension BriefcaseListing {
  /// Fetches all pages; `check` is called before each request.
  package static func fetch(
    _ session: Session, check: () throws(SyncError) -> Void = {}
  ) async throws(SyncError) -> BriefcaseListing {
    var listing = BriefcaseListing()
    var token: String?
    repeat {
      try check()
      let relayToken = token
      let page = try await SyncError.inOrg {
        try await session.primingRecords(relayToken: relayToken)
      }
      for (type, records) in page.records.sorted(by: { $0.key < $1.key }) {
        for record in records {
          listing.add(type: type, id: record.id, stamp: record.systemModstamp)
        }
      }
      listing.add(ruleErrors: page.ruleErrors)
      token = try listing.follow(page.relayToken)
    } while token != nil
    return listing
  }

  /// All IDs listed for each soup; unknown if a rule failed.
  func remoteIDs(of groups: [BriefcaseGroup]) -> [RemoteIDs] {
    var remote: [RemoteIDs] = []
    for soup in groups.map(\.soupName) where remote.last?.soupName != soup {
      var ids = RecordIDSet()
      for group in groups where group.soupName == soup {
        for entry in entries(of: group.sobjectType) { ids.insert(entry.id) }
      }
      remote.append(
        RemoteIDs(soupName: soup, idPath: "Id", ids: ruleErrors.isEmpty ? ids : nil))
    }
    return remote
  }

  /// The warning about listed records that no group of the target retrieves.
  func warning(ofOthersThan groups: [BriefcaseGroup]) -> String? {
    let others = count(ofTypesOtherThan: groups.map(\.sobjectType))
    return others > 0
      ? "the briefcases contain \(CountText.of(others, "record")) of types that the target does not name"
      : nil
  }
}
