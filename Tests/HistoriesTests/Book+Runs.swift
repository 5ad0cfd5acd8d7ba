import Ledger
import Reconciliation
import TestSupport

/// The rules for each completed run.
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
      throw Violation("\(result.verb) ended with 0, but \(open) is open")
    }
    // A run's report lists what it overwrote; for a killed run, the next one's does.
    let reconciles = ![.ingest, .pack].contains(result.verb)
    if result.status == 0 || result.status == 3, reconciles, let first = unlisted.first {
      throw Violation("\(first.words) was overwritten, but no report lists it")
    }
  }

  /// Removes overwritten values that a report has listed, of this run or of one after an
  /// interruption.
  ///
  /// After a request without an answer, the base is the value before it.
  private mutating func strikeOff(_ result: RunResult, in world: World) {
    let died = world.runs.dropLast().reversed().prefix { $0.isStruck }.compactMap(\.id)
    let told = ([result.id].compactMap(\.self) + died).compactMap { reports[$0] }.flatMap(\.records)
    unlisted.removeAll { transition in
      told.contains { row in
        row.recordID == transition.field.record
          && row.fields.contains {
            $0.name == transition.field.field
              && ($0.server == transition.old || $0.base != nil && $0.base == transition.old
                // Its app has sent its own value again, which looks like a late request's.
                || transition.oldAuthor == .phone && $0.device == transition.old)
          }
      }
    }
  }

  private mutating func take(_ result: RunResult, in world: World) {
    guard [.all, .ingest, .reconcile].contains(result.verb), !result.isStruck,
      [0, 3].contains(result.status)
    else { return }
    for index in returned.indices where returned[index].taken == nil {
      returned[index].taken = world.runs.count
    }
  }

  private func addUp(_ report: Report, _ result: RunResult) throws {
    let sum = report.counts.values.reduce(0, +)
    guard report.edits == report.records.count, sum == report.edits else {
      throw Violation(
        "the report of \(result.verb) says \(report.edits) edits, but lists \(report.records.count) "
          + "and counts \(sum)")
    }
    if let status = result.status, [0, 3].contains(status) {
      let isOpen = (report.records + report.stillOpen).contains { !$0.verdict.isSettled }
      // A finding of a run may be resolved when it is reported.
      let isLeft = report.records.contains { [.notUndone, .partlyUndone].contains($0.verdict) }
      let isRight = status == 0 ? !isOpen && !isLeft : isOpen || isLeft || report.isWaiting
      guard isRight else {
        throw Violation(
          "\(result.verb) ended with \(status), but its report has "
            + (isOpen ? "open edits" : "nothing open"))
      }
    }
  }

  // MARK: writes

  mutating func judgeWrites(in world: World) throws {
    // A change by another user between a run's read and its write is only seen with conditional
    // updates, and OVERWRITE does not check.
    let isBlind = !world.setup.strict || world.setup.overwrites
    var unseen: Set<OrgWatch.FieldID> = []
    for transition in world.watch.takeTransitions() {
      if transition.author == .otherUser, isBlind { unseen.insert(transition.field) }
      guard transition.author == .pipeline, unseen.remove(transition.field) == nil else { continue }
      try judge(transition, in: world)
    }
    stoodBefore = [:]
    let own = Set(syncs.filter(\.isMade).map(\.recordID))
    for record in world.watch.records
    where known.insert(record.id).inserted && !own.contains(record.id) {
      // A deleted record may be recreated.
      let sent = syncs.filter { $0.isMade && $0.marker == record.name }
      if sent.contains(where: { world.watch.wasDeleted($0.recordID) }) { continue }
      let teller = returned.first { file in
        file.taken != nil && file.sent.values.contains { $0.marker == record.name }
      }
      if let teller {
        throw Violation(
          "\(record.name) was created, although \(teller.file) showed that its phone has sent it")
      }
    }
  }

  private mutating func judge(_ transition: OrgWatch.Transition, in world: World) throws {
    let words = transition.words
    if late.contains(transition.field) {
      // A late value is replaced with what stood before it, or with a new one.
      if let late = stoodBefore[transition.field], late.new == transition.old, transition.isBack,
        transition.new != late.old, !world.setup.overwrites, !isUndo(transition, in: world),
        !isDecided(transition)
      {
        throw Violation(
          "\(words), a late request's, became \(transition.new ?? "nothing"), but "
            + "\(late.old ?? "nothing") stood before it")
      }
      return
    }
    if isUndo(transition, in: world) { return }
    if isOrdered(transition) || isEntered(transition) {
      if transition.old != nil { unlisted.append(transition) }
      return
    }
    if transition.isBack || isOfReplaced(transition, in: world) {
      // The phone has reverted its edit, to the issued value or to its own earlier one, and returns
      // that with another edit of the row.
      if let before = change(transition.old), isTakenBack(before, in: world) {
        let earlier = change(transition.new)
        if before.issued == transition.new || earlier.map({ isPast($0, of: before) }) == true {
          return
        }
      }
      if isDecided(transition) || seemsLate(transition) { return unlisted.append(transition) }
      // A sync up sends all listed fields, so OVERWRITE restores the values that the phone was
      // issued.
      if world.setup.overwrites { return unlisted.append(transition) }
      throw Violation("\(words) was reverted to \(transition.new ?? "nothing")")
    }
    guard let change = change(transition.new) else {
      if transition.new == nil, world.setup.overwrites { return unlisted.append(transition) }
      throw Violation("\(words) became \(transition.new ?? "nothing"), which no one wrote")
    }
    guard change.isListed else {
      throw Violation("\(words) became \(change.value), whose field is not sent")
    }
    try judgeGivenUp(change, words)
    if isNamed(transition, for: change) { return }
    if let later = returnDiscarding(change) {
      throw Violation("\(words) became \(change.value), which \(later.file) has discarded")
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
      throw Violation(
        "\(words), another user's value, became \(change.value) under LEAVE_IF_CHANGED")
    }
  }

  /// Whether an app has sent the value of a returned edit by itself, as far as can be seen a request
  /// without an answer, which arrived late.
  private func seemsLate(_ transition: OrgWatch.Transition) -> Bool {
    let field = transition.field
    return transition.oldAuthor == .phone && sentAfterLoss.contains(field.record)
      && returned.contains { one in
        one.taken != nil
          && one.rows.values.contains { $0.changed[field.field]?.value == transition.old }
      }
  }

  /// Whether a recreated record has got a value of the deleted one that it replaces.
  ///
  /// The phone was issued the deleted one's values, and OVERWRITE sends them as if the record had
  /// never been deleted.
  private func isOfReplaced(_ transition: OrgWatch.Transition, in world: World) -> Bool {
    guard world.setup.overwrites, let new = transition.new else { return false }
    return world.watch.replaced(by: transition.field.record).contains {
      world.watch.hasSeen(new, $0, transition.field.field)
    }
  }

  /// Checks one phone's value that replaced another's; returns whether a report has to list the
  /// replaced value.
  private func judge(
    _ change: Change, over before: Change, _ transition: OrgWatch.Transition, in world: World
  ) throws -> Bool {
    let words = transition.words
    // The later change of one phone stands.
    if isPast(before, of: change) { return false }
    // If a phone does not set its install ID, the rows show the order.
    let isMarked = world.setup.phones[change.phone].marksInstall
    if !isMarked, change.phone == before.phone, change.number > before.number { return false }
    if change.issued == before.value { return false }
    // A first upsert overwrites whatever has its external ID, except what the pipeline itself has
    // sent since the bundle was made.
    let first = world.watch.firstEntry(of: transition.old, in: transition.field)
    let isOfApp = transition.oldAuthor == .phone || first?.author == .phone
    let isUnknown = isOfApp || (first?.time ?? 0) <= change.bundle
    if isUpserted(change, in: world), isUnknown { return true }
    // To the pipeline, what an app sent by itself is like another user's change, also if an undo
    // restored it.
    if isOfApp {
      if world.setup.overwrites { return true }
      throw Violation("\(words), which its app sent, became \(change.value)")
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

  /// Whether a phone has discarded an edit.
  ///
  /// As far as can be seen, a restored phone that does not set its install ID has, too.
  func isTakenBack(_ change: Change, in world: World) -> Bool {
    if reverted.contains(change.number) { return true }
    return !world.setup.phones[change.phone].marksInstall
      && returned.contains { $0.phone == change.phone && restored.contains($0.installation) }
  }

  private func isInstallation(_ installation: Int, of change: Change) -> Bool {
    isAncestor(installation, of: change.state)
  }

  private func isUpserted(_ change: Change, in world: World) -> Bool {
    change.recordID == nil && change.row.soup == "visits" && world.setup.visitKey == .external
  }

  private func arrival(of change: Change) -> Int {
    returned.filter {
      $0.phone == change.phone && $0.rows[change.row]?.changed[change.field]?.value == change.value
    }.compactMap(\.taken).min() ?? .max
  }

  private func returnDiscarding(_ change: Change) -> ReturnedFile? {
    redeliveryDiscarding(change) ?? ownReturnDiscarding(change)
  }

  /// A return of a phone that was issued the redelivered change, unless another phone has continued
  /// it.
  private func redeliveryDiscarding(_ change: Change) -> ReturnedFile? {
    func holds(_ row: PhoneRow?) -> Bool { row?.changed[change.field]?.value == change.value }
    return returned.first { later in
      guard later.taken != nil, later.marksInstall, !restored.contains(later.installation),
        let came = later.fixed.first(where: { holds($0) && !holds(later.rows[$0.id]) })
      else { return false }
      return !returned.contains { other in
        other.taken != nil && other.file != later.file
          && other.rows.values.contains { holds($0) && !$0.isSameWork(as: came) }
      }
    }
  }

  private func ownReturnDiscarding(_ change: Change) -> ReturnedFile? {
    returned.first { later in
      later.taken != nil && later.marksInstall && !restored.contains(later.installation)
        && isAncestor(change.state, of: later.state)
        && later.rows[change.row]?.changed[change.field]?.value != change.value
    }
  }
}

extension OrgWatch.Transition {
  var words: String { "\(old ?? "nothing") in \(field.field) of \(sobject) \(field.record)" }
}
