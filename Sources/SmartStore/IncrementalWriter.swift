import JSON
import SQLite

/// Replaces and adds elements in a soup that has some.
///
/// Unchanged elements are not written.
final class IncrementalWriter: BulkWriter {
  let store: Store
  let connection: Connection
  private let soup: Soup
  private let skip: Set<String>
  private let cells: [RecordPlan.Cell]
  private let composer: ElementComposer
  private let options: BulkLoader.Options
  private let lookup: Statement
  private let idType: IndexType
  private var updates: [UInt64: Statement] = [:]
  private let insert: Statement
  private let insertWords: Statement?
  private let updateWords: Statement?
  private var scratch: [UInt8] = []
  /// The size of the page cache.
  private static let cacheKiB = 24 << 10
  /// Means all columns if there are more than bits.
  private static let allColumns = UInt64.max

  /// A row to replace.
  private struct Change {
    let id: Int64
    var record: Int
    var columns: UInt64
  }

  init(
    _ destination: BulkLoader.Destination, _ soup: Soup, plan: RecordPlan,
    composer: ElementComposer, idColumn: String
  ) throws {
    store = destination.store
    connection = store.connection
    skip = destination.skip
    idType = store.idType(of: soup, at: plan.options.idPath)
    self.soup = soup
    self.composer = composer
    options = plan.options
    cells = plan.cells(of: soup, on: store.platform)
    // Data that a user has lost access to must not remain in free space. The changes of many pages
    // affect the same pages of the indexes.
    try connection.execute(
      "PRAGMA secure_delete = ON; PRAGMA cache_size = -\(Self.cacheKiB)")
    let names = cells.map(\.column.name)
    lookup = try connection.prepare(
      "SELECT " + (["id", "lastModified", "soup"] + names).joined(separator: ", ")
        + " FROM \(soup.table) WHERE \(idColumn) = ?")
    insert = try connection.prepare(
      "INSERT INTO \(soup.table) ("
        + (["id", "soup", "created", "lastModified"] + names).joined(separator: ", ")
        + ") VALUES (?, ?, \(options.now), \(options.now)"
        + String(repeating: ", ?", count: names.count) + ")")
    let words = soup.fullTextColumns.map(\.name)
    insertWords =
      words.isEmpty
      ? nil
      : try connection.prepare(
        "INSERT INTO \(soup.fullTextTable) (rowid, \(words.joined(separator: ", "))) VALUES (?"
          + String(repeating: ", ?", count: words.count) + ")")
    updateWords =
      words.isEmpty
      ? nil
      : try connection.prepare(
        "UPDATE \(soup.fullTextTable) SET "
          + words.map { "\($0) = ?" }.joined(separator: ", ") + " WHERE rowid = ?")
  }

  var nextColdID: Int64? { nil }

  func write(_ batch: RecordBatch) throws -> BulkLoader.Counts {
    var counts = BulkLoader.Counts()
    var changes: [Change] = []
    var changePlaces: [Int64: Int] = [:]
    var additions: [Int] = []
    var additionPlaces: [String: Int] = [:]
    for record in 0..<batch.count {
      if !skip.isEmpty, try skip.contains(batch.id(record, in: store, idType)) {
        counts.skipped += 1
        continue
      }
      switch try find(record, batch, &counts) {
      case .unchanged: counts.unchanged += 1
      case .older: counts.doubles += 1
      case .changed(let change):
        if let place = changePlaces[change.id] {
          counts.doubles += 1
          if !isEarlier(batch, record, than: changes[place].record) { changes[place] = change }
        } else {
          changePlaces[change.id] = changes.count
          changes.append(change)
        }
      case .absent:
        let id = try batch.id(record, in: store, idType)
        if let place = additionPlaces[id] {
          counts.doubles += 1
          if !isEarlier(batch, record, than: additions[place]) { additions[place] = record }
        } else {
          additionPlaces[id] = additions.count
          additions.append(record)
        }
      }
    }
    changes.sort { $0.id < $1.id }
    for change in changes { try apply(change, batch) }
    try add(additions, batch)
    counts.updated = changes.count
    counts.inserted = additions.count
    return counts
  }

  func finish() throws -> Int { 0 }

  // MARK: existing elements

  private enum Comparison {
    case unchanged, older, absent
    case changed(Change)
  }

  private func find(
    _ record: Int, _ batch: RecordBatch, _ counts: inout BulkLoader.Counts
  ) throws -> Comparison {
    if let value = batch.idValue(record, in: store, idType) {
      try lookup.bind(1, value)
    } else {
      try lookup.bind(1, bytes: batch.bytes(batch.field(record, RecordPlan.id)))
    }
    defer { lookup.reset() }
    guard try lookup.step() else { return .absent }
    let id = lookup.columnInteger(0)
    let wasWrittenByThisRun = lookup.columnInteger(1) == options.now
    let stored = lookup.columnBytes(2)
    if batch.withBody(record, { composer.isUnchanged(stored, $0, id: id) }) { return .unchanged }
    if wasWrittenByThisRun, try isEarlier(batch, record, than: stored) { return .older }
    if wasWrittenByThisRun { counts.doubles += 1 }
    let columns = try changedColumns(record, batch, id: id)
    var others: [Int64] = []
    while try lookup.step() { others.append(lookup.columnInteger(0)) }
    if !others.isEmpty {
      // A device fails on two elements with the same ID.
      lookup.reset()
      try store.delete(others, from: soup)
      counts.doubles += others.count
    }
    return .changed(Change(id: id, record: record, columns: columns))
  }

  /// Whether a record is older than the element that this run stored for the same ID.
  private func isEarlier(
    _ batch: RecordBatch, _ record: Int, than stored: UnsafeRawBufferPointer
  ) throws -> Bool {
    let text = String(decoding: stored, as: UTF8.self)
    return !ElementDate.stays(
      date(batch, record), over: try ElementDate.of(text, at: options.modificationPath))
  }

  private func isEarlier(_ batch: RecordBatch, _ record: Int, than other: Int) -> Bool {
    !ElementDate.stays(date(batch, record), over: date(batch, other))
  }

  private func date(_ batch: RecordBatch, _ record: Int) -> String {
    let span = batch.field(record, RecordPlan.modification)
    return span.kind == .string ? String(decoding: batch.bytes(span), as: UTF8.self) : ""
  }

  private func changedColumns(
    _ record: Int, _ batch: RecordBatch, id: Int64
  ) throws -> UInt64 {
    guard cells.count < 64 else { return Self.allColumns }
    var columns: UInt64 = 0
    for (index, cell) in cells.enumerated() {
      if try value(of: cell, record, batch, id: id) != lookup.column(Int32(index + 3)) {
        columns |= 1 << UInt64(index)
      }
    }
    return columns
  }

  private func value(
    of cell: RecordPlan.Cell, _ record: Int, _ batch: RecordBatch, id: Int64
  ) throws -> SQLiteValue {
    switch cell.source {
    case .constant(let value): value
    case .soupEntryID:
      IndexValue.bound(number: String(id), type: cell.type, platform: store.platform)
    case .field(let slot):
      try batch.value(
        record, slot: slot, type: cell.type, path: cell.column.spec.path,
        platform: store.platform)
    }
  }

  // MARK: writing

  private func apply(_ change: Change, _ batch: RecordBatch) throws {
    let statement = try update(of: change.columns)
    compose(change.record, batch, id: change.id)
    try scratch.withUnsafeBytes { element in
      try statement.bind(1, bytes: element)
      var place: Int32 = 2
      for (index, cell) in cells.enumerated() where includes(change.columns, index) {
        try statement.bind(place, value(of: cell, change.record, batch, id: change.id))
        place += 1
      }
      try statement.bind(place, change.id)
      try statement.execute()
    }
    let touchesWords = cells.indices.contains {
      cells[$0].type == .fullText && includes(change.columns, $0)
    }
    guard touchesWords, let updateWords else { return }
    let place = try bindWords(updateWords, from: 1, change.record, batch, id: change.id)
    try updateWords.bind(place, change.id)
    try updateWords.execute()
    store.markFullTextStale(soup)
  }

  private func add(_ records: [Int], _ batch: RecordBatch) throws {
    guard !records.isEmpty else { return }
    var id = try store.nextID(of: soup)
    for record in records {
      compose(record, batch, id: id)
      try scratch.withUnsafeBytes { element in
        try insert.bind(1, id)
        try insert.bind(2, bytes: element)
        for (index, cell) in cells.enumerated() {
          try insert.bind(Int32(index + 3), value(of: cell, record, batch, id: id))
        }
        try insert.execute()
      }
      if let insertWords {
        try insertWords.bind(1, id)
        _ = try bindWords(insertWords, from: 2, record, batch, id: id)
        try insertWords.execute()
      }
      id += 1
    }
  }

  private func compose(_ record: Int, _ batch: RecordBatch, id: Int64) {
    scratch.removeAll(keepingCapacity: true)
    batch.withBody(record) { composer.append($0, id: id, to: &scratch) }
  }

  private func bindWords(
    _ statement: Statement, from first: Int32, _ record: Int, _ batch: RecordBatch, id: Int64
  ) throws -> Int32 {
    var place = first
    for cell in cells where cell.type == .fullText {
      try statement.bind(place, value(of: cell, record, batch, id: id))
      place += 1
    }
    return place
  }

  private func includes(_ columns: UInt64, _ index: Int) -> Bool {
    columns == Self.allColumns || columns & (1 << UInt64(index)) != 0
  }

  /// The statement that sets the element and these columns.
  private func update(of columns: UInt64) throws -> Statement {
    if let known = updates[columns] { return known }
    let names = cells.indices.filter { includes(columns, $0) }.map { cells[$0].column.name }
    let assignments =
      ["soup = ?", "lastModified = \(options.now)"] + names.map { "\($0) = ?" }
    let statement = try store.connection.prepare(
      "UPDATE \(soup.table) SET \(assignments.joined(separator: ", ")) WHERE id = ?")
    updates[columns] = statement
    return statement
  }
}
