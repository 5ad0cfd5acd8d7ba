import Salesforce

/// The records in briefcases; each page is a slice of the IDs, of any type.
final class BriefcasePages: SyncDownPages {
  let totalSize: Int
  let isSorted = false
  private(set) var cursorLimit: Int64?
  private let groups: [BriefcaseGroup]
  private let listing: BriefcaseListing
  private let source: any BriefcaseSource
  private let context: SyncContext
  private var wantedStamps: [String: Int64] = [:]
  private var wantedCounts: [String: Int] = [:]
  private var received = 0

  /// Fetches the wanted records of each group; if a rule failed, the cursor stays at `since`.
  init(
    _ groups: [BriefcaseGroup], _ listing: BriefcaseListing, _ wanted: [[BriefcaseListing.Entry]],
    size: Int, since: Int64?, session: Session, _ context: SyncContext
  ) {
    self.groups = groups
    self.listing = listing
    self.context = context
    cursorLimit = listing.ruleErrors.isEmpty ? nil : since ?? -1
    totalSize = wanted.reduce(0) { $0 + $1.count }
    source =
      PooledRetrieves(groups, wanted: wanted, size: size, session: session, context)
      ?? OwnRetrieves(
        groups, wanted: wanted.map { $0.map(\.id) }, size: size, session: session, context)
    for (group, entries) in zip(groups, wanted) {
      wantedCounts[group.soupName, default: 0] += entries.count
      for entry in entries { wantedStamps[entry.id] = entry.stamp }
    }
  }

  /// One listing shows both what to fetch and what was removed.
  var remoteIDs: [RemoteIDs]? { listing.remoteIDs(of: groups) }

  /// The stamps of all listed records, for every soup.
  var stamps: [String: [String: Int64]]? {
    var stamps: [String: [String: Int64]] = [:]
    for group in groups {
      stamps[group.soupName] = stamps[group.soupName] ?? [:]
      for entry in listing.entries(of: group.sobjectType) {
        stamps[group.soupName, default: [:]][entry.id] = entry.stamp
      }
    }
    return stamps
  }

  func expected(in soupName: String) -> Int { wantedCounts[soupName] ?? 0 }

  func next() async throws(SyncError) -> SyncPage? {
    if received < totalSize { try context.checkStop() }
    guard let answers = try await source.next() else { return nil }
    var parts: [SyncPage.Part] = []
    var records = 0
    for answer in answers {
      let batch = answer.batch
      let (count, missing) = try batch.read(answer.bytes)
      try batch.check(answered: count, of: groups)
      note(missing, of: groups[batch.group].soupName)
      parts.append(
        SyncPage.Part(groups[batch.group].destination, bytes: answer.bytes, container: .array))
      records += batch.ids.count
    }
    received += records
    return SyncPage(parts: parts, records: records)
  }

  /// Records the IDs that the org listed but did not return.
  ///
  /// The soup's copy may be outdated or missing, so the cursor stays before them, and the next run
  /// requests them again.
  private func note(_ missing: [String], of soup: String) {
    guard !missing.isEmpty else { return }
    context.report.unreadable[soup, default: []] += missing
    for id in missing {
      guard let stamp = wantedStamps[id] else { continue }
      cursorLimit = min(cursorLimit ?? stamp - 1, stamp - 1)
    }
  }
}
