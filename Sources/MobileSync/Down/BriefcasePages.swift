import Salesforce

/// The records that briefcases hold: a page is a slice of the ids, whatever their types.
final class BriefcasePages: SyncDownPages {
  let totalSize: Int
  let isSorted = false
  private(set) var cursorLimit: Int64?
  private let groups: [BriefcaseGroup]
  private let slices: [[BriefcaseBatch]]
  private let answers: AnswerWindow<[BriefcaseAnswer]>
  private let context: SyncContext
  /// The stamp of each id that is wanted.
  private var stamps: [String: Int64] = [:]
  private var next = 0

  /// Fetches what is wanted of each group.
  init(
    _ groups: [BriefcaseGroup], _ wanted: [[BriefcaseListing.Entry]], size: Int, limit: Int64?,
    session: Session, _ context: SyncContext
  ) {
    self.groups = groups
    self.context = context
    cursorLimit = limit
    totalSize = wanted.reduce(0) { $0 + $1.count }
    slices = BriefcaseBatch.slices(
      of: wanted.map { $0.map(\.id) }, size: size, acrossGroups: true)
    answers = groups.retrieves(slices.flatMap(\.self), in: session)
    for entry in wanted.joined() { stamps[entry.id] = entry.stamp }
  }

  nonisolated(nonsending) func next() async throws(SyncError) -> SyncPage? {
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

  /// Notes what the org listed and would not give.
  ///
  /// What the soup has of it may be old, or it has nothing: the cursor stays before it, so that
  /// whoever goes on from it asks for it again.
  private func note(_ missing: [String], of soup: String) {
    guard !missing.isEmpty else { return }
    context.report.unreadable[soup, default: []] += missing
    for id in missing {
      guard let stamp = stamps[id] else { continue }
      cursorLimit = min(cursorLimit ?? stamp - 1, stamp - 1)
    }
  }
}
