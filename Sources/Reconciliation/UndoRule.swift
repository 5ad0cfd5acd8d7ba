import JSON
import Ledger
import MobileSync
import Salesforce

/// Decides how what an edit has changed in the org is undone: a pure function.
///
/// Only where the record stands as our last write has left it: with that date, and with those values in the
/// fields that were sent. What is put back is what was read there before the write, never a guess.
enum UndoRule {
  /// What the decision looks at.
  struct Facts: Sendable {
    /// What was changed.
    var change: EditChange
    /// The org's record as it is now.
    var server: ServerRecord
    /// The date that our last write to the record has left; nil where nobody knows it.
    var leftDate: String?
    /// What the device was given.
    var base: MergeBase?
    /// Where people open the org, without a slash at its end.
    var instance: String?
  }

  /// What is done.
  enum Step: Sendable, Hashable {
    /// Nothing is sent.
    case settle(Settlement)
    /// This is sent, while the record bears that date; the verdict is that of success.
    case send(SyncUpAction, JSONObject, Settlement, ifUnmodifiedSince: String)
  }

  /// How a change is undone.
  static func step(_ facts: Facts) -> Step {
    if let run = facts.change.undoneBy {
      return settled(.undone, facts, "run \(run) has undone it")
    }
    switch (facts.change.kind, facts.server) {
    case (.deleted, .alive): return settled(.undone, facts, "the record is back in the org")
    case (.deleted, _): return settled(.notUndone, facts, recycleBin(facts.instance))
    case (.created, .deleted):
      return settled(.undone, facts, "the record is deleted in the org already")
    case (.changed, .deleted):
      return settled(.notUndone, facts, "the record was deleted in the org since")
    case (_, .merged(let master)):
      return settled(.notUndone, facts, "the record was merged into \(master) since")
    case (_, .hidden): return settled(.notUndone, facts, "the sender does not see the record")
    case (_, .unknown(let code, let message)):
      var detail = detail(facts, message)
      detail.code = code
      return .settle(Settlement(.notUndone, detail))
    case (_, .alive(let date, let fields)): return alive(facts, date, fields)
    }
  }

  /// What a person does about a deletion: a REST client cannot take a record out of the recycle bin.
  private static func recycleBin(_ instance: String?) -> String {
    "an org does not let a program like this one bring a deleted record back: restore it from the "
      + "recycle bin of the org" + (instance.map { ", \($0)/lightning/o/DeleteEvent/home" } ?? "")
  }

  /// Says whether all that an edit waits for waits for it in turn; `waits` says of each edit for which others
  /// it does.
  static func isCircle(_ edit: Int64, _ waits: [Int64: Set<Int64>]) -> Bool {
    let members = reached(from: edit, waits)
    return members.contains(edit)
      && members.allSatisfy { reached(from: $0, waits).contains(edit) }
  }

  private static func reached(from edit: Int64, _ waits: [Int64: Set<Int64>]) -> Set<Int64> {
    var reached: Set<Int64> = []
    var ahead = waits[edit] ?? []
    while let next = ahead.popFirst() {
      if reached.insert(next).inserted { ahead.formUnion(waits[next] ?? []) }
    }
    return reached
  }

  private static func alive(_ facts: Facts, _ date: String?, _ fields: JSONObject) -> Step {
    let change = facts.change
    let back = change.former.filter { name, value in !FieldValue.isSame(value, fields[name]) }
    let isBack = change.kind == .changed && change.unknown.isEmpty && back.isEmpty
    if isBack { return settled(.undone, facts, "the org holds the former values already") }
    guard change.isLeftKnown, let left = facts.leftDate else {
      return moved(facts, fields, "somebody else wrote to the record before it could be read back")
    }
    let isTouched = change.left.contains { !FieldValue.isSame($0.value, fields[$0.name]) }
    guard let date, !isTouched, ServerDate.isSame(date, left) else {
      return moved(facts, fields, "the record was changed in the org since")
    }
    if change.kind == .created {
      return .send(.delete, [:], Settlement(.undone, detail(facts, nil)), ifUnmodifiedSince: date)
    }
    if back.isEmpty { return settled(.notUndone, facts, unknown(change)) }
    let isWhole = change.unknown.isEmpty
    return .send(
      .update, JSONObject(back.map { ($0.name, $0.value) }),
      Settlement(
        isWhole ? .undone : .partlyUndone, detail(facts, isWhole ? nil : unknown(change))),
      ifUnmodifiedSince: date)
  }

  private static func unknown(_ change: EditChange) -> String {
    let names = change.unknown.joined(separator: ", ")
    return "what \(names) held before is not known, so it stays as it was sent"
  }

  /// A record that does not stand as it was left, with what it holds now.
  private static func moved(_ facts: Facts, _ fields: JSONObject, _ words: String) -> Step {
    var detail = detail(facts, words)
    for index in detail.fields.indices {
      detail.fields[index].server = fields[detail.fields[index].name]
    }
    if let by = fields["LastModifiedById"]?.string, let at = fields["LastModifiedDate"]?.string {
      detail.serverChange = ServerChange(by: by.recordID18 ?? by, at: at)
    }
    return .settle(Settlement(.notUndone, detail))
  }

  private static func settled(_ verdict: Verdict, _ facts: Facts, _ words: String) -> Step {
    .settle(Settlement(verdict, detail(facts, words)))
  }

  /// The fields that were changed: what the device was given, what was sent, and what the org holds once
  /// it is undone.
  private static func detail(_ facts: Facts, _ words: String?) -> OutcomeDetail {
    let change = facts.change
    var detail = OutcomeDetail()
    detail.recordID = change.recordID
    detail.message = words
    guard change.kind == .changed else { return detail }
    detail.fields = change.former.compactMap { name, former in
      guard let sent = change.sent[name], !FieldValue.isSame(former, sent) else { return nil }
      let base: JSONValue? = facts.base?.fields[name]
      return FieldDifference(name: name, base: base, device: sent, server: former)
    }.sorted { $0.name < $1.name }
    return detail
  }
}
