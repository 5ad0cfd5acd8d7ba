import CSV
import JSON
import Ledger
import System

extension CSVReport {
  /// The rows of a load as Data Loader writes them: the record ID, the sent columns, and the
  /// outcome in `STATUS` (success file) or `ERROR` (error file).
  ///
  /// A run sends several objects, so the columns include the edit's number, the object and the
  /// user, and the fields of all objects; a field that an edit does not send has an empty cell.
  /// Edits that needed no request are in neither file.
  static func loaded(
    _ model: ReportModel, _ options: ReportMask, isSuccess: Bool, _ sink: ReportSink
  ) throws {
    func forEach(_ body: (ReportEdit) throws -> Void) throws {
      try model.edits.forEach(
        where: {
          isSuccess
            ? $0.verdict.isWritten || $0.verdict.isUndone
            : !$0.verdict.isSettled || $0.verdict == .notUndone || $0.verdict == .partlyUndone
        }, withSent: true
      ) { edit in
        // An undo that was not needed sent nothing.
        if !isSuccess || edit.verdict.isWritten || edit.undoing != nil { try body(edit) }
      }
    }
    var names: Set<String> = []
    try forEach { edit in names.formUnion(columns(edit).map(\.name)) }
    let fields = names.sorted()
    let prefix = model.isRehearsal ? "Rehearsal: " : ""
    var writer = Self.writer
    writer.row(["ID", "EDIT", "OBJECT", "USER"] + fields + [isSuccess ? "STATUS" : "ERROR"])
    try forEach { edit in
      let values = Dictionary(
        columns(edit).map { ($0.name, options.cell($0.value, of: $0.name)) },
        uniquingKeysWith: { first, _ in first })
      let cells =
        [edit.recordID ?? "", String(edit.number), edit.sobject ?? "", edit.username ?? ""]
        + fields.map { values[$0] ?? "" } + [
          prefix + (isSuccess ? status(edit) : error(edit, options))
        ]
      writer.row(cells.map(VisibleText.cell))
      try pass(&writer.bytes, to: sink)
    }
    try sink(writer.bytes)
  }

  /// The fields of an edit that were sent; if none were, those that would have been sent, as far as
  /// the verdict has them.
  private static func columns(_ edit: ReportEdit) -> [(name: String, value: JSONValue?)] {
    guard let sent = edit.sent else {
      return edit.detail.fields.map { ($0.name, edit.verdict.isUndone ? $0.server : $0.sent) }
    }
    return sent.map { ($0.name, $0.value) }
  }

  /// The status in Data Loader's terms.
  private static func status(_ edit: ReportEdit) -> String {
    switch edit.verdict {
    case .created: "Item Created"
    case .deleted: "Item Deleted"
    case .undone where edit.undoing == .delete: "Item Deleted"
    case .undone where edit.undoing == .undelete: "Item Undeleted"
    default: "Item Updated"
    }
  }

  /// The org's error code and message; attache's message if no request was made.
  private static func error(_ edit: ReportEdit, _ options: ReportMask) -> String {
    let words = [edit.detail.code, options.words(of: edit)].compactMap { $0 }
    return words.isEmpty
      ? "\(edit.verdict.rawValue): \(edit.verdict.meaning)" : words.joined(separator: ": ")
  }
}
