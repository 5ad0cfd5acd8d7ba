import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce

extension LedgerDatabase {
  /// The outcome of a decided edit that does not depend on the org's state; nil if it depends on
  /// it, or if nothing is decided.
  func decidedWithoutOrg(_ edit: OpenEdit, _ rules: [ReconciledSync]) throws -> Settlement? {
    switch edit.decision?.decision {
    case .discard?:
      var detail = OutcomeDetail()
      detail.recordID = edit.recordID
      if edit.decision?.former == .undo {
        detail.message = "it is no longer to be undone: its changes in the org stay"
        return Settlement(.notUndone, detail)
      }
      detail.fields = try editedFields(of: edit, rules).edited
      // The run that found a second record may have been killed before it reported it.
      detail.otherID = edit.decision?.otherID
      return Settlement(.discarded, detail)
    case .record(let id)? where try edit.creation?.recordID == id && isWhollySent(edit):
      return Settlement(.alreadyInOrg, .because("this record is used from now on", of: id))
    case .record?, .device?, .server?, .set?, .retry?, .undo?, nil: return nil
    }
  }

  /// Whether all of an edit's values are in its record; if not, the device's later changes still
  /// have to be sent.
  private func isWhollySent(_ edit: OpenEdit) throws -> Bool {
    switch edit.operation {
    case .synced: true
    case .create: try doneRecordID(of: edit.id) != nil
    case .update, .delete, .dropped: false
    }
  }

  /// The outcome of a decided edit whose user cannot log in: what needs no write needs no login.
  ///
  /// A decision for the org's values is accepted as it is, although they cannot be compared with
  /// those shown. Nil if something has to be sent, or nothing is decided.
  func decidedWithoutLogin(_ edit: OpenEdit, _ rules: [ReconciledSync]) throws -> Settlement? {
    guard edit.decision?.decision == .server else { return try decidedWithoutOrg(edit, rules) }
    let words = "the org's values could not be checked because the user cannot log in; they stay"
    let fields = try editedFields(of: edit, rules).edited
    return Settlement(.discarded, .because(words, of: edit.recordID, fields: fields))
  }

  /// Whether an operator approved a deletion over another edit of its record, or below it.
  ///
  /// The deletion would destroy the other edit's change. So its approval is valid for the edits
  /// that it was reported with, and conflicts with one that arrived since.
  func isApproved(_ deletion: OpenEdit, over other: Int64) throws -> Bool {
    guard deletion.syncOperation == .delete, deletion.decision?.isApproval == true else {
      return false
    }
    return try connection.integer(
      """
      SELECT 1 FROM outcome x, json_each(x.detail, '$.otherEdits') o
      WHERE x.edit_id = \(deletion.id) AND x.verdict = \(Verdict.deviceConflict) AND o.value = \(other)
      """) != nil
  }
}

// Decisions, as far as they do not depend on the org.
extension SnapshotPlanner {
  /// Whether the decision about an edit determines which edit of a device conflict is sent.
  ///
  /// The approval of a deletion does so only over some edits (`isApproved`).
  func isAboveDeviceConflict(_ edit: OpenEdit) -> Bool {
    guard let pending = edit.decision else { return false }
    return pending.decision == .server || (pending.isApproval && edit.syncOperation != .delete)
  }
}

extension OutcomeDetail {
  /// Adds the org's values to the fields.
  mutating func showServer(_ record: JSONObject) {
    for index in fields.indices where fields[index].server == nil {
      guard let value = record[fields[index].name] else { continue }
      fields[index].server = value
      let field = fields[index]
      fields[index].isConflicting =
        !FieldValue.isSame(field.device, value)
        && (field.base.map { !FieldValue.isSame($0, value) } ?? true)
    }
  }
}
