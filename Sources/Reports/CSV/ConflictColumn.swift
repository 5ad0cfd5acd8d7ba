import JSON
import Ledger
import System

/// The columns of `conflicts.csv`, in order; the file is also read as a file of decisions.
enum ConflictColumn: String, CaseIterable {
  case number, verdict, user, soup, sobject, objectLabel, recordId, name, field, conflicting, base
  case device, server, state, foundBy, since, decision, value

  /// The column's cell for a field of an edit; the operator fills in the last two.
  func cell(
    of edit: ReportEdit, _ field: FieldDifference, _ state: String, _ model: ReportModel,
    _ options: ReportMask
  ) -> String {
    func shown(_ value: JSONValue?) -> String {
      options.cell(value, of: field.name)
    }
    let text: String? =
      switch self {
      case .number: String(edit.number)
      case .verdict: edit.verdict.rawValue
      case .user: edit.username
      case .soup: edit.soup
      case .sobject: edit.sobject
      case .objectLabel: edit.sobject.map(model.names.label)
      case .recordId: edit.recordID
      case .name: edit.name(options)
      case .field: field.name
      case .conflicting: field.isConflicting ? "true" : nil
      case .base: shown(field.base)
      case .device: shown(field.device)
      case .server: shown(field.server)
      case .state: state
      case .foundBy: edit.foundBy
      case .since: Dates.utc(edit.foundAt)
      case .decision, .value: nil
      }
    return text ?? ""
  }
}
