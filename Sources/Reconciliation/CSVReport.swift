import CSV
import JSON
import Ledger
import System

/// Tables for a spreadsheet.
///
/// `records.csv` has a row for each edit, `conflicts.csv` a row for each field of those that a person
/// has to compare and decide about: with its column `decision` filled it is what
/// `attache decide --file` takes. The edits whose verdicts are news come first, then those that are
/// still open; `state` tells them apart, so a sum over the rows that are `new` is the sum of the
/// verdicts. `success.csv` and `error.csv` are what Data Loader would have left (`CSVReport+Loader`).
package enum CSVReport: ReportFormat {
  /// `csv`.
  package static let name = "csv"

  /// The tables.
  package static let files = ["records.csv", "conflicts.csv", "success.csv", "error.csv"]

  /// What every table is written with: spreadsheets read these line ends, and take no cell for a formula.
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

  /// Hands over the edits that are wanted with their states: the news first.
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
      // A row to decide in, also where there is no field to compare.
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
