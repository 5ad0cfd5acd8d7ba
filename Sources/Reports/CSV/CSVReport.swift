import CSV
import JSON
import Ledger
import System

/// Tables for spreadsheets.
///
/// `records.csv` has a row for each edit. `conflicts.csv` has a row for each field of the edits
/// that need a decision; with its column `decision` filled in, it is the input of `attache decide
/// --file`. Edits with new verdicts come first, then those that are still open. The column `state`
/// tells them apart, so the rows with `new` add up to the verdicts. `success.csv` and `error.csv`
/// have Data Loader's format (`CSVReport+Loader`).
package enum CSVReport: ReportFormat {
  package static let name = "csv"

  package static let files = ["records.csv", "conflicts.csv", "success.csv", "error.csv"]

  /// The writer of every table.
  ///
  /// Spreadsheets read these line ends and do not treat any cell as a formula.
  static var writer: CSVWriter { CSVWriter(lineEnding: .crlf, guardsFormulas: true) }

  package static func write(
    _ file: String, _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws {
    switch file {
    case "records.csv":
      let columns = RecordColumn.allCases
      try table(columns.map(\.rawValue), model, where: { _ in true }, sink) { edit, state in
        [columns.map { $0.cell(of: edit, state, model, options) }]
      }
    case "conflicts.csv":
      let columns = ConflictColumn.allCases
      // A row for the decision, even if there is no field to compare.
      let none = FieldDifference(name: "", base: nil, device: nil, server: nil)
      try table(columns.map(\.rawValue), model, where: { !$0.verdict.isSettled }, sink) {
        edit, state in
        (edit.detail.fields.isEmpty ? [none] : edit.detail.fields).map { field in
          columns.map { $0.cell(of: edit, field, state, model, options) }
        }
      }
    default: try loaded(model, options, isSuccess: file == "success.csv", sink)
    }
  }

  /// Writes the rows of cells of each selected edit, those with new verdicts first.
  private static func table(
    _ header: [String], _ model: ReportModel, where isWanted: (ReportEdits.Row) -> Bool,
    _ sink: ReportSink, _ rows: (_ edit: ReportEdit, _ state: String) -> [[String]]
  ) throws {
    var writer = Self.writer
    writer.row(header)
    let news = model.isRehearsal ? "rehearsal" : "new"
    for (edits, state) in [(model.edits, news), (model.stillOpen, "open")] {
      try edits.forEach(where: isWanted) { edit in
        for row in rows(edit, state) {
          writer.row(row.map(VisibleText.cell))
          try pass(&writer.bytes, to: sink)
        }
      }
    }
    try sink(writer.bytes)
  }
}
