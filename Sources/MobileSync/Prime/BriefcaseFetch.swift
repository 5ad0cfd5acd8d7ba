import JSON
import Salesforce

/// What a briefcase sync has to fetch, and what came of it.
struct BriefcaseFetch {
  let groups: [BriefcaseGroup]
  let listing: BriefcaseListing
  /// The ids to retrieve of each group: new ones, and those whose stamp is another than before.
  let wanted: [[String]]
  private let known: [String: [String: Int64]]
  /// What became of each soup.
  private(set) var counts: [String: SoupCount] = [:]
  /// The ids of each soup that the org listed and would not give.
  private(set) var unreadable: [String: [String]] = [:]
  /// The greatest modification date that was seen.
  private(set) var latestModification: String?

  init(
    groups: [BriefcaseGroup], listing: BriefcaseListing,
    known stamps: (_ soup: String) -> [String: Int64]
  ) {
    self.groups = groups
    self.listing = listing
    var known: [String: [String: Int64]] = [:]
    for group in groups where known[group.soupName] == nil {
      known[group.soupName] = stamps(group.soupName)
    }
    self.known = known
    wanted = groups.map { group in
      let before = known[group.soupName] ?? [:]
      return listing.entries(of: group.sobjectType).filter { before[$0.id] != $0.stamp }.map(\.id)
    }
  }

  /// The soups in the order of the target.
  var soups: [String] {
    var soups: [String] = []
    for group in groups where soups.last != group.soupName { soups.append(group.soupName) }
    return soups
  }

  /// The retrieves, in order; one object type each.
  func batches(of size: Int) -> [BriefcaseBatch] {
    BriefcaseBatch.slices(of: wanted, size: size, acrossGroups: false).flatMap(\.self)
  }

  /// Notes which ids of a batch the answer has no record for.
  mutating func noteUnreadable(_ page: [UInt8], of batch: BriefcaseBatch) throws(SyncError) {
    unreadable[groups[batch.group].soupName, default: []] += try batch.read(page).missing
  }

  /// The stamp of the oldest change that the org listed and would not give; nil where it gave all.
  var earliestUnreadable: Int64? {
    groups.compactMap { group in
      let missing = Set(unreadable[group.soupName] ?? [])
      if missing.isEmpty { return nil }
      return listing.entries(of: group.sobjectType).filter { missing.contains($0.id) }
        .map(\.stamp).min()
    }.min()
  }

  /// Adds what became of a group to its soup.
  mutating func add(_ count: SoupCount, latestModification date: String?, of group: Int) {
    let soup = groups[group].soupName
    if let date, date > latestModification ?? "" { latestModification = date }
    guard var sum = counts[soup] else {
      counts[soup] = count
      return
    }
    sum.add(count)
    counts[soup] = sum
  }

  /// What the next run may take as known; an id that could not be read is asked for again.
  ///
  /// `keepingOthers` is for records that are still in the soup although they were not listed.
  func stamps(of soup: String, keepingOthers: Bool) -> [String: Int64] {
    let before = known[soup] ?? [:]
    var stamps = keepingOthers ? before : [:]
    for group in groups where group.soupName == soup {
      for entry in listing.entries(of: group.sobjectType) { stamps[entry.id] = entry.stamp }
    }
    for id in unreadable[soup] ?? [] { stamps[id] = before[id] }
    return stamps
  }
}
