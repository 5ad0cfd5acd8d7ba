import Ledger
import TestSupport

/// The rules for edits to be undone.
extension Book {
  /// An entry for an edit in a report, as new or as still open.
  typealias Mention = (report: Report, row: Report.Row, isNew: Bool)

  func isAskedToUndo(_ row: RowID, of file: String) -> Bool {
    orderedReports.contains { report in
      report.records.contains {
        $0.row == row && $0.file == file && askedToUndo.contains($0.number)
      }
    }
  }

  private var undoneRows: [Report.Row] {
    orderedReports.flatMap(\.records).filter { askedToUndo.contains($0.number) }
  }

  var undoneRecords: Set<String> { Set(undoneRows.compactMap(\.recordID)) }

  /// Whether a value was replaced by an undo: the pipeline wrote it, an edit to be undone has it,
  /// and the current value was there before it, or before the edit's earlier values.
  ///
  /// As far as can be seen, the pipeline has also written an edit's own value that its app sent by
  /// itself after a faulty run.
  func isUndo(_ transition: OrgWatch.Transition, in world: World) -> Bool {
    let rows = undoneRows.filter { $0.recordID == transition.field.record }
    let name = transition.field.field
    let isOwn = rows.contains { hasValue(transition.old, name, $0) }
    let isSentAfterLoss = isOwn && sentAfterLoss.contains(transition.field.record)
    guard !rows.isEmpty,
      transition.oldAuthor == .pipeline || transition.oldAuthor == .phone && isSentAfterLoss
    else { return false }
    let past = world.watch.history(transition.field.record, name)
    // An earlier undo can have restored what is undone now.
    let isBack = zip(past, past.dropFirst()).contains {
      $0.value == transition.new && $1.value == transition.old
    }
    // An edit that was sent twice, with a decision in between, is undone as a whole.
    let last = past.lastIndex { $0.value == transition.old } ?? 0
    let isBackFromSeveral = rows.contains { row in
      let before = past[..<last].last { !hasValue($0.value, name, row) }
      return before.map { $0.value == transition.new } ?? false
        && hasValue(transition.old, name, row)
    }
    guard isBack || isBackFromSeveral else { return false }
    // A sync up sends all listed fields.
    if world.setup.overwrites { return true }
    // The undone edit had reverted the value that is there again.
    if let before = change(transition.new), isTakenBack(before, in: world) { return true }
    return isOwn
  }

  /// Whether the edit of a report row has a value of a field, or was given it by a decision.
  private func hasValue(_ value: String?, _ field: String, _ row: Report.Row) -> Bool {
    let isDecided = decisions.contains { one in
      one.number == row.number && one.value(of: field).map { $0 == value } ?? false
    }
    return isDecided
      || returned.contains {
        $0.file == row.file && $0.rows[row.row]?.changed[field]?.value == value
      }
  }

  /// The entries for an edit, for each time that it was open: a resolved edit opens again when it
  /// is to be undone, when a request of it arrives late, when the edit that superseded it no longer
  /// reports its duplicate, and when the org has another record of it than an operator named.
  func lives(_ mentions: [Mention]) -> [[Mention]] {
    var lives: [[Mention]] = []
    for mention in mentions {
      let isOver = lives.last?.last?.row.verdict.isSettled ?? true
      let isAgain =
        askedToUndo.contains(mention.row.number) || isTouchedLate(mention.row)
        || mention.row.verdict == .duplicateCreated
          && (lives.last?.last?.row.verdict == .superseded
            || decisions.contains { $0.number == mention.row.number && $0.named != nil })
      if lives.isEmpty || (isOver && isAgain) { lives.append([]) }
      lives[lives.count - 1].append(mention)
    }
    return lives
  }

  /// An edit that no one else has touched since is undone, and its values are no longer in the org.
  func judgeUndone(
    _ row: PhoneRow, of one: ReturnedFile, _ told: Report.Row, wasMade: Bool, in world: World
  ) throws {
    let verdict = told.verdict
    switch verdict {
    case .undone:
      guard let id = told.recordID else { return }
      if row.isDeleted, world.watch.record(id)?.isDeleted == true,
        !world.watch.isTouchedByOthers(id), world.watch.deleter(of: id) != .phone,
        !isDeletedAgain(id, beside: row, of: one, in: world)
      {
        throw Violation("its deletion is undone, but \(id) is not restored")
      }
      if wasMade, !world.watch.wasDeleted(id) {
        throw Violation("it is undone, but its record \(id) was never deleted")
      }
      for (field, entry) in row.changed where !late.contains(.init(record: id, field: field)) {
        guard !wasMade, world.watch.live.contains(where: { $0.id == id }),
          world.watch.record(id)?.values[field] == entry.value,
          // Its app may have sent it again since.
          world.watch.lastAuthor(in: .init(record: id, field: field)) != .phone,
          !isHeld(entry.value, field, beside: told.number)
        else { continue }
        throw Violation("it is undone, but \(entry.value) is in \(field) of \(id)")
      }
    case .notUndone, .partlyUndone:
      let ids = Set([told.recordID].compactMap { $0 })
      let isGoneOn = returned.contains { other in
        other.file != one.file
          && other.rows.values.contains { rival in
            !rival.hasContent(of: row)
              && (rival.serverID.map(ids.contains) ?? (rival.marker == row.marker))
          }
      }
      if isGoneOn || isDisturbed(row, of: one, in: world) || !lateRecords.isDisjoint(with: ids) {
        return
      }
      throw Violation(
        "it is \(verdict.rawValue) (\(told.message ?? "")), although nothing conflicted with it")
    case .superseded: try judgeSuperseded(row, of: one)
    default:
      // A record that a late request has created again needs review.
      if !verdict.isSettled, isTouchedLate(told) { return }
      guard verdict.isSettled else { throw Violation("its undo is left \(verdict.rawValue)") }
      try judgeSettled(row, of: one, told, in: world)
    }
  }

  /// Whether a restored record was deleted again by another edit, which was not undone: of another
  /// row or installation.
  ///
  /// The same row has nothing new if its phone saves it again.
  private func isDeletedAgain(
    _ id: String, beside row: PhoneRow, of one: ReturnedFile, in world: World
  ) -> Bool {
    guard world.watch.wasDeletedAgain(id) else { return false }
    let ids = [id, row.parent].compactMap(\.self)
    return returned.contains { other in
      other.rows.values.contains { rival in
        (other.installation != one.installation || rival.id != row.id)
          && ids.contains { deletes(rival, $0, in: world) }
          && verdicts(of: rival.id, in: [other.file]).last == .deleted
      }
    }
  }

  /// Whether another edit has a value that was not undone.
  private func isHeld(_ value: String, _ field: String, beside number: Int) -> Bool {
    var last: [Int: Report.Row] = [:]
    for row in orderedReports.flatMap(\.records) where row.number != number {
      last[row.number] = row
    }
    return last.values.contains { told in
      ![.undone, .superseded].contains(told.verdict)
        && returned.contains {
          $0.file == told.file && $0.rows[told.row]?.changed[field]?.value == value
        }
    }
  }
}
