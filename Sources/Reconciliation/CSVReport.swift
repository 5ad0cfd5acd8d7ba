import CSV
import JSON
import Ledger
import System

/// `records.csv`, a row for each edit, and `conflicts.csv`, a row for each field of those that a
/// person has to compare and decide about: with its column `decision` filled it is what
/// `attache decide --file` takes.
///
/// The edits whose verdicts are news come first, then those that are still open; `state` tells them
/// apart, so a sum over the rows that are `new` is the sum of the verdicts.
package enum CSVReport: ReportFormat {
  /// `csv`.
  package static let name = "csv"

  /// Both files.
  package static func files(
    _ model: ReportModel, _ options: ReportMask
  ) -> [(name: String, bytes: [UInt8])] {
    [("records.csv", records(model, options)), ("conflicts.csv", conflicts(model, options))]
  }

  private static func rows(_ model: ReportModel) -> [(edit: ReportEdit, state: String)] {
    model.edits.map { ($0, "new") } + model.stillOpen.map { ($0, "open") }
  }

  private static func records(_ model: ReportModel, _ options: ReportMask) -> [UInt8] {
    var writer = CSVWriter(lineEnding: .crlf, guardsFormulas: true)
    writer.row([
      "number", "verdict", "operation", "user", "store", "soup", "soupEntryId", "sobject",
      "recordId", "otherId", "localId", "return", "platform", "generation", "device", "noBase",
      "fields", "outside", "code", "message", "decided", "decidedBy", "decision", "state",
      "foundBy", "since",
    ])
    for (edit, state) in rows(model) {
      let detail = edit.detail
      let cells: [String] =
        place(edit) + [
          detail.fields.map(\.name).joined(separator: ";"),
          detail.outside.map(\.name).joined(separator: ";"), detail.code ?? "",
          options.words(of: edit) ?? "",
        ] + decision(detail.decision) + [state, edit.foundBy, Dates.utc(edit.foundAt)]
      writer.row(cells.map(VisibleText.cell))
    }
    return writer.bytes
  }

  private static func place(_ edit: ReportEdit) -> [String] {
    [
      String(edit.number), edit.verdict.rawValue, edit.operation.rawValue, edit.username ?? "",
      edit.store.text, edit.soup, String(edit.soupEntryID), edit.sobject ?? "",
      edit.recordID ?? "", edit.detail.otherID ?? "", edit.localID ?? "", edit.source,
      edit.platform, String(edit.generation), String(edit.device),
      edit.detail.hasNoBase ? "true" : "",
    ]
  }

  private static func decision(_ note: DecisionNote?) -> [String] {
    guard let note else { return ["", "", ""] }
    return [Dates.utc(note.time), note.by, "\(note.kind.rawValue): \(note.fate.rawValue)"]
  }

  private static func conflicts(_ model: ReportModel, _ options: ReportMask) -> [UInt8] {
    var writer = CSVWriter(lineEnding: .crlf, guardsFormulas: true)
    writer.row([
      "number", "verdict", "user", "soup", "sobject", "recordId", "field", "conflicting", "base",
      "device", "server", "state", "foundBy", "since", "decision", "value",
    ])
    for (edit, state) in rows(model) where !edit.verdict.isSettled {
      // A row to decide in, also where there is no field to compare.
      let none = FieldDifference(name: "", base: nil, device: nil, server: nil)
      for field in edit.detail.fields.isEmpty ? [none] : edit.detail.fields {
        func text(_ value: JSONValue?) -> String {
          options.shown(value, of: field.name).text(empty: "", unknown: "")
        }
        let cells = [
          String(edit.number), edit.verdict.rawValue, edit.username ?? "", edit.soup,
          edit.sobject ?? "", edit.recordID ?? "", field.name,
          field.isConflicting ? "true" : "", text(field.base), text(field.device),
          text(field.server), state, edit.foundBy, Dates.utc(edit.foundAt), "", "",
        ]
        writer.row(cells.map(VisibleText.cell))
      }
    }
    return writer.bytes
  }
}
