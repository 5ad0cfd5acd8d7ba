import Ledger

/// The columns of `conflicts.csv`, in order; the file is also read as a file of decisions.
enum ConflictColumn: String, CaseIterable {
  case number, verdict, user, soup, sobject, objectLabel, recordId, name, field, conflicting, base
  case device, server, state, foundBy, since, decision, value

  /// The column's cell for a field of an edit; the operator fills in the last two.
  func cell(
    of edit: ReportEdit, _ field: FieldDifference, _ state: String, _ model: ReportModel,
    _ options: ReportMask
  ) -> String {
    switch self {
    case .field: field.name
    case .conflicting: field.isConflicting ? "true" : ""
    case .base: options.cell(field.base, of: field.name)
    case .device: options.cell(field.device, of: field.name)
    case .server: options.cell(field.server, of: field.name)
    case .decision, .value: ""
    case .number, .verdict, .user, .soup, .sobject, .objectLabel, .recordId, .name, .state,
      .foundBy, .since:
      RecordColumn(rawValue: rawValue)?.cell(of: edit, state, model, options) ?? ""
    }
  }
}
