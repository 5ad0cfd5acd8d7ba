import Ledger
import Reconciliation
import TestSupport

/// What is held of each run that came to its end.
extension Book {
  mutating func judge(_ result: RunResult, in world: World) throws {
    try read(in: world)
    if !result.isStruck, ![0, 3].contains(result.status ?? -1) {
      throw Violation("\(result.verb) ended with \(result.status ?? -1): \(result.failure ?? "")")
    }
    if result.failure?.contains("[internal") ?? false || result.status == 1 || result.status == 4 {
      throw Violation("\(result.verb) failed: \(result.failure ?? "")")
    }
    if let report = result.report { try addUp(report, result) }
    take(result, in: world)
    try judgeWrites(in: world)
    try judgeCascades(result, in: world)
    strikeOff(result, in: world)
    if result.verb == .all, !result.isStruck, result.status == 0 || result.status == 3 {
      try judgeStores(in: world)
    }
    if result.status == 0, let open = openEdits(in: world).first {
      throw Violation("\(result.verb) ended with 0, and \(open) is open")
    }
    // What a run has overwritten stands in its report; a killed one's in the next.
    let reconciles = ![.ingest, .pack].contains(result.verb)
    if result.status == 0 || result.status == 3, reconciles, let first = unlisted.first {
      throw Violation("\(first.words) was overwritten, and no report lists it")
    }
  }

  /// Strikes off what was overwritten and a report has told: of this run, or of one that died after it.
  private mutating func strikeOff(_ result: RunResult, in world: World) {
    let died = world.runs.dropLast().reversed().prefix { $0.isStruck }.compactMap(\.id)
    let told = ([result.id].compactMap(\.self) + died).compactMap { reports[$0] }.flatMap(\.records)
    unlisted.removeAll { transition in
      told.contains { row in
        row.recordID == transition.field.record
          && row.fields.contains {
            $0.name == transition.field.field && $0.server == transition.old
          }
      }
    }
  }

  /// The files that were in the inbox of a run that came to its end.
  private mutating func take(_ result: RunResult, in world: World) {
    guard [.all, .ingest, .reconcile].contains(result.verb), !result.isStruck,
      [0, 3].contains(result.status)
    else { return }
    for index in handed.indices where handed[index].taken == nil {
      handed[index].taken = world.runs.count
    }
  }

  private func addUp(_ report: Report, _ result: RunResult) throws {
    let sum = report.counts.values.reduce(0, +)
    guard report.edits == report.records.count, sum == report.edits else {
      throw Violation(
        "the report of \(result.verb) says \(report.edits) edits, lists \(report.records.count) "
          + "and counts \(sum)")
    }
    if let status = result.status, [0, 3].contains(status) {
      let isOpen = (report.records + report.stillOpen).contains { !$0.verdict.isSettled }
      // What a run has found may be over when it is told.
      let isLeft = report.records.contains { [.notUndone, .partlyUndone].contains($0.verdict) }
      let isRight = status == 0 ? !isOpen && !isLeft : isOpen || isLeft || report.isWaiting
      guard isRight else {
        throw Violation(
          "\(result.verb) ended with \(status), and its report has "
            + (isOpen ? "open edits" : "nothing open"))
      }
    }
  }

  // MARK: what was written

  /// Holds what a run has written against the rules.
  mutating func judgeWrites(in world: World) throws {
    // What the office enters between what a run has read and what it writes only a strict run sees, and
    // OVERWRITE does not look.
    let isBlind = !world.setup.strict || world.setup.overwrites
    var unseen: Set<OrgWatch.FieldID> = []
    for transition in world.watch.takeTransitions() {
      if transition.author == .office, isBlind { unseen.insert(transition.field) }
      guard transition.author == .pipeline, unseen.remove(transition.field) == nil else { continue }
      try judge(transition, in: world)
    }
    let own = Set(syncs.filter(\.isMade).map(\.recordID))
    for record in world.watch.records
    where known.insert(record.id).inserted && !own.contains(record.id) {
      // One that was deleted may be made anew.
      let sent = syncs.filter { $0.isMade && $0.marker == record.name }
      if sent.contains(where: { world.watch.wasDeleted($0.recordID) }) { continue }
      let teller = handed.first { file in
        file.taken != nil && file.sent.values.contains { $0.marker == record.name }
      }
      if let teller {
        throw Violation(
          "\(record.name) was made, and \(teller.file) told that its phone has sent it")
      }
    }
  }

  /// Holds one replaced value against the rules.
  private mutating func judge(_ transition: OrgWatch.Transition, in world: World) throws {
    if late.contains(transition.field) { return }
    let words = transition.words
    if isUndo(transition, in: world) { return }
    if transition.isBack {
      // The phone has taken its edit back and hands that in, with another edit of the row.
      if let before = change(transition.old), isTakenBack(before, in: world),
        before.issued == transition.new
      {
        return
      }
      // A sync up sends all listed fields: under OVERWRITE what the phone was given comes back.
      if world.setup.overwrites { return unlisted.append(transition) }
      throw Violation("\(words) was put back to \(transition.new ?? "nothing")")
    }
    guard let change = change(transition.new) else {
      if transition.new == nil, world.setup.overwrites { return unlisted.append(transition) }
      throw Violation("\(words) became \(transition.new ?? "nothing"), which nobody has written")
    }
    guard change.isListed else {
      throw Violation("\(words) became \(change.value), whose field does not travel")
    }
    if let later = givesUp(change) {
      throw Violation("\(words) became \(change.value), which \(later.file) has given up")
    }
    if transition.old == change.issued || isShown(transition.old, of: change) { return }
    if let before = self.change(transition.old) {
      let isTold = try judge(change, over: before, transition, in: world)
      if isTold { unlisted.append(transition) }
    } else if isUpserted(change, in: world) {
      unlisted.append(transition)
    } else if world.setup.overwrites {
      unlisted.append(transition)
    } else if transition.old != nil || change.issued != nil {
      throw Violation("\(words), the office's, became \(change.value) under LEAVE_IF_CHANGED")
    }
  }

  /// Holds one phone's value over another against the rules; answers whether a report has to list what
  /// it has overwritten.
  private func judge(
    _ change: Change, over before: Change, _ transition: OrgWatch.Transition, in world: World
  ) throws -> Bool {
    let words = transition.words
    // The later change of one phone is the one that stands.
    if isPast(before, of: change) { return false }
    // Of a phone that does not mark its installation the rows tell the order.
    let isMarked = world.setup.phones[change.phone].marksInstall
    if !isMarked, change.phone == before.phone, change.number > before.number { return false }
    if change.issued == before.value { return false }
    // A first upsert goes out whatever stands under its external id, but what the pipeline itself has
    // sent since the bundle was made.
    let first = world.watch.firstEntry(of: transition.old, in: transition.field)
    let isOfApp = transition.oldAuthor == .phone || first?.author == .phone
    let isUnknown = isOfApp || (first?.time ?? 0) <= change.bundle
    if isUpserted(change, in: world), isUnknown { return true }
    // What an app has sent by itself is to the pipeline as if the office had written it, also where an
    // undo has put it back.
    if isOfApp {
      if world.setup.overwrites { return true }
      throw Violation("\(words), which its app has sent, became \(change.value)")
    }
    let isFork = !isMarked || restored.contains(where: { isInstallation($0, of: change) })
    let isOlder = isPast(change, of: before)
    if world.setup.across == .lastWins, !isOlder || isFork,
      arrival(of: change) >= arrival(of: before)
    {
      return true
    }
    if isOlder {
      throw Violation("\(words) became \(change.value) again, an older edit of the same phone")
    }
    throw Violation(
      "\(words) of phone \(before.phone) became \(change.value) of phone \(change.phone), which had "
        + "not seen it")
  }

  /// Whether a phone has taken an edit back; to all that can be seen, so has one that was restored and does not
  /// mark its installation.
  func isTakenBack(_ change: Change, in world: World) -> Bool {
    if reverted.contains(change.number) { return true }
    return !world.setup.phones[change.phone].marksInstall
      && handed.contains { $0.phone == change.phone && restored.contains($0.installation) }
  }

  private func isInstallation(_ installation: Int, of change: Change) -> Bool {
    isAncestor(installation, of: change.state)
  }

  /// Whether a change went out with the first upsert of its record.
  private func isUpserted(_ change: Change, in world: World) -> Bool {
    change.recordID == nil && change.row.soup == "visits" && world.setup.visitKey == .external
  }

  /// The first run that has taken a change.
  private func arrival(of change: Change) -> Int {
    handed.filter {
      $0.phone == change.phone && $0.rows[change.row]?.changed[change.field]?.value == change.value
    }.compactMap(\.taken).min() ?? .max
  }

  /// A hand-back that was taken and that comes after a change, and does not hold it any more.
  private func givesUp(_ change: Change) -> HandedBack? {
    givesUpCarried(change) ?? givesUpOwn(change)
  }

  /// One of a phone to which the change was carried, unless another phone has gone on with it.
  private func givesUpCarried(_ change: Change) -> HandedBack? {
    func holds(_ row: PhoneRow?) -> Bool { row?.changed[change.field]?.value == change.value }
    return handed.first { later in
      guard later.taken != nil, later.marksInstall, !restored.contains(later.installation),
        let came = later.mended.first(where: { holds($0) && !holds(later.rows[$0.id]) })
      else { return false }
      return !handed.contains { other in
        other.taken != nil && other.file != later.file
          && other.rows.values.contains { holds($0) && !$0.isSameWork(as: came) }
      }
    }
  }

  private func givesUpOwn(_ change: Change) -> HandedBack? {
    handed.first { later in
      later.taken != nil && later.marksInstall && !restored.contains(later.installation)
        && isAncestor(change.state, of: later.state)
        && later.rows[change.row]?.changed[change.field]?.value != change.value
    }
  }
}

extension OrgWatch.Transition {
  var words: String { "\(old ?? "nothing") in \(field.field) of \(sobject) \(field.record)" }
}
