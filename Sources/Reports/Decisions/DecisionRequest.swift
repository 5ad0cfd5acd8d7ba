import JSON
import Ledger
import Salesforce
import System

/// A requested decision about an edit, before it is compared with the ledger.
package struct DecisionRequest: Sendable, Hashable {
  /// The requested value of one field.
  package enum FieldChoice: Sendable, Hashable {
    case device
    case server
    /// A value as typed: a number if the field has numbers, null if it is empty.
    case text(String)
    case value(JSONValue)
  }

  /// The requested decision.
  package enum Choice: Sendable, Hashable {
    case whole(Decision)
    /// Decisions by field; `rest` applies to the other fields that the device edited.
    case fields([String: FieldChoice], rest: Decision.Side?)
  }

  /// A value of the org as it was shown.
  package enum ShownValue: Sendable, Hashable {
    case value(JSONValue)
    /// A cell of `conflicts.csv`.
    case cell(String)
  }

  /// What the user interface showed of an edit, if that is newer than the latest report.
  package struct Seen: Sendable, Hashable {
    package var verdict: Verdict
    /// The values of all sides that were shown.
    package var fields: [FieldDifference]
    /// The codes of the verdict, and the other record that it is about, such as the surviving record
    /// of a merge.
    package var codes: [String?]

    /// What was shown; `fields` are newer than those of the latest report, if given.
    package init(_ verdict: Verdict, _ detail: OutcomeDetail, fields: [FieldDifference]? = nil) {
      (self.verdict, self.fields) = (verdict, fields ?? detail.fields)
      codes = detail.codes
    }
  }

  /// What a file says about the edit besides its number.
  ///
  /// It decides nothing, but has to match the edit.
  ///
  /// After a ledger was lost, edit numbers start again, and other pipelines use the same numbers.
  package struct Description: Sendable, Hashable {
    /// Its cells, by column of `conflicts.csv`; empty cells are not compared.
    var cells: [ConflictColumn: String]

    /// The columns that describe an edit.
    static let columns: [ConflictColumn] = [.user, .soup, .sobject, .recordId, .foundBy]

    init(_ cells: [ConflictColumn: String]) {
      self.cells = cells.filter { !$0.value.isEmpty }
    }

    /// The first column that does not match an edit, and the edit's own value.
    func contradiction(to edit: ReportEdit) -> (column: ConflictColumn, has: String)? {
      for column in Self.columns {
        guard let told = cells[column] else { continue }
        let known: [String?] =
          switch column {
          case .user: [edit.username ?? ""]
          case .soup: [edit.soup]
          case .sobject: [edit.sobject]
          case .recordId: [edit.recordID, edit.detail.recordID] + edit.detail.otherIDs
          case .foundBy: [edit.foundBy]
          default: []
          }
        let isTrue = known.contains { $0 == told || $0 != nil && $0 == told.recordID18 }
        if !isTrue { return (column, known.lazy.compactMap(\.self).first ?? "nothing") }
      }
      return nil
    }
  }

  package var edit: Int64
  /// The requested decision.
  package var choice: Choice
  /// What was shown; nil stands for the latest report.
  package var seen: Seen?
  /// The org's values that were shown, by field; if empty, those of the latest report apply.
  package var shown: [String: ShownValue]
  /// The device's values that were shown, by field, as cells of `conflicts.csv`.
  package var device: [String: String] = [:]
  /// What the file says about the edit; several entries if its rows differ.
  package var descriptions: Set<Description> = []

  package init(
    edit: Int64, _ choice: Choice, shown: [String: ShownValue] = [:], seen: Seen? = nil
  ) {
    (self.edit, self.choice, self.shown, self.seen) = (edit, choice, shown, seen)
  }

  /// The decision to record in the ledger.
  ///
  /// `sendable` has the names of the fields that the sync ups of the edit's soup send; `options` is
  /// how the values were shown.
  package func decision(
    for found: DecisionFacts, sendable: Set<String>, _ options: ReportMask
  ) throws(DecisionRefusal) -> Decision {
    try checkShown(found, options)
    switch choice {
    case .whole(let decision): return decision
    case .fields(let choices, let rest): return try merged(choices, rest, found, sendable)
    }
  }

  // MARK: fields

  private func merged(
    _ choices: [String: FieldChoice], _ rest: Decision.Side?, _ found: DecisionFacts,
    _ sendable: Set<String>
  ) throws(DecisionRefusal) -> Decision {
    let known = Dictionary(
      found.detail.fields.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let outside = choices.keys.filter { !sendable.contains($0) }.sorted()
    guard outside.isEmpty else {
      let near = outside.compactMap { name in
        Spelling.nearest(name, among: sendable.sorted(), takesBeginnings: true)
      }
      let hint = near.isEmpty ? "" : "did you mean \(near.joined(separator: ", "))? "
      throw refusal(
        "\(outside.joined(separator: ", ")) is not sent by the sync up of \(found.soup.soup); \(hint)"
          + "it sends " + sendable.sorted().joined(separator: ", "))
    }
    if rest == .server, !found.subject.hasRecord, found.shown.isEmpty {
      throw refusal(
        "the record is not in the org yet, so it has no org values to keep; leave out --take server"
      )
    }
    let open = known.values.filter { $0.isConflicting && choices[$0.name] == nil }.map(\.name)
    if rest == nil, !open.isEmpty {
      let names = open.sorted()
      throw refusal(
        "\(names.joined(separator: ", ")) also \(names.count == 1 ? "differs" : "differ"): add "
          + names.map { "--set \($0)=VALUE" }.joined(separator: " ")
          + ", or --take SIDE for the other fields")
    }
    var values = JSONObject()
    for (name, choice) in choices.sorted(by: { $0.key < $1.key }) {
      switch choice {
      case .value(let value): values[name] = value
      case .text(let text):
        if ReportMask.Shown.isPlaceholder(text) {
          throw refusal(
            "\"\(text)\" is a placeholder for a value of \(name) that is not shown; write the value"
          )
        }
        values[name] = try value(text, named: name, like: known[name])
      case .device:
        guard let value = known[name]?.device else { throw unknown(name, .device) }
        values[name] = value
      case .server:
        guard let value = known[name]?.server else { throw unknown(name, .server) }
        values[name] = value
      }
    }
    return .set(values, rest: rest ?? .device)
  }

  /// A typed value, or the side's value if its file is named.
  private func value(
    _ text: String, named name: String, like field: FieldDifference?
  ) throws(DecisionRefusal) -> JSONValue {
    guard ReportValues.isFile(text) else { return Self.value(text, like: field) }
    let sides = [field?.device, field?.entered, field?.server, field?.base].compactMap(\.self)
    if let value = sides.first(where: { ReportValues.file(of: $0) == text }) { return value }
    throw refusal(
      "\(text) is not the file of a value of \(name) in the last report; write the value, device or server"
    )
  }

  /// A typed value, with the type of the field's other values.
  private static func value(_ text: String, like field: FieldDifference?) -> JSONValue {
    if text.isEmpty { return .null }
    for known in [field?.device, field?.server, field?.base] {
      switch known {
      case .bool?:
        if let bool = Bool(text.lowercased()) { return .bool(bool) }
      case .number?:
        if case .number(let literal)? = try? JSONValue(parsing: Array(text.utf8)) {
          return .number(literal)
        }
      default: continue
      }
    }
    return .string(text)
  }

  // MARK: shown values

  /// Refuses a decision that was made about another edit with the same number.
  package func check(of edit: ReportEdit, _ options: ReportMask) throws(DecisionRefusal) {
    for description in descriptions {
      guard let (column, has) = description.contradiction(to: edit) else { continue }
      let told = description.cells[column] ?? ""
      throw refusal(
        "the file has \"\(told)\" as its \(column.rawValue), but the edit has \"\(has)\": \(Self.otherEdit)"
      )
    }
    for (name, cell) in device.sorted(by: { $0.key < $1.key }) {
      guard let field = edit.detail.fields.first(where: { $0.name == name }) else { continue }
      if Self.isSame(cell, field.device, of: name, options) { continue }
      let value = ReportMask.Shown.inLine(options.shown(field.device, of: name).words)
      throw refusal(
        "the column device has \"\(ReportMask.Shown.inLine(cell))\" for \(name), but the device has "
          + "\(value): \(Self.otherEdit)")
    }
  }

  private static let otherEdit =
    "the file is from another pipeline or from before a recovery, or part of it was sorted or changed; "
    + "decide with the last report"

  private func checkShown(
    _ found: DecisionFacts, _ options: ReportMask
  ) throws(DecisionRefusal) {
    let known = found.detail.fields.map(\.name)
    // A row that an operator adds to a table has an empty cell.
    for (name, shown) in shown.sorted(by: { $0.key < $1.key })
    where shown != .cell("") || known.contains(name) {
      guard known.contains(name) else {
        let hint = Spelling.nearest(name, among: known).map { "did you mean \($0)? " } ?? ""
        let fields = known.isEmpty ? "no fields" : known.joined(separator: ", ")
        throw refusal(
          "the last report shows no field \(VisibleText.line(name)) of the edit; \(hint)"
            + "it shows \(fields): decide with that report")
      }
      let now = found.shown[name]
      let isSame: Bool
      switch shown {
      case .value(let value): isSame = FieldValue.isSame(value, now)
      case .cell(let cell): isSame = Self.isSame(cell, now, of: name, options)
      }
      guard !isSame else { continue }
      let value = ReportMask.Shown.inLine(options.shown(now, of: name).words)
      if case .cell(let cell) = shown {
        throw refusal(
          "the column server has \"\(ReportMask.Shown.inLine(cell))\" for \(name), but the last report has \(value): the org's value "
            + "has changed, or a spreadsheet has reformatted it; decide with the last report"
        )
      }
      throw refusal(
        "the org's \(name) has changed since this was shown; the last report has \(value): decide with that report"
      )
    }
  }

  /// Whether a cell of `conflicts.csv` has a value; a long value is represented by its file's name.
  private static func isSame(
    _ cell: String, _ value: JSONValue?, of name: String, _ options: ReportMask
  ) -> Bool {
    let shown = options.shown(value, of: name)
    if case .value(let value) = shown, ReportValues.file(of: value) == cell { return true }
    return FieldValue.isSameCell(cell, VisibleText.cell(shown.cell), of: value)
  }

  private func unknown(_ name: String, _ side: Decision.Side) -> DecisionRefusal {
    refusal("the value of \(name) for \(side.rawValue) is unknown; enter a value")
  }

  private func refusal(_ words: String) -> DecisionRefusal { DecisionRefusal(edit, words) }
}
