import JSON
import SQLite

/// Appends records to an empty soup by writing the pages of its table and indexes, bottom-up.
///
/// SQLite has created the schema, and creates the full-text table and indexes with expressions. It
/// learns of the other pages at the end: until then the soup is empty for all readers.
///
/// A row is written once: from the org's page to its place on the table's leaf. Its keys are
/// collected in `KeyRuns`, except for those that all rows have in common, as their IDs are known.
/// At the end, the table's last pages are written, then the indexes with a single value, then the
/// others (`KeyGroup`).
final class PageInsertWriter: BulkWriter {
  /// An index of the soup and the source of its keys.
  private enum Index {
    /// All keys have the same value.
    case constant(StoredValue)
    /// The keys of the cell at an index.
    case keys(Int)
    /// SQLite creates it from the table.
    case bySQLite
  }

  /// The destinations of a cell's keys: those that all stores have in common, and the store's own.
  private struct Keys {
    let cell: Int
    let column: KeyGroup.Column
    let own: KeyRuns
    let isReal: Bool
  }

  let store: Store
  let connection: Connection
  private let soup: Soup
  private let cells: [RecordPlan.Cell]
  private let idColumn: String
  private let modificationPath: String
  private let words: WordWriter?
  private let file: PageFile
  private let table: TableTree
  private let affinity = ColumnAffinity()
  private let indexes: [(name: String, root: UInt32, index: Index)]
  private let keys: [Keys]
  /// The stores that are loaded together; the writer of the first one collects the common keys.
  private let group: KeyGroup
  private let collects: Bool
  /// The position of the ID in `indexes`.
  private let idIndex: Int?
  private let firstID: Int64
  private var nextID: Int64
  private let now: Int64
  /// The texts among the constants.
  private let constantTexts: UnsafeMutableRawBufferPointer
  private var row: PageRow
  private var tail: ElementTail
  /// The indexes that SQLite must create from the table.
  private var left: [String] = []
  private var isLaid = false
  /// The cells for which the store may have its own keys in addition to the common ones.
  private var mayHaveOwn: [Int] = []
  /// The texts of a row that are not in the page.
  private var texts: [UInt8] = []
  private var textRoom = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 8)

  /// Creates a writer; nil if the file or the soup is not as attache creates them.
  init?(
    _ store: Store, _ soup: Soup, plan: RecordPlan, composer: ElementComposer, idColumn: String,
    groups: inout [KeyGroup]
  ) throws {
    self.store = store
    connection = store.connection
    self.soup = soup
    self.idColumn = idColumn
    modificationPath = plan.options.modificationPath
    now = plan.options.now
    let cells = plan.cells(of: soup, on: store.platform)
    self.cells = cells
    guard !connection.inTransaction, let roots = try Self.roots(of: soup, in: store),
      let tableRoot = roots[soup.table], let file = try PageFile(store.path),
      try Self.areEmpty(roots, in: file, table: tableRoot)
    else { return nil }
    self.file = file
    table = TableTree(file, root: tableRoot)
    let (constants, texts) = try Self.constants(cells, affinity)
    constantTexts = texts
    row = PageRow(cells, constants, now: plan.options.now, platform: store.platform)
    tail = ElementTail(composer)
    firstID = try store.nextID(of: soup)
    nextID = firstID
    let place = Self.join(&groups, store, firstID)
    group = place.group
    collects = place.isFirst
    keys = Self.keys(cells, constants, place.group, beside: store.path, plan.options.keyRoom)
    var indexes: [(name: String, root: UInt32, index: Index)] = []
    for (offset, made) in store.layout.createIndexes(soup).enumerated() {
      guard let root = roots[made.name] else { return nil }
      let index: Index
      if offset < 2 {
        index = .constant(.integer(plan.options.now))
      } else if let cell = cells.firstIndex(where: { $0.column.position == offset - 2 }) {
        index = constants[cell].map { .constant($0) } ?? .keys(cell)
      } else {
        index = .bySQLite
      }
      indexes.append((made.name, root, index))
    }
    self.indexes = indexes
    idIndex = soup.columnNames.firstIndex(of: idColumn).map { $0 + 2 }
    words = try WordWriter(store, soup, cells)
  }

  deinit {
    constantTexts.deallocate()
    textRoom.deallocate()
    row.free()
    tail.free()
  }

  /// Stores of a load that continue from the same ID form a group.
  private static func join(
    _ groups: inout [KeyGroup], _ store: Store, _ firstID: Int64
  ) -> (group: KeyGroup, isFirst: Bool) {
    for group in groups where group.firstID == firstID {
      if let place = group.join(store) { return (group, place == 0) }
    }
    let group = KeyGroup(firstID: firstID)
    _ = group.join(store)
    groups.append(group)
    return (group, true)
  }

  private static func keys(
    _ cells: [RecordPlan.Cell], _ constants: [StoredValue?], _ group: KeyGroup,
    beside path: String, _ room: Int
  ) -> [Keys] {
    var names: [String: Int] = [:]
    return cells.indices.compactMap { index in
      guard constants[index] == nil else { return nil }
      let spec = cells[index].column.spec
      let isReal = spec.type == .floating
      let name = "\(spec.type) \(spec.path)"
      names[name, default: 0] += 1
      func runs() -> KeyRuns { KeyRuns(beside: path, isReal: isReal, room: room) }
      return Keys(
        cell: index, column: group.column("\(name) \(names[name, default: 0])", runs),
        own: runs(), isReal: isReal)
    }
  }

  /// Whether the table and its indexes are empty and each has its own first page.
  private static func areEmpty(
    _ roots: [String: UInt32], in file: PageFile, table: UInt32
  ) throws -> Bool {
    guard Set(roots.values).count == roots.count else { return false }
    return try roots.values.allSatisfy { try file.isEmptyRoot($0, isTable: $0 == table) }
  }

  /// The stored values that all records have in common, and their texts.
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

  /// The first pages of the soup's table and indexes; nil if an object on the table is not as
  /// attache creates it.
  ///
  /// A name alone does not show which column an index is on.
  private static func roots(of soup: Soup, in store: Store) throws -> [String: UInt32]? {
    var made = [soup.table: store.layout.createTable(soup)]
    for index in store.layout.createIndexes(soup) { made[index.name] = index.sql }
    var roots: [String: UInt32] = [:]
    let objects = try store.connection.all(
      "SELECT name, rootpage, sql FROM sqlite_schema WHERE tbl_name = \(soup.table)")
    for object in objects {
      guard let name = object[0].text, let sql = made[name], object[2].text == sql,
        let root = object[1].integer.flatMap({ UInt32(exactly: $0) }), root > 1
      else { return nil }
      roots[name] = root
    }
    return roots.count == made.count ? roots : nil
  }

  var nextColdID: Int64? { nextID }

  // Called between two transactions of SQLite; none may be open.
  func begin() throws {
    try refuseTransaction()
    try file.begin()
  }

  private func refuseTransaction() throws {
    guard !connection.inTransaction else {
      throw StoreError.database(
        path: store.path, code: 21, message: "pages cannot be written in a transaction")
    }
  }

  func commit() throws { try file.end() }

  func abandon() {}

  func write(_ batch: RecordBatch) throws -> BulkLoader.Counts {
    try refuseTransaction()
    try append(batch)
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

  private func append(_ batch: RecordBatch) throws {
    let row = self.row
    let tail = self.tail
    let isAlone = group.count == 1
    tail.begin(nextID)
    for record in 0..<batch.count {
      let id = nextID + Int64(record)
      if try !row.take(record, of: batch, isAlone: isAlone) {
        try takeSlowly(record, batch, id, isAlone: isAlone)
      }
      try batch.withBody(record) { body in
        let rest = tail.behind(body)
        let size = row.measure(body.count + rest.count)
        if let place = try table.add(id, recordOf: size) {
          row.write(body, rest, to: place)
        } else {
          let long = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
          defer { long.deallocate() }
          if let place = long.baseAddress { row.write(body, rest, to: place) }
          try table.add(id, long: UnsafeRawBufferPointer(long))
        }
      }
      for keys in keys {
        if row.isOwn(keys.cell) {
          try keys.own.add(row.value(keys.cell), id)
        } else if collects {
          try keys.column.keys.add(row.value(keys.cell), id)
        }
      }
      tail.advance()
    }
  }

  /// Takes the values of a record that need conversion.
  private func takeSlowly(
    _ record: Int, _ batch: RecordBatch, _ id: Int64, isAlone: Bool
  ) throws {
    texts.removeAll(keepingCapacity: true)
    var own: [(cell: Int, range: Range<Int>)] = []
    for (index, cell) in cells.enumerated() {
      let bound: SQLiteValue
      var isOwn = !isAlone
      switch cell.source {
      case .constant: continue
      case .soupEntryID:
        bound = IndexValue.bound(number: String(id), type: cell.type, platform: store.platform)
      case .field(let slot):
        let span = batch.field(record, slot)
        if row.isPlain(span, index) { continue }
        isOwn = isOwn && !PageRow.isCommon(span, batch, cell.type)
        bound = try batch.value(
          record, slot: slot, type: cell.type, path: cell.column.spec.path,
          platform: store.platform)
      }
      let (value, text) = try affinity.stored(bound, in: cell.type, &texts)
      if let text { own.append((index, text)) }
      row.set(value, index, isOwn: isOwn)
    }
    guard !own.isEmpty else { return }
    // Adding texts may move the buffer, so their positions are set now.
    if texts.count > textRoom.count {
      textRoom.deallocate()
      textRoom = .allocate(byteCount: texts.count * 2, alignment: 8)
    }
    textRoom.copyBytes(from: texts)
    for text in own {
      row.set(.text(UnsafeRawBufferPointer(rebasing: textRoom[text.range])), text.cell)
    }
  }

  func beginFinish() throws {
    guard nextID > firstID else { return }
    try refuseOtherRows()
    try begin()
    try table.finish()
    for entry in indexes {
      switch entry.index {
      case .constant(let value):
        let tree = IndexTree(file, root: entry.root)
        try tree.add(value, of: firstID..<nextID)
        try tree.finish()
      case .keys: continue
      case .bySQLite: left.append(entry.name)
      }
    }
    isLaid = true
  }

  /// Writes the remaining indexes of all writers together.
  static func layKeys(_ writers: [any BulkWriter], _ groups: [KeyGroup]) throws {
    let all = writers.compactMap { $0 as? PageInsertWriter }
    for group in groups { try group.lay(all.filter { $0.group === group }) }
  }

  /// The laying of a column's index; nil if there is none, or SQLite must create it.
  func laying(of column: KeyGroup.Column) throws -> KeyLaying? {
    guard isLaid, let keys = keys.first(where: { $0.column === column }) else { return nil }
    for entry in indexes {
      guard case .keys(keys.cell) = entry.index else { continue }
      if column.keys.isMixed || keys.own.isMixed {
        left.append(entry.name)
        return nil
      }
      return KeyLaying(
        IndexTree(file, root: entry.root), isReal: keys.isReal,
        own: keys.own.isEmpty ? nil : try keys.own.merged())
    }
    return nil
  }

  /// Discards the store's own keys of a column after they were written.
  func forget(_ column: KeyGroup.Column) {
    for keys in keys where keys.column === column {
      if !keys.own.isEmpty { mayHaveOwn.append(keys.cell) }
      keys.own.forget()
    }
  }

  func finish() throws -> Int {
    guard isLaid else { return 0 }
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

  /// Whether two rows may have the same ID, as far as the ID's index shows.
  private var mayHaveDoubles: Bool {
    guard let idIndex, case .keys(let cell) = indexes[idIndex].index,
      !left.contains(indexes[idIndex].name), let keys = keys.first(where: { $0.cell == cell })
    else { return true }
    return keys.column.hasEqual || mayHaveOwn.contains(cell)
  }

  /// The trees overwrite existing pages, so rows that others wrote meanwhile would be lost.
  private func refuseOtherRows() throws {
    let row = try connection.integer("SELECT 1 FROM \(raw: soup.table) LIMIT 1")
    guard row == nil, try store.nextID(of: soup) == firstID else {
      throw StoreError.database(
        path: store.path, code: 21,
        message: "soup \"\(soup.name)\" was modified while a load was writing its pages")
    }
  }
}
