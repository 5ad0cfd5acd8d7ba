import CSV
import JSON
import Ledger
import Salesforce
import System

/// Reads decisions from a file: JSON according to docs/decisions.schema.json, or CSV with a column
/// `decision`, such as a report's `conflicts.csv`.
package enum DecisionFile {
  /// The largest accepted file.
  static let limitBytes = 256 << 20

  /// The decisions in a file, in its order; all problems are reported together.
  package static func read(path: String) throws(Problems) -> [DecisionRequest] {
    let reader = ConfigurationReader(file: path)
    let bytes: [UInt8]
    do throws(SystemError) {
      bytes = try Files.read(path, limit: limitBytes)
    } catch {
      throw Problems([
        Problem(
          file: path, line: 0, column: 0, path: "",
          message: "the file of decisions cannot be read: \(error.reason)", fix: "name a file")
      ])
    }
    return try requests(bytes, reader)
  }

  /// The decisions in a text; problems name the file as `reader` does.
  package static func requests(
    _ bytes: [UInt8], _ reader: ConfigurationReader
  ) throws(Problems) -> [DecisionRequest] {
    let first = bytes.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) }
    var requests: [DecisionRequest] = []
    // The header of a table begins with neither.
    if first == UInt8(ascii: "{") || first == UInt8(ascii: "[") {
      requests = JSONDecisions(reader: reader).requests(bytes)
    } else {
      requests = CSVDecisions(reader: reader).requests(bytes)
    }
    let twice = Dictionary(grouping: requests, by: \.edit).filter { $0.value.count > 1 }
    for edit in twice.keys.sorted() {
      reader.report("edit \(edit) is decided more than once", "keep one of the decisions")
    }
    try reader.finish()
    return requests
  }
}

/// The JSON form.
private struct JSONDecisions {
  let reader: ConfigurationReader

  func requests(_ bytes: [UInt8]) -> [DecisionRequest] {
    let known = ["$schema", "format", "decisions"]
    guard let node = reader.parse(bytes) else { return [] }
    guard let members = node.members else {
      reader.wrongType(node, "an object", "write \(DecisionFile.form)")
      return []
    }
    let names = members.map(\.name)
    if Spelling.nearest("decisions", among: names) == nil, !Set(names).isSubset(of: known) {
      // The keys of another kind of file would each be a problem.
      reader.report(
        "this is not a file of decisions: it has no \"decisions\"",
        "name a report's conflicts.csv with the column decision filled in, or write "
          + DecisionFile.form)
      return []
    }
    guard let file = reader.object(node, known: known, what: "the decisions") else { return [] }
    if let format = file["format"], format.int != 1 {
      reader.report(format, "this version does not support the format", "write 1")
    }
    guard let list = file["decisions"] else {
      reader.report(node, "the decisions are missing", "write \(DecisionFile.form)")
      return []
    }
    guard let elements = list.array else {
      reader.wrongType(list, "an array", "write \(DecisionFile.form)")
      return []
    }
    return elements.compactMap(request)
  }

  private func request(_ node: JSONNode) -> DecisionRequest? {
    let described = DecisionRequest.Description.columns
    let keys =
      ["edit", "decision", "values", "rest", "record", "shown"] + described.map(\.rawValue)
    guard let object = reader.object(node, known: keys, what: "a decision") else { return nil }
    guard let number = object["edit"].flatMap({ reader.int($0, in: 1...Int.max) }),
      let kind = object["decision"].flatMap({
        reader.word($0, "a decision", as: Decision.Kind.self)
      })
    else {
      if object["edit"] == nil || object["decision"] == nil {
        reader.report(
          node, "a decision needs an edit and a decision", "add edit and decision")
      }
      return nil
    }
    guard let choice = choice(kind, object, node) else { return nil }
    if let node = object["shown"], !node.isNull, node.members == nil {
      // If it were ignored, the decision would not be compared with anything.
      reader.wrongType(node, "an object", "write the org's values by field: { \"Field\": … }")
      return nil
    }
    let shown = object["shown"]?.members ?? []
    var request = DecisionRequest(
      edit: Int64(number), choice,
      shown: Dictionary(
        shown.map { ($0.name, .value($0.value.value)) }, uniquingKeysWith: { first, _ in first }))
    let cells = described.compactMap { column in
      object[column.rawValue].flatMap(reader.string).map { (column, $0) }
    }
    if !cells.isEmpty {
      request.descriptions = [.init(Dictionary(uniqueKeysWithValues: cells))]
    }
    return request
  }

  private func choice(
    _ kind: Decision.Kind, _ object: ConfigurationObject, _ node: JSONNode
  ) -> DecisionRequest.Choice? {
    switch kind {
    case .device, .server, .retry, .discard: return Decision(kind, [:]).map { .whole($0) }
    case .undo:
      reader.report(node, DecisionFile.undoText, DecisionFile.undoFix)
      return nil
    case .record:
      guard let text = object["record"].flatMap(reader.string) else {
        reader.report(node, "this does not name a record", "add \"record\": \"…\"")
        return nil
      }
      guard let id = text.recordID18 else {
        reader.report(
          node, "\(JSONText.quoted(text)) is not a record ID", "write 15 or 18 characters")
        return nil
      }
      return .whole(.record(id))
    case .set:
      guard let members = object["values"]?.members, !members.isEmpty else {
        reader.report(node, "this sets no value", "add \"values\": { \"Field\": … }")
        return nil
      }
      let rest = object["rest"].flatMap {
        reader.word($0, "a side", as: Decision.Side.self)
      }
      let fields = members.map { ($0.name, DecisionRequest.FieldChoice.value($0.value.value)) }
      return .fields(Dictionary(fields, uniquingKeysWith: { first, _ in first }), rest: rest)
    }
  }
}

/// The CSV form: a row for each field, or for each edit.
///
/// If all filled rows of an edit agree, the decision applies to the whole edit, including its empty
/// rows. If they differ, each applies to its own field.
private struct CSVDecisions {
  let reader: ConfigurationReader

  /// A row with a decision, or another row of an edit that has one.
  private struct Entry {
    var line: Int
    var edit: Int64
    var kind: Decision.Kind?
    var cells: [ConflictColumn: String]

    subscript(_ column: ConflictColumn) -> String { cells[column] ?? "" }
  }

  func requests(_ bytes: [UInt8]) -> [DecisionRequest] {
    let rows: [[CSVReader.Cell]]
    do {
      rows = try CSVReader.cells(bytes)
    } catch {
      let isText = String(validating: bytes, as: UTF8.self) != nil
      reader.report(
        "the table cannot be read: \(error)",
        isText ? "write RFC 4180 CSV, or JSON" : "save it as CSV in UTF-8, or write JSON")
      return []
    }
    guard let header = rows.first else {
      reader.report("the file is empty", "add the columns number and decision")
      return []
    }
    let names = header.map { VisibleText.folded($0.text) }
    func index(of column: ConflictColumn) -> Int? {
      names.firstIndex(of: column.rawValue.lowercased())
    }
    checkColumns(header, names)
    let misspelt = misspelt(header, names)
    guard let number = index(of: .number), let decision = index(of: .decision) else {
      let missing = [ConflictColumn.number, .decision].filter { index(of: $0) == nil }
        .map(\.rawValue).filter { !misspelt.contains($0) }.map { JSONText.quoted($0) }
      if !missing.isEmpty {
        reader.add(
          1, 1, "", "the table has no column \(missing.joined(separator: " and no column "))",
          missing.count == 1 ? "add the missing column" : "add the missing columns")
      }
      return []
    }
    let columns = ConflictColumn.allCases.compactMap { one in index(of: one).map { (one, $0) } }
    var entries: [Entry] = []
    for row in rows.dropFirst() where !hasHidden(row, columns) {
      let line = row.first?.line ?? 1
      guard number < row.count, let edit = Int64(row[number].text.trimmed) else {
        reader.add(line, 1, "number", "this is not an edit's number", "write a whole number")
        continue
      }
      var entry = Entry(line: line, edit: edit, cells: [:])
      for (column, index) in columns where index < row.count {
        entry.cells[column] = CSVWriter.unguarded(row[index].text)
      }
      let word = decision < row.count ? row[decision].text.trimmed.lowercased() : ""
      entry.kind = kind(word, entry[.value], entry.line)
      entries.append(entry)
    }
    var order: [Int64] = []
    for entry in entries where entry.kind != nil && !order.contains(entry.edit) {
      order.append(entry.edit)
    }
    let groups = Dictionary(grouping: entries, by: \.edit)
    return order.compactMap { edit in
      let rows = groups[edit] ?? []
      var request = request(edit, rows)
      for row in rows where !row[.field].isEmpty {
        if index(of: .server) != nil { request?.shown[row[.field]] = .cell(row[.server]) }
        if index(of: .device) != nil { request?.device[row[.field]] = row[.device] }
      }
      request?.descriptions = Set(
        rows.map { row in
          let described = DecisionRequest.Description.columns.map { ($0, row[$0].trimmed) }
          return DecisionRequest.Description(Dictionary(uniqueKeysWithValues: described))
        })
      return request
    }
  }

  /// Reports columns that are there twice, and names with a character that cannot be seen.
  private func checkColumns(_ header: [CSVReader.Cell], _ names: [String]) {
    for column in ConflictColumn.allCases.map(\.rawValue) {
      let same = zip(header, names).filter { $0.1 == column.lowercased() }.map(\.0)
      for cell in same.dropFirst() {
        reader.add(
          cell.line, cell.column, "", "the table has two columns \(JSONText.quoted(column))",
          "keep one of them")
      }
      for cell in same { report(hiddenIn: cell, column) }
    }
  }

  /// Whether a row has a character that cannot be seen in a cell that decides; reports it.
  private func hasHidden(
    _ row: [CSVReader.Cell], _ columns: [(ConflictColumn, Int)]
  ) -> Bool {
    let deciding: [ConflictColumn] = [.number, .decision, .field]
    let found = columns.filter { column, index in
      deciding.contains(column) && index < row.count
        && report(hiddenIn: row[index], column.rawValue)
    }
    return !found.isEmpty
  }

  @discardableResult
  private func report(hiddenIn cell: CSVReader.Cell, _ column: String) -> Bool {
    guard let code = VisibleText.hidden(in: cell.text.trimmed) else { return false }
    reader.add(
      cell.line, cell.column, column, "the cell has a character that cannot be seen (\(code))",
      "type the text again")
    return true
  }

  /// Reports the headers that are almost those of a column that the table lacks; returns the names of these columns.
  private func misspelt(_ header: [CSVReader.Cell], _ names: [String]) -> Set<String> {
    let known = ConflictColumn.allCases.map(\.rawValue)
    var free = known.filter { !names.contains($0.lowercased()) }
    var found: Set<String> = []
    for (place, cell) in header.enumerated()
    where !known.contains(where: { $0.lowercased() == names[place] }) {
      let name = cell.text
      guard let nearest = Spelling.nearest(name, among: free) else { continue }
      reader.add(
        cell.line, cell.column, "",
        "the table has a column \(JSONText.quoted(name)) and no column \(JSONText.quoted(nearest))",
        "name it \(nearest)")
      free.removeAll { $0 == nearest }
      found.insert(nearest)
    }
    return found
  }

  /// The decision named in a row; records a problem if it is unknown or does not fit the value.
  private func kind(_ word: String, _ value: String, _ line: Int) -> Decision.Kind? {
    let kind = Decision.Kind(rawValue: word)
    if !word.isEmpty, kind == nil {
      reader.add(
        line, 1, "decision", "\(JSONText.quoted(word)) is not a decision",
        ConfigurationReader.oneOf(Decision.Kind.allCases.map(\.rawValue), near: word))
    }
    if !value.isEmpty, word.isEmpty {
      reader.add(
        line, 1, "decision", "the row has a value and no decision",
        "write set, or clear the value")
    } else if !value.isEmpty, let kind, kind != .set, kind != .record {
      reader.add(
        line, 1, "value", "\(kind.rawValue) takes no value",
        "clear the value, or write set to send it")
    }
    return kind
  }

  private func request(_ edit: Int64, _ rows: [Entry]) -> DecisionRequest? {
    let kinds = Set(rows.compactMap(\.kind))
    let choice: DecisionRequest.Choice?
    if kinds.count == 1, let kind = kinds.first, kind != .set {
      choice = whole(kind, rows)
    } else {
      choice = fields(rows)
    }
    return choice.map { DecisionRequest(edit: edit, $0) }
  }

  private func whole(_ kind: Decision.Kind, _ rows: [Entry]) -> DecisionRequest.Choice? {
    switch kind {
    case .device, .server, .retry, .discard: return Decision(kind, [:]).map { .whole($0) }
    case .set: return nil
    case .undo:
      reader.add(rows.first?.line ?? 1, 1, "decision", DecisionFile.undoText, DecisionFile.undoFix)
      return nil
    case .record:
      let row = rows.first { $0.kind == .record }
      guard let id = row?[.value].trimmed.recordID18 else {
        reader.add(
          row?.line ?? 1, 1, "value", "the column value does not name a record",
          "write the record ID, 15 or 18 characters")
        return nil
      }
      return .whole(.record(id))
    }
  }

  private func fields(_ rows: [Entry]) -> DecisionRequest.Choice? {
    var choices: [String: DecisionRequest.FieldChoice] = [:]
    var isWhole = true
    for row in rows {
      let choice: DecisionRequest.FieldChoice
      switch row.kind {
      case .device?: choice = .device
      case .server?: choice = .server
      case .set? where row[.value].isEmpty:
        reader.add(
          row.line, 1, "value", "set has no value",
          "write one; to clear the field, use --set FIELD=, or a JSON file with null")
        isWhole = false
        continue
      case .set?: choice = .text(row[.value])
      case nil: continue
      case .record?, .retry?, .discard?, .undo?:
        reader.add(
          row.line, 1, "decision", "the rows of edit \(row.edit) contradict each other",
          "keep the decision in one row only, or decide each field with device, server or set")
        isWhole = false
        continue
      }
      guard !row[.field].isEmpty else {
        reader.add(row.line, 1, "field", "this row names no field", "write its name")
        isWhole = false
        continue
      }
      if let former = choices.updateValue(choice, forKey: row[.field]), former != choice {
        reader.add(
          row.line, 1, "field",
          "\(row[.field]) of edit \(row.edit) has two different decisions",
          "keep one of the rows")
        isWhole = false
      }
    }
    return isWhole ? .fields(choices, rest: nil) : nil
  }
}

extension DecisionFile {
  /// An example of the JSON form.
  package static let form = #"{"decisions": [{"edit": 1, "decision": "device"}]}"#
  fileprivate static let undoText = "undo takes a run, so it cannot be in a file of decisions"
  fileprivate static let undoFix = "attache reconcile undo PIPELINE RUN EDIT"
}
