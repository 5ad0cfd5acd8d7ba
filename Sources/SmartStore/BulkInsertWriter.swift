import JSON
import SQLite

/// The elements of a whole page as they are stored, made once for stores that stand at the same id.
struct ComposedChunk {
  var bytes: [UInt8] = []
  /// Where each element ends.
  var ends: [Int] = []
  var firstID: Int64 = -1

  /// Makes the elements of a batch from an id on.
  mutating func compose(_ batch: RecordBatch, _ composer: ElementComposer, firstID: Int64) {
    self.firstID = firstID
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    bytes.reserveCapacity(batch.page.count + batch.count * 200)
    var id = firstID
    for record in 0..<batch.count {
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
  /// Elements of its own where another store stands at another id.
  private var own = ComposedChunk()
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

  func write(_ batch: RecordBatch, _ composed: ComposedChunk) throws -> BulkLoader.Counts {
    if composed.firstID == nextID {
      try append(batch, composed)
    } else {
      own.compose(batch, composer, firstID: nextID)
      try append(batch, own)
    }
    try words?.insert(batch, firstID: nextID)
    nextID += Int64(batch.count)
    var counts = BulkLoader.Counts()
    counts.inserted = batch.count
    return counts
  }

  private func append(_ batch: RecordBatch, _ composed: ComposedChunk) throws {
    let ends = composed.ends
    try composed.bytes.withUnsafeBytes { elements in
      var record = 0
      while record < batch.count {
        let rows = batch.count - record >= Self.rowsPerStatement ? Self.rowsPerStatement : 1
        let statement = rows == 1 ? one : many
        var place: Int32 = 1
        for row in record..<(record + rows) {
          let start = row == 0 ? 0 : ends[row - 1]
          try statement.bind(place, nextID + Int64(row))
          try statement.bind(
            place + 1, bytes: UnsafeRawBufferPointer(rebasing: elements[start..<ends[row]]))
          place += 2
          for cell in cells {
            try statement.bind(
              cell, of: row, batch, id: nextID + Int64(row), store.platform, &place)
          }
        }
        try statement.execute()
        record += rows
      }
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
