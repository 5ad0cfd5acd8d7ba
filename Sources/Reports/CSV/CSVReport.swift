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

  /// Writes one of the tables.
  package static func write(
    _ file: String, _ model: ReportModel, _ options: ReportMask, to sink: ReportSink
  ) throws {
    switch file {
    case "records.csv": try records(model, options, sink)
    case "conflicts.csv": try conflicts(model, options, sink)
    default: try loaded(model, options, isSuccess: file == "success.csv", sink)
    }
  }

  /// Passes the selected edits and their states to `body`, those with new verdicts first.
  private static func forEach(
    _ model: ReportModel, where isWanted: (ReportEdits.Row) -> Bool = { _ in true },
    _ body: (_ edit: ReportEdit, _ state: String) throws -> Void
  ) throws {
    let state = model.isRehearsal ? "rehearsal" : "new"
    try model.edits.forEach(where: isWanted) { try body($0, state) }
    try model.stillOpen.forEach(where: isWanted) { try body($0, "open") }
  }

  private static func records(
    _ model: ReportModel, _ options: ReportMask, _ sink: ReportSink
  ) throws {
    var writer = Self.writer
    writer.row(RecordColumn.allCases.map(\.rawValue))
    try forEach(model) { edit, state in
      let cells = RecordColumn.allCases.map { $0.cell(of: edit, state, model, options) }
      writer.row(cells.map(VisibleText.cell))
      try pass(&writer.bytes, to: sink)
    }
    try sink(writer.bytes)
  }

  private static func conflicts(
    _ model: ReportModel, _ options: ReportMask, _ sink: ReportSink
  ) throws {
    var writer = Self.writer
    writer.row(ConflictColumn.allCases.map(\.rawValue))
    try forEach(model, where: { !$0.verdict.isSettled }) { edit, state in
      // A row for the decision, even if there is no field to compare.
      let none = FieldDifference(name: "", base: nil, device: nil, server: nil)
      for field in edit.detail.fields.isEmpty ? [none] : edit.detail.fields {
        let cells = ConflictColumn.allCases.map {
          $0.cell(of: edit, field, state, model, options)
        }
        writer.row(cells.map(VisibleText.cell))
        try pass(&writer.bytes, to: sink)
      }
    }
    try sink(writer.bytes)
  }
}
