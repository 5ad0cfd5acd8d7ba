import SQLite

/// Writes the words of records into a soup's full-text table.
final class WordWriter {
  private let statement: Statement
  private let cells: [RecordPlan.Cell]
  private let platform: Platform

  /// Creates a writer; nil if the soup has no full-text index.
  init?(_ store: Store, _ soup: Soup, _ cells: [RecordPlan.Cell]) throws {
    self.cells = cells.filter { $0.type == .fullText }
    guard !self.cells.isEmpty else { return nil }
    platform = store.platform
    statement = try store.connection.prepare(
      "INSERT INTO \(soup.fullTextTable) (rowid, "
        + self.cells.map(\.column.name).joined(separator: ", ") + ") VALUES (?"
        + String(repeating: ", ?", count: self.cells.count) + ")")
  }

  /// Adds the words of a page's records, whose elements have consecutive IDs.
  func insert(_ batch: RecordBatch, firstID: Int64) throws {
    for record in 0..<batch.count {
      let id = firstID + Int64(record)
      try statement.bind(1, id)
      var place: Int32 = 2
      for cell in cells {
        if case .constant(let value) = cell.source {
          try statement.bind(place, value)
          place += 1
        } else {
          try statement.bind(cell, of: record, batch, id: id, platform, &place)
        }
      }
      try statement.execute()
    }
  }
}

extension Statement {
  /// Binds the value of a record's cell and advances to the next parameter.
  ///
  /// Values common to all records are part of the statement's text.
  @inline(__always)
  func bind(
    _ cell: RecordPlan.Cell, of record: Int, _ batch: RecordBatch, id: Int64,
    _ platform: Platform, _ place: inout Int32
  ) throws {
    switch cell.source {
    case .constant: return
    case .soupEntryID:
      try bind(
        place, IndexValue.bound(number: String(id), type: cell.type, platform: platform))
    case .field(let slot):
      let span = batch.field(record, slot)
      if span.kind == .string, IndexValue.keepsText(cell.type, platform) {
        try bind(place, bytes: batch.bytes(span))
      } else if span.kind == .missing || span.kind == .null {
        try bindNull(place)
      } else {
        try bind(
          place,
          batch.value(
            record, slot: slot, type: cell.type, path: cell.column.spec.path, platform: platform))
      }
    }
    place += 1
  }
}
