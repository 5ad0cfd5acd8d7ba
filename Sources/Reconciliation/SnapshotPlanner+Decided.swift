import JSON
import Ledger
import Salesforce

// What a person has decided, as far as the org is not asked.
extension SnapshotPlanner {
  /// What becomes of a decided edit whatever the org holds; nil where that matters, or nothing is decided.
  func decidedWithoutOrg(_ edit: OpenEdit) throws -> Settlement? {
    switch edit.decision?.decision {
    case .drop?:
      var detail = OutcomeDetail()
      detail.recordID = edit.recordID
      if try state.hasGivenUpUndoing(edit.id) {
        detail.message = "it is not undone any more: what it sent stands in the org"
        return Settlement(.notUndone, detail)
      }
      if edit.finding == nil { detail.fields = try editedFields(of: edit).edited }
      return Settlement(.dropped, detail)
    case .record(let id)?
    where [.create, .synced].contains(edit.operation) && edit.creation?.recordID == id:
      var detail = OutcomeDetail.because("it is the record that counts from now on")
      detail.recordID = id
      return Settlement(.alreadyThere, detail)
    case .record?, .device?, .server?, .set?, .again?, .undo?, nil: return nil
    }
  }

  /// Says whether a decision says which edit of a clash stands.
  func isAboveClash(_ pending: PendingDecision) -> Bool {
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
