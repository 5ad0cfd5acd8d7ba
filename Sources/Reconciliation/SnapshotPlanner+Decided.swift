import JSON
import Ledger
import Salesforce

extension LedgerDatabase {
  /// What becomes of a decided edit whatever the org holds; nil where that matters, or nothing is decided.
  func decidedWithoutOrg(_ edit: OpenEdit, _ rules: [ReconciledSync]) throws -> Settlement? {
    switch edit.decision?.decision {
    case .discard?:
      var detail = OutcomeDetail()
      detail.recordID = edit.recordID
      if try hasGivenUpUndoing(edit.id) {
        detail.message = "it is not undone any more: what it sent stands in the org"
        return Settlement(.notUndone, detail)
      }
      if edit.finding == nil { detail.fields = try editedFields(of: edit, rules).edited }
      return Settlement(.discarded, detail)
    case .record(let id)? where try edit.creation?.recordID == id && isWhollySent(edit):
      var detail = OutcomeDetail.because("it is the record that counts from now on")
      detail.recordID = id
      return Settlement(.alreadyInOrg, detail)
    case .record?, .device?, .server?, .set?, .retry?, .undo?, nil: return nil
    }
  }

  /// Says whether all that an edit holds is in its record: what its device has entered since is still to be
  /// sent.
  private func isWhollySent(_ edit: OpenEdit) throws -> Bool {
    switch edit.operation {
    case .synced: true
    case .create: try doneRecordID(of: edit.id) != nil
    case .update, .delete, .dropped: false
    }
  }

  /// What becomes of a decided edit whose user cannot act: what ends without a write needs nobody's login.
  ///
  /// That the org's values stand is taken as it was said, though nobody can compare them with those that were
  /// shown; nil for what has to be sent, or is not decided.
  func decidedWithoutLogin(_ edit: OpenEdit, _ rules: [ReconciledSync]) throws -> Settlement? {
    guard edit.decision?.decision == .server else { return try decidedWithoutOrg(edit, rules) }
    var detail = OutcomeDetail.because(
      "the org was not asked for its values once more, for nobody can act as the user; they stand")
    detail.recordID = edit.recordID
    if edit.finding == nil { detail.fields = try editedFields(of: edit, rules).edited }
    return Settlement(.discarded, detail)
  }
}

// What a person has decided, as far as the org is not asked.
extension SnapshotPlanner {
  /// Says whether a decision says which edit of a clash stands.
  func isAboveDeviceConflict(_ pending: PendingDecision) -> Bool {
    pending.isApproval || pending.decision == .server
  }
}

extension OutcomeDetail {
  /// Puts what the org holds beside the fields.
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
