import CSV
import JSON
import System

/// A row of an ingest job: the texts of its columns, by their names.
///
/// Two rows are equal where they say the same, in whatever order: that is how a result, which comes in an
/// order of the org's own, is known for what it is of.
package struct BulkRow: Sendable, Hashable {
  /// What empties a field; an empty cell says nothing of it (Bulk API 2.0, "Prepare CSV Files").
  private static let null = "#N/A"
  /// Longer texts are refused of fields and of rows.
  private static let (fieldLimit, rowLimit) = (32_000, 400_000)

  /// The columns that say something, by their names in small letters.
  private var cells: [String: String] = [:]
  private var names: [String] = []

  /// A row of a record's members; nil where a CSV cannot say the same: it knows no objects, no lists, and not
  /// the text that stands for nothing.
  ///
  /// An empty text is none to an org, and is written as that.
  package init?(_ members: some Sequence<(name: String, value: JSONValue)>) {
    var length = 0
    for (name, value) in members {
      let text: String
      if value.isNull {
        text = Self.null
      } else if let string = value.string {
        guard string != Self.null, !string.unicodeScalars.contains("\0") else { return nil }
        text = string.isEmpty ? Self.null : string
      } else if value.object == nil, value.array == nil {
        text = value.text
      } else {
        return nil
      }
      length += text.utf16.count
      guard text.utf16.count <= Self.fieldLimit, length <= Self.rowLimit,
        cells.updateValue(text, forKey: name.lowercased()) == nil
      else { return nil }
      names.append(name)
    }
  }

  /// A row that says nothing.
  package static let empty = BulkRow(columns: [], [])

  private init(columns: [String], _ cells: [String]) {
    for (name, cell) in zip(columns, cells) where !cell.isEmpty {
      self.cells[name.lowercased()] = cell
    }
  }

  /// What its column says; nil where it says nothing.
  package subscript(name: String) -> String? { cells[name.lowercased()] }

  /// It without what empties a field, and without blanks at the ends: orgs may leave both out.
  package var bare: BulkRow {
    var row = self
    for (name, text) in cells {
      let trimmed = text.trimmed
      row.cells[name] = trimmed.isEmpty || trimmed == Self.null ? nil : trimmed
    }
    return row
  }

  /// About how many bytes it takes.
  package var size: Int { cells.values.reduce(cells.count * 3) { $0 + $1.utf8.count } }

  /// Whether two rows say the same, whatever their columns were called first.
  package static func == (one: BulkRow, other: BulkRow) -> Bool { one.cells == other.cells }

  /// Of what it says.
  package func hash(into hasher: inout Hasher) { hasher.combine(cells) }

  /// Rows as CSV with a header of all their columns.
  package static func csv(_ rows: [BulkRow]) -> [UInt8] {
    var columns: [String] = []
    var known: Set<String> = []
    for row in rows {
      for name in row.names where known.insert(name.lowercased()).inserted { columns.append(name) }
    }
    var writer = CSVWriter()
    writer.row(columns)
    for row in rows { writer.row(columns.map { row[$0] ?? "" }) }
    return writer.bytes
  }

  private struct Ragged: Error, CustomStringConvertible {
    var fields: Int
    var columns: Int

    var description: String { "a row has \(fields) fields of \(columns)" }
  }

  /// Reads a result: each row with all its cells, and as it was sent.
  package static func read(
    _ csv: [UInt8], _ body: (_ cells: [String: String], _ row: BulkRow) -> Void
  ) throws {
    var columns: [String]?
    func take(_ cells: [String]) throws {
      guard let columns else {
        columns = cells
        return
      }
      guard cells.count == columns.count else {
        throw Ragged(fields: cells.count, columns: columns.count)
      }
      let all = Dictionary(zip(columns.map { $0.lowercased() }, cells)) { first, _ in first }
      var row = BulkRow(columns: columns, cells)
      for name in columns where name.lowercased().hasPrefix("sf__") {
        row.cells[name.lowercased()] = nil
      }
      body(all, row)
    }
    var reader = CSVReader()
    try csv.withUnsafeBytes { try reader.feed($0, row: take) }
    try reader.finish(row: take)
  }
}
