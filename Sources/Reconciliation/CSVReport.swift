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
    var writer = CSVWriter(lineEnding: .crlf, guardsFormulas: true)
    writer.row([
      "number", "verdict", "operation", "user", "store", "soup", "soupEntryId", "sobject",
      "objectLabel", "recordId", "name", "otherId", "localId", "return", "platform", "generation",
      "device", "noBase",
      "fields", "outside", "code", "message", "decided", "decidedBy", "decision", "state",
      "foundBy", "since", "link", "editedAt",
    ])
    try forEach(model) { edit, state in
      let detail = edit.detail
      let cells: [String] =
        place(edit, model, options) + [
          detail.fields.map(\.name).joined(separator: ";"),
          detail.outside.map(\.name).joined(separator: ";"), detail.code ?? "",
          options.words(of: edit) ?? "",
        ] + decision(detail.decision) + [state, edit.foundBy, Dates.utc(edit.foundAt)]
        + [
          model.address(of: edit.recordID) ?? "",
          edit.editedAt > 0 ? Dates.utc(edit.editedAt) : "",
        ]
      writer.row(cells.map(VisibleText.cell))
      try pass(&writer.bytes, to: sink)
    }
    try sink(writer.bytes)
  }

  private static func place(
    _ edit: ReportEdit, _ model: ReportModel, _ options: ReportMask
  ) -> [String] {
    [
      String(edit.number), edit.verdict.rawValue, edit.operation.rawValue, edit.username ?? "",
      edit.store.text, edit.soup, String(edit.soupEntryID), edit.sobject ?? "",
      edit.sobject.map(model.label) ?? "", edit.recordID ?? "", edit.name(options) ?? "",
      edit.detail.otherID ?? "", edit.localID ?? "", edit.source,
      edit.platform, String(edit.generation), String(edit.device),
      edit.detail.hasNoBase ? "true" : "",
    ]
  }

  private static func decision(_ note: DecisionNote?) -> [String] {
    guard let note else { return ["", "", ""] }
    return [Dates.utc(note.time), note.by, "\(note.kind.rawValue): \(note.fate.rawValue)"]
  }

  private static func conflicts(
    _ model: ReportModel, _ options: ReportMask, _ sink: ReportSink
  ) throws {
    var writer = CSVWriter(lineEnding: .crlf, guardsFormulas: true)
    writer.row(ConflictColumn.allCases.map(\.rawValue))
    try forEach(model, where: { !$0.verdict.isSettled }) { edit, state in
      // A row to decide in, also where there is no field to compare.
      let none = FieldDifference(name: "", base: nil, device: nil, server: nil)
      for field in edit.detail.fields.isEmpty ? [none] : edit.detail.fields {
        func text(_ value: JSONValue?) -> String {
          options.shown(value, of: field.name).text(empty: "", unknown: "")
        }
        let cells = [
          String(edit.number), edit.verdict.rawValue, edit.username ?? "", edit.soup,
          edit.sobject ?? "", edit.sobject.map(model.label) ?? "", edit.recordID ?? "",
          edit.name(options) ?? "", field.name,
          field.isConflicting ? "true" : "", text(field.base), text(field.device),
          text(field.server), state, edit.foundBy, Dates.utc(edit.foundAt), "", "",
        ]
        writer.row(cells.map(VisibleText.cell))
        try pass(&writer.bytes, to: sink)
      }
    }
    try sink(writer.bytes)
  }
}

/// The columns of `conflicts.csv` in their order; it comes back as a file of decisions.
enum ConflictColumn: String, CaseIterable {
  case number, verdict, user, soup, sobject, objectLabel, recordId, name, field, conflicting, base
  case device, server, state, foundBy, since, decision, value
}
