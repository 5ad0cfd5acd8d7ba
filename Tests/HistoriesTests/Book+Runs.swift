import Ledger
import Reconciliation

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
    for transition in world.watch.takeTransitions() where transition.author == .pipeline {
      try judge(transition, in: world)
    }
    if let report = result.report {
      unlisted.removeAll { transition in
        report.records.contains { row in
          row.recordID == transition.field.record
            && row.fields.contains {
              $0.name == transition.field.field && $0.server == transition.old
            }
        }
      }
    }
    if result.verb == .all, !result.isStruck, result.status == 0 || result.status == 3 {
      try judgeStores(in: world)
    }
    if result.status == 0, let open = openEdits.first {
      throw Violation("\(result.verb) ended with 0, and \(open) is open")
    }
    // What a run has overwritten stands in its report; a killed one's in the next.
    if result.status == 0 || result.status == 3, let first = unlisted.first {
      throw Violation("\(first.words) was overwritten, and no report lists it")
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
      let isRight = status == 0 ? !isOpen : isOpen || report.isWaiting
      guard isRight else {
        throw Violation(
          "\(result.verb) ended with \(status), and its report has "
            + (isOpen ? "open edits" : "nothing open"))
      }
    }
  }

  // MARK: what was written

  /// Holds one replaced value against the rules.
  private mutating func judge(_ transition: OrgWatch.Transition, in world: World) throws {
    if late.contains(transition.field) { return }
    let words = transition.words
    if transition.isBack {
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
    if transition.old == change.issued { return }
    if let before = self.change(transition.old) {
      try judge(change, over: before, words, in: world)
    } else if world.setup.overwrites {
      unlisted.append(transition)
    } else if transition.old != nil || change.issued != nil {
      throw Violation("\(words), the office's, became \(change.value) under LEAVE_IF_CHANGED")
    }
  }

  private func judge(_ change: Change, over before: Change, _ words: String, in world: World) throws
  {
    // The later change of one phone is the one that stands.
    if isAncestor(before.state, of: change.state) { return }
    // Of a phone that does not mark its installation the rows tell the order.
    let isMarked = world.setup.phones[change.phone].marksInstall
    if !isMarked, change.phone == before.phone, change.number > before.number { return }
    if isAncestor(change.state, of: before.state) {
      throw Violation("\(words) became \(change.value) again, an older edit of the same phone")
    }
    if change.issued == before.value { return }
    throw Violation(
      "\(words) of phone \(before.phone) became \(change.value) of phone \(change.phone), which had "
        + "not seen it")
  }
}

extension OrgWatch.Transition {
  var words: String { "\(old ?? "nothing") in \(field.field) of \(sobject) \(field.record)" }
}
