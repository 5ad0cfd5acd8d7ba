import Ledger
import System

/// The columns of `records.csv`, in order.
enum RecordColumn: String, CaseIterable {
  case number, verdict, operation, user, store, soup, soupEntryId, sobject, objectLabel, recordId
  case name, otherId, localId, `return`, platform, generation, device, noBase, fields, outside, code
  case message, decided, decidedBy, decision, state, foundBy, since, link, editedAt

  func cell(
    of edit: ReportEdit, _ state: String, _ model: ReportModel, _ options: ReportMask
  ) -> String {
    let detail = edit.detail
    let text: String? =
      switch self {
      case .number: String(edit.number)
      case .verdict: edit.verdict.rawValue
      case .operation: edit.operation.rawValue
      case .user: edit.username
      case .store: edit.store.text
      case .soup: edit.soup
      case .soupEntryId: String(edit.soupEntryID)
      case .sobject: edit.sobject
      case .objectLabel: edit.sobject.map(model.names.label)
      case .recordId: edit.recordID
      case .name: edit.name(options)
      case .otherId: detail.otherID
      case .localId: edit.localID
      case .return: edit.source
      case .platform: edit.platform
      case .generation: String(edit.generation)
      case .device: String(edit.device)
      case .noBase: detail.hasNoBase ? "true" : nil
      case .fields: detail.fields.map(\.name).joined(separator: ";")
      case .outside: detail.outside.map(\.name).joined(separator: ";")
      case .code: detail.code
      case .message: options.words(of: edit)
      case .decided: detail.decision.map { Dates.utc($0.time) }
      case .decidedBy: detail.decision?.by
      case .decision: detail.decision.map { "\($0.kind.rawValue): \($0.fate.rawValue)" }
      case .state: state
      case .foundBy: edit.foundBy
      case .since: Dates.utc(edit.foundAt)
      case .link: model.names.address(of: edit.recordID)
      case .editedAt: edit.editedAt > 0 ? Dates.utc(edit.editedAt) : nil
      }
    return text ?? ""
  }
}
