import JSON
import SQLite

/// Appends records to an empty soup by laying down the pages of its table and of its indexes, bottom-up.
///
/// SQLite has made the schema, makes the full-text table and what has an expression, and is told of the rest at
/// the end: until then the soup is empty for whoever asks it.
final class PageInsertWriter: BulkWriter {
  /// An index of the soup and what its keys come from.
  private enum Index {
    /// Every key is the same.
    case constant(StoredValue)
    /// The keys of the cell at a position.
    case keys(KeyRuns)
    /// SQLite makes it of the table.
    case bySQLite
  }

  let store: Store
  let connection: Connection
  private let soup: Soup
  private let cells: [RecordPlan.Cell]
  private let idColumn: String
  private let modificationPath: String
  private let composer: ElementComposer
  private let words: WordWriter?
  private let file: PageFile
  private let table: TableTree
  private let affinity = ColumnAffinity()
  private let indexes: [(name: String, root: UInt32, index: Index)]
  /// Beside `cells`: where a cell's keys go.
  private let runs: [KeyRuns?]
  /// The id's place among `indexes`.
  private let idIndex: Int?
  private let firstID: Int64
  private var nextID: Int64
  private let now: Int64
  /// Elements of its own where another store stands at another id.
  private var own = ComposedChunk()
  /// Beside `cells`: what all records have in common.
  private let constants: [StoredValue?]
  /// The texts among the constants.
  private let constantTexts: UnsafeMutableRawBufferPointer
  private var row = Row()

  /// A writer, or nil where the file or the soup is not as attache makes them.
  init?(
    _ store: Store, _ soup: Soup, plan: RecordPlan, composer: ElementComposer, idColumn: String
  ) throws {
    self.store = store
    connection = store.connection
    self.composer = composer
    self.soup = soup
    self.idColumn = idColumn
    modificationPath = plan.options.modificationPath
    now = plan.options.now
    let cells = plan.cells(of: soup, on: store.platform)
    self.cells = cells
    guard !connection.inTransaction, let roots = try Self.roots(of: soup, in: store),
      let tableRoot = roots[soup.table], let file = try PageFile(store.path)
    else { return nil }
    self.file = file
    table = TableTree(file, root: tableRoot)
    (constants, constantTexts) = try Self.constants(cells, affinity)
    var runs: [KeyRuns?] = []
    for (cell, constant) in zip(cells, constants) {
      let keys = KeyRuns(
        beside: store.path, isReal: cell.type == .floating, room: plan.options.keyRoom)
      runs.append(constant == nil ? keys : nil)
    }
    self.runs = runs
    var indexes: [(name: String, root: UInt32, index: Index)] = []
    for (offset, made) in store.layout.createIndexes(soup).enumerated() {
      guard let root = roots[made.name] else { return nil }
      let index: Index
      if offset < 2 {
        index = .constant(.integer(plan.options.now))
      } else if let cell = cells.firstIndex(where: { $0.column.position == offset - 2 }) {
        index =
          runs[cell].map { .keys($0) } ?? .constant(constants[cell] ?? .null)
      } else {
        index = .bySQLite
      }
      indexes.append((made.name, root, index))
    }
    guard indexes.count == roots.count - 1 else { return nil }
    self.indexes = indexes
    idIndex = soup.columnNames.firstIndex(of: idColumn).map { $0 + 2 }
    firstID = try store.nextID(of: soup)
    nextID = firstID
    words = try WordWriter(store, soup, cells)
  }

  deinit { constantTexts.deallocate() }

  /// What all records have in common, as it is stored, and the texts of it.
  private static func constants(
    _ cells: [RecordPlan.Cell], _ affinity: ColumnAffinity
  ) throws -> ([StoredValue?], UnsafeMutableRawBufferPointer) {
    var texts: [UInt8] = []
    let found = try cells.map { cell -> (value: StoredValue, text: Range<Int>?)? in
      guard case .constant(let value) = cell.source else { return nil }
      return try affinity.stored(value, in: cell.type, &texts)
    }
    let kept = UnsafeMutableRawBufferPointer.allocate(byteCount: texts.count, alignment: 1)
    kept.copyBytes(from: texts)
    let values = found.map { each -> StoredValue? in
      guard let each else { return nil }
      return each.text.map { .text(UnsafeRawBufferPointer(rebasing: kept[$0])) } ?? each.value
    }
    return (values, kept)
  }

  /// The first pages of the soup's table and indexes; nil where something hangs on it that is not ours.
  private static func roots(of soup: Soup, in store: Store) throws -> [String: UInt32]? {
    var roots: [String: UInt32] = [:]
    let objects = try store.connection.all(
      "SELECT type, name, rootpage FROM sqlite_schema WHERE tbl_name = \(soup.table)")
    for object in objects {
      guard ["table", "index"].contains(object[0].text), let name = object[1].text,
        let root = object[2].integer.flatMap({ UInt32(exactly: $0) }), root > 1
      else { return nil }
      roots[name] = root
    }
    return roots
  }

  var nextColdID: Int64? { nextID }

  // Between two transactions of SQLite: it must not have one.
  func begin() throws {
    try refuseTransaction()
    try file.begin()
  }

  private func refuseTransaction() throws {
    guard !connection.inTransaction else {
      throw StoreError.database(
        path: store.path, code: 21, message: "pages cannot be laid down in a transaction")
    }
  }

  func commit() throws { try file.end() }

  func abandon() {}

  func write(_ batch: RecordBatch, _ composed: ComposedChunk) throws -> BulkLoader.Counts {
    try refuseTransaction()
    if composed.firstID == nextID {
      try append(batch, composed)
    } else {
      own.compose(batch, composer, firstID: nextID)
      try append(batch, own)
    }
    if let words {
      try file.end()
      try connection.transaction { try words.insert(batch, firstID: nextID) }
      try file.begin()
    }
    nextID += Int64(batch.count)
    var counts = BulkLoader.Counts()
    counts.inserted = batch.count
    return counts
  }

  private func append(_ batch: RecordBatch, _ composed: ComposedChunk) throws {
    var row = self.row
    defer { self.row = row }
    try composed.bytes.withUnsafeBytes { elements in
      var start = 0
      for record in 0..<batch.count {
        let end = composed.ends[record]
        let id = nextID + Int64(record)
        row.begin(UnsafeRawBufferPointer(rebasing: elements[start..<end]), now: now)
        for (index, cell) in cells.enumerated() {
          try add(cell, constants[index], of: record, batch, id, to: &row)
        }
        try row.finish { values, record in
          try table.add(id, record)
          for (index, runs) in runs.enumerated() {
            if let runs { try runs.add(values[index], id) }
          }
        }
        start = end
      }
    }
  }

  @inline(__always)
  private func add(
    _ cell: RecordPlan.Cell, _ constant: StoredValue?, of record: Int, _ batch: RecordBatch,
    _ id: Int64, to row: inout Row
  ) throws {
    let bound: SQLiteValue
    switch cell.source {
    case .constant: return row.add(constant ?? .null)
    case .soupEntryID:
      bound = IndexValue.bound(number: String(id), type: cell.type, platform: store.platform)
    case .field(let slot):
      let span = batch.field(record, slot)
      if span.kind == .missing || span.kind == .null { return row.add(.null) }
      if span.kind == .string, cell.type.columnType == "TEXT",
        IndexValue.keepsText(cell.type, store.platform)
      {
        return row.add(.text(batch.bytes(span)))
      }
      bound = try batch.value(
        record, slot: slot, type: cell.type, path: cell.column.spec.path,
        platform: store.platform)
    }
    try row.add(bound, cell.type, affinity)
  }

  func finish() throws -> Int {
    guard nextID > firstID else { return 0 }
    try refuseOtherRows()
    try begin()
    try table.finish()
    var mayHaveDoubles = true
    var left: [String] = []
    for (place, entry) in indexes.enumerated() {
      let tree = IndexTree(file, root: entry.root)
      switch entry.index {
      case .constant(let value):
        for id in firstID..<nextID { try tree.add(value, of: id) }
        try tree.finish()
      case .keys(let keys) where !keys.isMixed:
        let hasEqual = try keys.drain { value, id in try tree.add(value, of: id) }
        if place == idIndex { mayHaveDoubles = hasEqual }
        try tree.finish()
      case .keys(let keys):
        keys.forget()
        left.append(entry.name)
      case .bySQLite: left.append(entry.name)
      }
    }
    try commit()
    try connection.transaction {
      try connection.run("DELETE FROM sqlite_sequence WHERE name = \(soup.table)")
      try connection.run("INSERT INTO sqlite_sequence VALUES (\(soup.table), \(nextID - 1))")
    }
    for name in left { try connection.execute("REINDEX \(name)") }
    return mayHaveDoubles
      ? try Doubles(store, soup, idColumn: idColumn, modificationPath: modificationPath).remove()
      : 0
  }

  /// The trees are laid over what is there: rows that somebody else wrote meanwhile would be lost.
  private func refuseOtherRows() throws {
    let row = try connection.integer("SELECT 1 FROM \(raw: soup.table) LIMIT 1")
    guard row == nil, try store.nextID(of: soup) == firstID else {
      throw StoreError.database(
        path: store.path, code: 21,
        message: "soup \"\(soup.name)\" was written while a load laid down its pages")
    }
  }

  /// A row on its way into a record of SQLite's.
  private struct Row {
    private var values: [StoredValue] = []
    /// Texts that stand in no page, and which of the values they are.
    private var texts: [UInt8] = []
    private var own: [(value: Int, range: Range<Int>)] = []
    private var types: [UInt8] = []
    private var record: [UInt8] = []
    private var element = UnsafeRawBufferPointer(start: nil, count: 0)
    private var now = StoredValue.null

    mutating func begin(_ element: UnsafeRawBufferPointer, now: Int64) {
      values.removeAll(keepingCapacity: true)
      texts.removeAll(keepingCapacity: true)
      own.removeAll(keepingCapacity: true)
      self.element = element
      self.now = .integer(now)
    }

    @inline(__always)
    mutating func add(_ value: StoredValue) { values.append(value) }

    mutating func add(_ bound: SQLiteValue, _ type: IndexType, _ affinity: ColumnAffinity) throws {
      let (value, text) = try affinity.stored(bound, in: type, &texts)
      if let text { own.append((values.count, text)) }
      values.append(value)
    }

    /// Hands over the values of the cells and the whole record.
    mutating func finish(_ body: ([StoredValue], [UInt8]) throws -> Void) throws {
      let texts = self.texts
      try texts.withUnsafeBytes { texts in
        for text in own {
          values[text.value] = .text(UnsafeRawBufferPointer(rebasing: texts[text.range]))
        }
        // The id is the row's own and stands as NULL; then the element, `created`, `lastModified`.
        types.removeAll(keepingCapacity: true)
        types.append(0)
        StoredValue.text(element).appendType(to: &types)
        now.appendType(to: &types)
        now.appendType(to: &types)
        for value in values { value.appendType(to: &types) }
        record.removeAll(keepingCapacity: true)
        // The head's length counts itself.
        record.append(varint: UInt64(types.count + (types.count < 127 ? 1 : 2)))
        record.append(contentsOf: types)
        record.append(contentsOf: element)
        now.appendBody(to: &record)
        now.appendBody(to: &record)
        for value in values { value.appendBody(to: &record) }
        try body(values, record)
      }
    }
  }
}
