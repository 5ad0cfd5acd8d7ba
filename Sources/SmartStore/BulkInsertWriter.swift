import JSON
import SQLite

/// The stored elements of some records of a page.
///
/// The elements of a whole page would need as much memory as the page itself.
private struct ComposedElements {
  var bytes: [UInt8] = []
  /// The end offset of each element.
  var ends: [Int] = []

  /// Creates the elements of some records, with IDs from a start on.
  mutating func compose(
    _ records: Range<Int>, of batch: RecordBatch, _ composer: ElementComposer, firstID: Int64
  ) {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    var id = firstID
    for record in records {
      batch.withBody(record) { composer.append($0, id: id, to: &bytes) }
      ends.append(bytes.count)
      id += 1
    }
  }
}

/// Appends records to an empty soup.
///
/// Most SQL indexes are created at the end; only those of columns with the same value in all
/// records are kept during the load.
///
/// An index with a single value only grows at its end. Maintaining it costs a third of reading the
/// whole table again to create it, and happens while the next page is being fetched.
final class BulkInsertWriter: BulkWriter {
  let store: Store
  let connection: Connection
  private let soup: Soup
  private let cells: [RecordPlan.Cell]
  private let idColumn: String
  private let modificationPath: String
  private let composer: ElementComposer
  /// The elements that are bound to the statement.
  private var elements = ComposedElements()
  private let one: Statement
  private let many: Statement
  private let words: WordWriter?
  /// The indexes to create at the end.
  private let lateIndexes: [(name: String, sql: String)]
  private var nextID: Int64
  /// The number of rows per INSERT: each statement updates `sqlite_sequence` once.
  private static let rowsPerStatement = 32

  init(
    _ store: Store, _ soup: Soup, plan: RecordPlan, composer: ElementComposer, idColumn: String
  ) throws {
    self.store = store
    connection = store.connection
    self.composer = composer
    self.soup = soup
    self.idColumn = idColumn
    modificationPath = plan.options.modificationPath
    cells = plan.cells(of: soup, on: store.platform)
    nextID = try store.nextID(of: soup)
    // Do not turn it off: a root page that grows a level would keep its old cells, and later
    // generations would contain them.
    try connection.execute("PRAGMA secure_delete = ON")
    lateIndexes = Self.lateIndexes(of: soup, cells, store.layout)
    for index in lateIndexes {
      try connection.execute("DROP INDEX IF EXISTS \(index.name)")
    }
    one = try Self.insert(store, soup, cells, plan.options.now, rows: 1)
    many = try Self.insert(store, soup, cells, plan.options.now, rows: Self.rowsPerStatement)
    words = try WordWriter(store, soup, cells)
  }

  /// The indexes of columns in which records differ.
  private static func lateIndexes(
    of soup: Soup, _ cells: [RecordPlan.Cell], _ layout: SchemaSQL
  ) -> [(name: String, sql: String)] {
    // `created` and `lastModified` are the run's clock.
    var early: Set<Int> = [0, 1]
    for cell in cells {
      if case .constant = cell.source { early.insert(cell.column.position + 2) }
    }
    return layout.createIndexes(soup).enumerated().filter { !early.contains($0.offset) }
      .map(\.element)
  }

  /// Values that all records have in common are part of the statement's text.
  private static func insert(
    _ store: Store, _ soup: Soup, _ cells: [RecordPlan.Cell], _ now: Int64, rows: Int
  ) throws -> Statement {
    let columns = ["id", "soup", "created", "lastModified"] + cells.map(\.column.name)
    let values = cells.map { cell in
      if case .constant(let value) = cell.source { literal(value) } else { "?" }
    }
    let row = "(" + (["?", "?", "\(now)", "\(now)"] + values).joined(separator: ", ") + ")"
    // OR FAIL: an error rolls back the whole page, so no single row needs a rollback. Without it,
    // SQLite would copy every page of the file that a statement changes if there is a journal.
    return try store.connection.prepare(
      "INSERT OR FAIL INTO \(soup.table) (\(columns.joined(separator: ", "))) VALUES "
        + repeatElement(row, count: rows).joined(separator: ", "))
  }

  private static func literal(_ value: SQLiteValue) -> String {
    switch value {
    case .null, .blob: "NULL"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let text): SQL.quoted(text: text)
    }
  }

  var nextColdID: Int64? { nextID }

  func write(_ batch: RecordBatch) throws -> BulkLoader.Counts {
    try append(batch)
    try words?.insert(batch, firstID: nextID)
    nextID += Int64(batch.count)
    var counts = BulkLoader.Counts()
    counts.inserted = batch.count
    return counts
  }

  private func append(_ batch: RecordBatch) throws {
    var record = 0
    while record < batch.count {
      let rows = batch.count - record >= Self.rowsPerStatement ? Self.rowsPerStatement : 1
      let records = record..<(record + rows)
      elements.compose(records, of: batch, composer, firstID: nextID + Int64(record))
      try insert(records, of: batch, by: rows == 1 ? one : many)
      record += rows
    }
  }

  private func insert(
    _ records: Range<Int>, of batch: RecordBatch, by statement: Statement
  ) throws {
    let ends = elements.ends
    try elements.bytes.withUnsafeBytes { bytes in
      var (start, place) = (0, Int32(1))
      for (row, end) in zip(records, ends) {
        let id = nextID + Int64(row)
        try statement.bind(place, id)
        try statement.bind(
          place + 1, bytes: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        place += 2
        start = end
        for cell in cells {
          try statement.bind(cell, of: row, batch, id: id, store.platform, &place)
        }
      }
      try statement.execute()
    }
  }

  func finish() throws -> Int {
    let position = soup.columnNames.firstIndex(of: idColumn) ?? 0
    let idIndex = store.layout.createIndexes(soup)[position + 2].name
    // Create the index of the ID first: equal neighbors in it are duplicates.
    for index in lateIndexes where index.name == idIndex {
      try connection.execute(index.sql)
    }
    let doubles = try Doubles(
      store, soup, idColumn: idColumn, modificationPath: modificationPath
    ).remove()
    for index in lateIndexes where index.name != idIndex {
      try connection.execute(index.sql)
    }
    return doubles
  }
}
