import CSV
import JSON
import System

/// A row of an ingest job: the texts of its columns, by name.
///
/// Two rows are equal if they have the same cells in any order. This is how a row in the results,
/// which the org reorders, is matched with the row that was sent.
package struct BulkRow: Sendable, Hashable {
  /// The text that clears a field.
  ///
  /// An empty cell leaves the field unchanged (Bulk API 2.0, "Prepare CSV Files").
  private static let null = "#N/A"
  /// The maximum length of a field and of a row.
  private static let (fieldLimit, rowLimit) = (32_000, 400_000)

  /// The non-empty cells, by column name in lower case.
  private var cells: [String: String] = [:]
  private var names: [String] = []

  /// Creates a row from a record's members; nil if CSV cannot express them: it has no objects, no
  /// lists, and cannot contain the text that clears a field.
  ///
  /// An org treats an empty text as no value, so it is written as the text that clears the field.
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

  /// A row without cells.
  package static let empty = BulkRow(columns: [], [])

  private init(columns: [String], _ cells: [String]) {
    for (name, cell) in zip(columns, cells) where !cell.isEmpty {
      self.cells[name.lowercased()] = cell
    }
  }

  /// The cell of a column; nil if it is empty.
  package subscript(name: String) -> String? { cells[name.lowercased()] }

  /// The row without the cells that clear a field, and without white space at the ends of cells:
  /// orgs may omit both.
  package var bare: BulkRow {
    var row = self
    for (name, text) in cells {
      let trimmed = text.trimmed
      row.cells[name] = trimmed.isEmpty || trimmed == Self.null ? nil : trimmed
    }
    return row
  }

  /// The approximate size in bytes.
  package var size: Int { cells.values.reduce(cells.count * 3) { $0 + $1.utf8.count } }

  /// Whether two rows have the same cells, regardless of the spelling of their column names.
  package static func == (one: BulkRow, other: BulkRow) -> Bool { one.cells == other.cells }

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

    var description: String { "a row has \(fields) of \(CountText.of(columns, "field"))" }
  }

  /// Parses a result: each row with all its cells, and in the form in which it was sent.
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
