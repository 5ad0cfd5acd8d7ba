import JSON
import SQLite

/// The elements of a few records of a page as they are stored.
///
/// Those of a whole page would be as large as the page once more.
private struct ComposedElements {
  var bytes: [UInt8] = []
  /// Where each element ends.
  var ends: [Int] = []

  /// Makes the elements of some records from an id on.
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

/// Appends records to an empty soup whose SQL indexes are made at the end, but for those of what
/// all records have in common.
///
/// An index of one value grows at its end only, which costs a third of reading the whole table once
/// more to make it, and is done while the next page is under way.
final class BulkInsertWriter: BulkWriter {
  let store: Store
  let connection: Connection
  private let soup: Soup
  private let cells: [RecordPlan.Cell]
  private let idColumn: String
  private let modificationPath: String
  private let composer: ElementComposer
  /// The elements of the statement that is bound.
  private var elements = ComposedElements()
  private let one: Statement
  private let many: Statement
  private let words: WordWriter?
  /// What is to be made at the end.
  private let lateIndexes: [(name: String, sql: String)]
  private var nextID: Int64
  /// Rows of one INSERT: each statement updates `sqlite_sequence` once.
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
    // Not off: a root that grows a level keeps its old cells, and a later generation carries them.
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

  /// What every record has in common stands in the statement's text.
  private static func insert(
    _ store: Store, _ soup: Soup, _ cells: [RecordPlan.Cell], _ now: Int64, rows: Int
  ) throws -> Statement {
    let columns = ["id", "soup", "created", "lastModified"] + cells.map(\.column.name)
    let values = cells.map { cell in
      if case .constant(let value) = cell.source { literal(value) } else { "?" }
    }
    let row = "(" + (["?", "?", "\(now)", "\(now)"] + values).joined(separator: ", ") + ")"
    // OR FAIL: an error undoes the whole page, so that no row needs to be undone by itself. For that
    // SQLite would copy every page of the file that a statement touches, where there is a journal.
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
    // The index of the id first: equal neighbours in it are the doubles.
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
