import Salesforce

/// The records in briefcases; each page is a slice of the IDs, of any type.
final class BriefcasePages: SyncDownPages {
  let totalSize: Int
  let isSorted = false
  private(set) var cursorLimit: Int64?
  private let groups: [BriefcaseGroup]
  private let listing: BriefcaseListing
  private let slices: [[BriefcaseBatch]]
  private let answers: any AnswerSource<[BriefcaseAnswer]>
  private let context: SyncContext
  private var wantedStamps: [String: Int64] = [:]
  private var wantedCounts: [String: Int] = [:]
  private var next = 0

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
    slices = BriefcaseBatch.slices(of: wanted.map { $0.map(\.id) }, size: size)
    let batches = slices.flatMap(\.self)
    // A smaller size keeps the responses small.
    answers =
      size >= RequestLimits.retrieve && slices.count > 1
      ? groups.wideRetrieves(batches, in: session, context.width(.records))
      : groups.retrieves(batches, in: session)
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
    guard next < slices.count else { return nil }
    try context.checkStop()
    let slice = slices[next]
    next += 1
    var parts: [SyncPage.Part] = []
    for _ in slice {
      for answer in try await answers.take() {
        let batch = answer.batch
        let (count, missing) = try batch.read(answer.bytes)
        try batch.check(answered: count, of: groups)
        note(missing, of: groups[batch.group].soupName)
        parts.append(
          SyncPage.Part(groups[batch.group].destination, bytes: answer.bytes, container: .array))
      }
    }
    return SyncPage(parts: parts, records: slice.reduce(0) { $0 + $1.ids.count })
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
