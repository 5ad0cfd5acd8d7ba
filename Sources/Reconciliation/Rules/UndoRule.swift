import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// Decides how to undo an edit's change in the org; a pure function.
///
/// A change is undone only if the record is as attache's last write left it: with that date, and
/// with those values in the fields that were sent. The restored values are those that were read
/// before the write, never a guess.
///
/// If a write got no answer, its sender may have changed the record, by the app as well, before it
/// was read. Then it also must have had the values that were sent.
package enum UndoRule {
  /// The date fields of a record in the recycle bin, in order of preference.
  static let binDates = ["LastModifiedDate", "SystemModstamp"]

  /// The fields of a record in the recycle bin that tell when and by whom it was deleted.
  static let binFields = binDates + ["LastModifiedById", "MasterRecordId"]

  /// The user who deleted a record in the recycle bin; nil if the record does not tell.
  ///
  /// A deletion is a change as well. A record that the system changed after its last user may
  /// have been deleted by another one.
  static func deleter(inBin record: JSONObject) -> String? {
    guard let modified = record["LastModifiedDate"]?.string,
      record["SystemModstamp"]?.string.map({ !ServerDate.isBefore(modified, $0) }) ?? true
    else { return nil }
    return record["LastModifiedById"]?.string?.recordID18
  }

  /// The date of a record in the recycle bin; while it is the same, the record has not been deleted
  /// again.
  static func date(inBin record: JSONObject) -> String? {
    binDates.compactMap { record[$0]?.string }.first
  }

  /// A change to undo, with all that the decision depends on.
  package struct Facts: Sendable {
    var edit: OpenEdit
    /// What the edit changed (`LedgerDatabase.change`).
    var change: OperationRow
    /// The index of the sync up that sends it.
    var sync: Int
    /// The org's record in its current state.
    var server: ServerRecord
    /// The date after attache's last write to the record; nil if unknown.
    var leftDate: String?
    /// The org's address for browsers, without a trailing slash.
    var instance: String?
    /// For a deletion: the record in the recycle bin, with its references; nil if it is not visible
    /// there.
    package var bin: JSONObject?
    /// The records that the record refers to, if the device created it or it was deleted.
    var parents: Set<String> = []
    /// Whether the sender can restore records of the object.
    package var isUndeletable = true

    package init(
      _ edit: OpenEdit, change: OperationRow, sync: Int = 0, server: ServerRecord = .hidden,
      leftDate: String? = nil, instance: String? = nil
    ) {
      (self.edit, self.change, self.sync, self.server) = (edit, change, sync, server)
      (self.leftDate, self.instance) = (leftDate, instance)
    }

    /// Whether the record cannot be read.
    var isGone: Bool { server == .deleted || server == .hidden }

    var recordID: String { change.recordID ?? "" }

    /// The values before the change, as far as they are known.
    var former: JSONObject { change.seen?.object ?? [:] }

    /// The names of the fields whose former values are unknown.
    var unknown: [String] { change.payload.names.filter { former[$0] == nil }.sorted() }
  }

  /// The step to take.
  package enum Step: Sendable, Hashable {
    /// Nothing is sent.
    case settle(Settlement)
    /// This is sent, as long as the record has that date; the verdict is that of success.
    case send(SyncUpAction, JSONObject, Settlement, ifUnmodifiedSince: String)
  }

  /// The step that undoes a change.
  package static func step(_ facts: Facts) -> Step {
    if facts.change.purpose == .undo, let run = facts.change.run?.id {
      return settled(.undone, facts, "run \(run) undid it")
    }
    switch (facts.change.action, facts.server) {
    case (.delete, .alive): return settled(.undone, facts, "the record was restored in the org")
    case (.delete, .deleted): return undelete(facts)
    case (.delete, let server): return stays(facts, words(server))
    case (.create, .deleted):
      return settled(.undone, facts, "the record is already deleted in the org")
    case (_, .deleted):
      return settled(.notUndone, facts, "the record has been deleted in the org")
    case (_, .merged(let master)):
      return settled(.notUndone, facts, "the record has been merged into \(master)")
    case (_, .hidden): return settled(.notUndone, facts, "the sender cannot see the record")
    case (_, .unknown(let code, let message)):
      var detail = detail(facts, message)
      detail.code = code
      return .settle(Settlement(.notUndone, detail))
    case (_, .alive(let date, let fields)): return alive(facts, date, fields)
    }
  }

  // MARK: deletions

  /// Restores a deleted record if it is in the recycle bin as attache's deletion left it.
  private static func undelete(_ facts: Facts) -> Step {
    guard let bin = facts.bin, bin["IsDeleted"]?.bool == true else {
      return stays(facts, "the record is not visible in the recycle bin")
    }
    guard facts.isUndeletable else {
      return stays(facts, "the sender cannot restore records of this object")
    }
    let dates = binDates.compactMap { bin[$0]?.string }
    guard let date = date(inBin: bin),
      let last = dates.compactMap({ Dates.milliseconds(iso8601: $0) }).max(),
      let until = facts.change.serverDate.flatMap({ Dates.milliseconds(iso8601: $0) })
    else { return stays(facts, "it is unknown whether the record was deleted again") }
    let isOthers = deleter(inBin: bin).map { !facts.change.otherSenders.contains($0) } ?? false
    if isOthers || last > until {
      return moved(facts, bin, remedy("the record was deleted again", facts.instance))
    }
    return .send(
      .undelete, [:], Settlement(.undone, detail(facts, backWords)), ifUnmodifiedSince: date)
  }

  /// The message for a restored record.
  static let backWords = "the record was restored from the recycle bin"

  private static func words(_ server: ServerRecord) -> String {
    switch server {
    case .merged(let master): "the record has been merged into \(master)"
    case .unknown(_, let message): message
    case .alive, .deleted, .hidden: "it is not visible in the recycle bin, and may have been purged"
    }
  }

  /// A deletion that is not undone, with the reason.
  private static func stays(_ facts: Facts, _ reason: String) -> Step {
    var detail = detail(facts, remedy(reason, facts.instance))
    if case .unknown(let code, _) = facts.server { detail.code = code }
    return .settle(Settlement(.notUndone, detail))
  }

  /// Why a deletion is not undone, and what an operator can do.
  static func remedy(_ reason: String, _ instance: String?) -> String {
    reason + ": restore it from the recycle bin of the org"
      + (OrgAddress.webPages(of: instance).map { ", " + recycleBin(of: $0) } ?? "")
  }

  /// The address of the recycle bin of an org with web pages, for a browser.
  private static func recycleBin(of instance: String) -> String {
    instance + "/lightning/o/DeleteEvent/home"
  }

  /// Whether everything that an edit waits for also waits for it; `waits` has the edits that each
  /// edit waits for.
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
    let back = facts.former.filter { name, value in !FieldValue.isSame(value, fields[name]) }
    let unknown = facts.unknown
    let isBack = change.action == .update && unknown.isEmpty && back.isEmpty
    if isBack { return settled(.undone, facts, "the org already has the former values") }
    guard change.serverDate != nil, let left = change.left, let leftDate = facts.leftDate else {
      return moved(facts, fields, "another user wrote to the record before it could be read back")
    }
    let isTouched = left.contains { !FieldValue.isSame($0.value, fields[$0.name]) }
    guard let date, !isTouched, ServerDate.isSame(date, leftDate) else {
      return moved(facts, fields, "the record has been changed in the org")
    }
    if change.isDoubted, !hasOnlySent(change) {
      return moved(facts, fields, "no answer came back, and its sender may have changed the record")
    }
    if change.action == .create {
      return .send(.delete, [:], Settlement(.undone, detail(facts, nil)), ifUnmodifiedSince: date)
    }
    if back.isEmpty { return settled(.notUndone, facts, words(unknown)) }
    let isWhole = unknown.isEmpty
    return .send(
      .update, JSONObject(back.map { ($0.name, $0.value) }),
      Settlement(
        isWhole ? .undone : .partlyUndone, detail(facts, isWhole ? nil : words(unknown))),
      ifUnmodifiedSince: date)
  }

  /// Whether a record had, when it was read after the writes, only what was sent or what automation
  /// most likely makes of it.
  private static func hasOnlySent(_ change: OperationRow) -> Bool {
    change.payload.allSatisfy { name, value in
      change.left?[name].map { WriteEvidence.derives($0, from: value) } ?? true
    }
  }

  private static func words(_ unknown: [String]) -> String {
    "the former values of \(unknown.joined(separator: ", ")) are unknown, so the sent ones stay"
  }

  /// A record that was changed since, with its current values.
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

  /// The changed fields: the issued values, the sent values, and the org's values after the undo.
  private static func detail(_ facts: Facts, _ words: String?) -> OutcomeDetail {
    let change = facts.change
    var detail = OutcomeDetail.because(words, of: change.recordID)
    guard change.action == .update else { return detail }
    detail.fields = facts.former.compactMap { name, former in
      guard let sent = change.payload[name], !FieldValue.isSame(former, sent) else { return nil }
      let base: JSONValue? = facts.edit.base?.fields[name]
      return FieldDifference(name: name, base: base, device: sent, server: former)
    }.sorted { $0.name < $1.name }
    return detail
  }
}
