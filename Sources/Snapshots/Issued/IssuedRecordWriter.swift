import JSON
import MobileSync
import SQLite
import SmartStore
import System

/// Writes the records that a generation issues to a new file, soup by soup.
///
/// The rows of a batch are collected in one buffer and bound from there to one statement. There is
/// no journal, as the file has a temporary name until it is complete.
package final class IssuedRecordWriter {
  /// A waiting row: positions in `buffer`.
  private struct Row {
    let soup: Int64
    let id: Range<Int>
    let modified: Range<Int>?
    let lastModified: Int64?
    let fields: Range<Int>
  }

  private let path: String
  private let temporary: String
  private let connection: Connection
  private let one: Statement
  private let many: Statement
  private var soups: [String: Int64]
  private var buffer: [UInt8] = []
  private var rows: [Row] = []
  private let isIndexed: Bool
  private var isFinished = false
  /// The number of added records.
  package private(set) var count = 0
  /// The number of statements run for them.
  package private(set) var statements = 0

  /// The number of rows per INSERT.
  private static let rowsPerStatement = 32
  private static let columns: Int32 = 6
  /// The number of bytes after which rows no longer wait.
  private static let bytesPerBatch = 1 << 20

  /// Starts a file that gets its name, `path`, when it is finished.
  ///
  /// It starts empty, or for `renew` with the content of `previous`. If an ID `repeats` in a soup,
  /// the record with the later date is kept.
  package init(
    path: String, renewing previous: String? = nil, repeats: Bool = false
  ) throws(SnapshotError) {
    self.path = path
    let temporary = DurableFile.temporaryName(for: path)
    self.temporary = temporary
    let (isRenewal, isIndexed) = (previous != nil, previous != nil || repeats)
    let clause = repeats ? IssuedRecordFile.keepingLater : IssuedRecordFile.replacing
    (connection, soups, one, many) = try SnapshotError.mapping {
      try Files.makeDirectory(Files.parent(of: path) ?? ".")
      do {
        let (connection, soups) = try Self.open(temporary, previous)
        if !isRenewal, isIndexed { try connection.execute(IssuedRecordFile.index) }
        let onConflict = isIndexed ? clause : ""
        return (
          connection, soups, try Self.insert(connection, rows: 1, onConflict),
          try Self.insert(connection, rows: Self.rowsPerStatement, onConflict)
        )
      } catch {
        try? Files.remove(temporary)
        throw isRenewal ? IssuedRecordFile.readable(error, path) : error
      }
    }
    self.isIndexed = isIndexed
  }

  /// Creates and opens the file, with the numbers of its soups.
  private static func open(
    _ temporary: String, _ previous: String?
  ) throws -> (Connection, [String: Int64]) {
    var soups: [String: Int64] = [:]
    if let previous {
      try Files.copy(previous, to: temporary, forgettingSource: true)
    } else {
      _ = try Files.createNew(temporary)
    }
    let connection = try Connection(temporary)
    try begin(connection, isNew: previous == nil)
    if previous != nil {
      for (number, name) in try IssuedRecordFile.soups(of: connection) { soups[name] = number }
    }
    return (connection, soups)
  }

  private static func begin(_ connection: Connection, isNew: Bool) throws {
    if isNew { try connection.execute("PRAGMA page_size = \(IssuedRecordFile.pageBytes)") }
    try connection.execute(
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE; BEGIN;"
    )
    guard isNew else { return }
    try connection.execute(
      "PRAGMA application_id = \(IssuedRecordFile.applicationID);"
        + "PRAGMA user_version = \(IssuedRecordFile.version);" + IssuedRecordFile.tables)
  }

  deinit {
    if isFinished { return }
    connection.close()
    try? Files.remove(temporary)
  }

  private static func insert(
    _ connection: Connection, rows: Int, _ onConflict: String
  ) throws -> Statement {
    try connection.prepare(
      "INSERT INTO issued (soup, id, modified, last_modified, fields, checksum) VALUES "
        + repeatElement("(?, ?, ?, ?, ?, ?)", count: rows).joined(separator: ", ")
        + onConflict)
  }

  // MARK: records

  /// Adds a record; its ID must be unique in its soup.
  package func append(_ record: IssuedRecord) throws(SnapshotError) {
    let soup = try number(of: record.soup)
    let start = buffer.count
    buffer.append(contentsOf: record.id.utf8)
    let id = start..<buffer.count
    var modified: Range<Int>?
    if let text = record.modified {
      buffer.append(contentsOf: text.utf8)
      modified = id.upperBound..<buffer.count
    }
    let end = buffer.count
    buffer.append(contentsOf: record.fields)
    try add(
      Row(
        soup: soup, id: id, modified: modified, lastModified: record.lastModified,
        fields: end..<buffer.count))
  }

  /// The number of a soup in the rows.
  private func number(of soup: String) throws(SnapshotError) -> Int64 {
    if let known = soups[soup] { return known }
    let number = Int64(soups.count)
    try SnapshotError.mapping {
      try connection.run("INSERT INTO soup (number, name) VALUES (\(number), \(soup))")
    }
    statements += 1
    soups[soup] = number
    return number
  }

  private func add(_ row: Row) throws(SnapshotError) {
    rows.append(row)
    count += 1
    if rows.count == Self.rowsPerStatement || buffer.count > Self.bytesPerBatch { try flush() }
  }

  private func flush() throws(SnapshotError) {
    try SnapshotError.mapping {
      try buffer.withUnsafeBytes { bytes in
        if rows.count == Self.rowsPerStatement {
          try bind(rows, bytes, to: many)
        } else {
          for row in rows { try bind([row], bytes, to: one) }
        }
      }
    }
    rows.removeAll(keepingCapacity: true)
    buffer.removeAll(keepingCapacity: true)
  }

  private func bind(
    _ rows: [Row], _ bytes: UnsafeRawBufferPointer, to statement: Statement
  ) throws(SQLiteError) {
    func piece(_ range: Range<Int>) -> UnsafeRawBufferPointer {
      UnsafeRawBufferPointer(rebasing: bytes[range])
    }
    var place: Int32 = 1
    for row in rows {
      try statement.bind(place, row.soup)
      try statement.bind(place + 1, bytes: piece(row.id))
      if let modified = row.modified {
        try statement.bind(place + 2, bytes: piece(modified))
      } else {
        try statement.bindNull(place + 2)
      }
      if let lastModified = row.lastModified {
        try statement.bind(place + 3, lastModified)
      } else {
        try statement.bindNull(place + 3)
      }
      try statement.bind(place + 4, bytes: piece(row.fields))
      let checksum = IssuedRecordFile.checksum(
        soup: row.soup, lastModified: row.lastModified,
        texts: (row.id.count, row.modified?.count, row.fields.count),
        bytes: piece(row.id.lowerBound..<row.fields.upperBound))
      try statement.bind(place + 5, checksum)
      place += Self.columns
    }
    try statement.execute()
    statements += 1
  }

  /// Creates the index and gives the file its name, durably.
  package func finish() throws(SnapshotError) {
    try flush()
    do {
      if !isIndexed { try connection.execute(IssuedRecordFile.index) }
      try connection.execute("COMMIT")
    } catch  where error.isOfTheValues {
      throw .invalid("\(path) was given two records with the same soup and ID")
    } catch {
      throw .database(error)
    }
    connection.close()
    try SnapshotError.mapping { try DurableFile.rename(temporary, to: path) }
    isFinished = true
  }
}

extension IssuedRecordWriter {
  /// The part of a soup that is stored.
  package struct SoupFields: Sendable, Hashable {
    package var soup: String
    /// The soup's key in the file, if it differs from its name.
    package var key: String
    /// The path of the record's ID.
    package var idPath: String
    /// The path of the server's modification date.
    package var modificationPath: String
    /// The fields of the syncs.
    package var fields: [String]

    package init(
      soup: String, key: String? = nil, fields: [String],
      idPath: String = TargetFields().idFieldName,
      modificationPath: String = TargetFields().modificationDateFieldName
    ) {
      self.soup = soup
      self.key = key ?? soup
      self.fields = fields
      self.idPath = idPath
      self.modificationPath = modificationPath
    }
  }

  /// Adds all records of a soup in a store, in the order of their rows and without parsing them
  /// into trees.
  package func append(_ choice: SoupFields, of store: Store) throws(SnapshotError) {
    try append(choice, of: store, .all)
  }

  private func append(
    _ choice: SoupFields, of store: Store, _ filter: ElementFilter
  ) throws(SnapshotError) {
    let paths = [choice.idPath, choice.modificationPath] + choice.fields
    // The text before each value, written once.
    let names = choice.fields.map { name in
      var bytes: [UInt8] = [0x2C]
      JSONText.appendQuoted(name, to: &bytes)
      bytes.append(0x3A)
      return bytes
    }
    let soup = try number(of: choice.key)
    try SnapshotError.mapping {
      guard try store.hasSoup(choice.soup) else { return }
      try store.forEachElement(in: choice.soup, paths: paths, filter) { element in
        if let row = Self.write(element, names, soup, to: &buffer) { try add(row) }
      }
    }
  }

  /// Adds a record to the waiting ones; nil for an element without an ID.
  private static func write(
    _ element: borrowing StoredElement, _ names: [[UInt8]], _ soup: Int64,
    to buffer: inout [UInt8]
  ) -> Row? {
    let start = buffer.count
    guard appendText(0, of: element, to: &buffer) else { return nil }
    let id = start..<buffer.count
    let isDated = appendText(1, of: element, to: &buffer)
    let end = buffer.count
    appendObject(names, of: element, to: &buffer)
    return Row(
      soup: soup, id: id, modified: isDated ? id.upperBound..<end : nil,
      lastModified: element.lastModified, fields: end..<buffer.count)
  }

  /// Appends the text of a member; returns false if the member is not text.
  private static func appendText(
    _ index: Int, of element: borrowing StoredElement, to buffer: inout [UInt8]
  ) -> Bool {
    if element.fields[index].kind == .string {
      buffer.append(contentsOf: element.raw(index))
      return true
    }
    guard let text = element.text(index) else { return false }
    buffer.append(contentsOf: text.utf8)
    return true
  }

  /// Appends an object with the existing fields and the element's own bytes as values.
  private static func appendObject(
    _ names: [[UInt8]], of element: borrowing StoredElement, to buffer: inout [UInt8]
  ) {
    let start = buffer.count
    for index in names.indices {
      let kind = element.fields[2 + index].kind
      if kind == .missing { continue }
      buffer.append(contentsOf: names[index])
      let isText = kind == .string || kind == .escapedString
      if isText { buffer.append(0x22) }
      buffer.append(contentsOf: element.raw(2 + index))
      if isText { buffer.append(0x22) }
    }
    // The first comma becomes the brace.
    if buffer.count > start { buffer[start] = 0x7B } else { buffer.append(0x7B) }
    buffer.append(0x7D)
  }
}

extension IssuedRecordWriter {
  /// If more than one in this number of a soup's records has changed, all are written again.
  private static let share = 4

  /// Updates the file from a store, if the file has the content of an earlier version of the store.
  ///
  /// Records whose rows were written since a time of the store's clock are replaced, and records
  /// whose rows are gone are removed.
  ///
  /// Returns false if writing all records would be no more work, or if the result does not match
  /// the store. The file must then be discarded.
  package func renew(
    _ choice: SoupFields, of store: Store, since: Int64
  ) throws(SnapshotError) -> Bool {
    let known = soups[choice.key]
    guard try SnapshotError.mapping({ try store.hasSoup(choice.soup) }) else { return known == nil }
    let (all, changed) = try SnapshotError.mapping {
      (
        try store.count(of: choice.soup, .all),
        try store.count(of: choice.soup, .written(since: since))
      )
    }
    guard let known, changed * Self.share <= all else { return false }
    try append(choice, of: store, .written(since: since))
    try flush()
    if try count(of: known) == all { return true }
    try removeLost(choice, known, of: store)
    return try count(of: known) == all
  }

  private func count(of soup: Int64) throws(SnapshotError) -> Int {
    try SnapshotError.mapping {
      Int(try connection.integer("SELECT count(*) FROM issued WHERE soup = \(soup)") ?? 0)
    }
  }

  /// Removes the records that the store no longer has.
  private func removeLost(
    _ choice: SoupFields, _ soup: Int64, of store: Store
  ) throws(SnapshotError) {
    try SnapshotError.mapping {
      var held = RecordIDSet()
      try store.forEachValue(of: choice.idPath, in: choice.soup) { held.insert($1) }
      var lost: [String] = []
      try connection.rows("SELECT id FROM issued WHERE soup = \(soup)") { row in
        let id = row.bytes(0)
        if !held.contains(id) { lost.append(String(decoding: id, as: UTF8.self)) }
      }
      for id in lost {
        try connection.run("DELETE FROM issued WHERE id = \(id) AND soup = \(soup)")
      }
    }
  }
}
