import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// Decides how what an edit has changed in the org is undone: a pure function.
///
/// Only where the record stands as our last write has left it: with that date, and with those values in the
/// fields that were sent. What is put back is what was read there before the write, never a guess.
package enum UndoRule {
  /// The fields that date a record of the recycle bin, the first that has a date before the other.
  static let binDates = ["LastModifiedDate", "SystemModstamp"]

  /// What a record of the recycle bin is dated: nobody has deleted it once more while that stands.
  static func date(inBin record: JSONObject) -> String? {
    binDates.compactMap { record[$0]?.string }.first
  }

  /// What the decision looks at.
  package struct Facts: Sendable {
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
    /// Of a deletion: the record as the recycle bin has it; nil where nobody sees it there.
    package var bin: JSONObject?
    /// Of a deletion: by whom and by when it was ours.
    package var deletion: EditDeletion?
    /// Whether the sender may bring records of the object back.
    package var isUndeletable = true

    package init(
      change: EditChange, server: ServerRecord, leftDate: String? = nil, base: MergeBase? = nil,
      instance: String? = nil, bin: JSONObject? = nil, deletion: EditDeletion? = nil,
      isUndeletable: Bool = true
    ) {
      self.change = change
      self.server = server
      self.leftDate = leftDate
      self.base = base
      self.instance = instance
      self.bin = bin
      self.deletion = deletion
      self.isUndeletable = isUndeletable
    }
  }

  /// What is done.
  package enum Step: Sendable, Hashable {
    /// Nothing is sent.
    case settle(Settlement)
    /// This is sent, while the record bears that date; the verdict is that of success.
    case send(SyncUpAction, JSONObject, Settlement, ifUnmodifiedSince: String)
  }

  /// How a change is undone.
  package static func step(_ facts: Facts) -> Step {
    if let run = facts.change.undoneBy {
      return settled(.undone, facts, "run \(run) has undone it")
    }
    switch (facts.change.kind, facts.server) {
    case (.deleted, .alive): return settled(.undone, facts, "the record is back in the org")
    case (.deleted, .deleted): return undelete(facts)
    case (.deleted, let server): return stays(facts, words(server))
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

  // MARK: deletions

  /// A deleted record comes back where it lies in the recycle bin as our deletion has left it.
  private static func undelete(_ facts: Facts) -> Step {
    guard let bin = facts.bin, bin["IsDeleted"]?.bool == true else {
      return stays(facts, "nobody sees it in the recycle bin")
    }
    guard facts.isUndeletable else {
      return stays(facts, "the sender may bring no record of this object back")
    }
    let dates = binDates.compactMap { bin[$0]?.string }
    guard let date = date(inBin: bin),
      let last = dates.compactMap({ Dates.milliseconds(iso8601: $0) }).max(),
      let deletion = facts.deletion
    else { return stays(facts, "nobody knows whether it was deleted once more since") }
    let by = bin["LastModifiedById"]?.string?.recordID18
    let isOthers = by.map { by in deletion.senders.map { !$0.contains(by) } ?? false } ?? false
    if isOthers || last > deletion.until {
      return moved(facts, bin, remedy("it was deleted once more since", facts.instance))
    }
    return .send(
      .undelete, [:], Settlement(.undone, detail(facts, backWords)), ifUnmodifiedSince: date)
  }

  /// What is told of a record that was brought back.
  static let backWords = "the record is back from the recycle bin"

  private static func words(_ server: ServerRecord) -> String {
    switch server {
    case .merged(let master): "the record was merged into \(master) since"
    case .unknown(_, let message): message
    case .alive, .deleted, .hidden: "nobody sees it in the recycle bin, it may be purged"
    }
  }

  /// A deletion that stands, with the reason.
  private static func stays(_ facts: Facts, _ reason: String) -> Step {
    var detail = detail(facts, remedy(reason, facts.instance))
    if case .unknown(let code, _) = facts.server { detail.code = code }
    return .settle(Settlement(.notUndone, detail))
  }

  /// Why a deletion stands, and what a person does about it.
  static func remedy(_ reason: String, _ instance: String?) -> String {
    reason + ": restore it from the recycle bin of the org"
      + (instance.map { ", " + OrgNames.recycleBin(of: $0) } ?? "")
  }

  /// Says whether all that an edit waits for waits for it in turn; `waits` says of each edit for which others
  /// it does.
  package static func isCircle(_ edit: Int64, _ waits: [Int64: Set<Int64>]) -> Bool {
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
