import SQLite

/// A statement of which only some pages were read.
struct Cursor {
  var id: String
  let userID: String
  let soql: String
  let includeDeleted: Bool
  let total: Int
  /// The subquery of the statement: indexes joined by dots, empty for none.
  var path = ""
  /// The cursor to whose pages it belongs, empty for none.
  var outer = ""
}

/// The lists of records behind locators; any page of a list can be read any number of times.
struct Cursors {
  let store: OrgStore
  private static let chunk = 2000
  /// The maximum number of unfinished cursors per user; the oldest is closed.
  private static let openLimit = 10
  /// The maximum number of cursors kept, and separately of subquery cursors.
  private static let keepLimit = 64
  private static let nestedKeepLimit = 4000
  /// How long a locator is valid: two days.
  private static let keptMilliseconds: Int64 = 48 * 3_600_000

  static func makeTables(_ connection: Connection) throws {
    try connection.execute(
      """
      CREATE TABLE IF NOT EXISTS cursor (
        id TEXT PRIMARY KEY, user TEXT NOT NULL, soql TEXT NOT NULL, deleted INTEGER NOT NULL,
        total INTEGER NOT NULL, finished INTEGER NOT NULL, path TEXT NOT NULL,
        outer TEXT NOT NULL, created INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS cursor_chunk (
        cursor TEXT NOT NULL, n INTEGER NOT NULL, sequences BLOB NOT NULL, PRIMARY KEY (cursor, n)
      );
      """)
  }

  func newID() -> String { OrgID.make(prefix: "0r8", sequence: store.nextSequence("0r8")) }

  func save(_ cursor: Cursor, _ sequences: [Int64]) throws {
    try store.connection.run(
      """
      INSERT INTO cursor (id, user, soql, deleted, total, finished, path, outer, created) VALUES (\(cursor.id), \
      \(cursor.userID), \(cursor.soql), \(cursor.includeDeleted), \(cursor.total), 0, \
      \(cursor.path), \(cursor.outer), \(store.clock.now()))
      """)
    let statement = try store.prepared(
      "INSERT INTO cursor_chunk (cursor, n, sequences) VALUES (?, ?, ?)")
    for start in stride(from: 0, to: sequences.count, by: Self.chunk) {
      let end = min(sequences.count, start + Self.chunk)
      let blob = sequences[start..<end].withUnsafeBytes { Array($0) }
      try statement.bind(1, cursor.id)
      try statement.bind(2, start / Self.chunk)
      try statement.bind(3, blob: blob)
      try statement.execute()
    }
  }

  func find(_ id: String) throws -> Cursor? {
    guard let id = OrgID.normalize(id) else { return nil }
    let oldest = store.clock.now() - Self.keptMilliseconds
    let row = try store.connection.first(
      """
      SELECT user, soql, deleted, total, path FROM cursor WHERE id = \(id) AND created > \(oldest)
      """)
    guard let row, let user = row[0].text, let soql = row[1].text, let total = row[3].integer else {
      return nil
    }
    return Cursor(
      id: id, userID: user, soql: soql, includeDeleted: row[2].integer == 1, total: Int(total),
      path: row[4].text ?? "")
  }

  /// Returns the sequence numbers in a range of the list.
  func sequences(_ cursor: Cursor, _ range: Range<Int>) throws -> [Int64] {
    let chunks = range.lowerBound / Self.chunk...(range.upperBound - 1) / Self.chunk
    let statement = try store.prepared(
      "SELECT sequences FROM cursor_chunk WHERE cursor = ? AND n BETWEEN ? AND ? ORDER BY n")
    try statement.bind(1, cursor.id)
    try statement.bind(2, chunks.lowerBound)
    try statement.bind(3, chunks.upperBound)
    defer { statement.reset() }
    var values: [Int64] = []
    while try statement.step() {
      let bytes = statement.columnBytes(0)
      for offset in stride(from: 0, to: bytes.count, by: 8) {
        values.append(bytes.loadUnaligned(fromByteOffset: offset, as: Int64.self))
      }
    }
    let start = range.lowerBound - chunks.lowerBound * Self.chunk
    return Array(values[start..<start + range.count])
  }

  /// Records that the last page was read, so that the cursor no longer counts as open.
  func finish(_ cursor: Cursor) throws {
    try store.connection.run("UPDATE cursor SET finished = 1 WHERE id = \(cursor.id)")
  }

  /// Invalidates the locators of children on pages of this cursor, recursively.
  func endNested(of cursor: Cursor) throws {
    try store.connection.run(
      """
      WITH RECURSIVE nested (id) AS (SELECT id FROM cursor WHERE outer = \(cursor.id) \
      UNION SELECT cursor.id FROM cursor JOIN nested ON cursor.outer = nested.id) \
      DELETE FROM cursor WHERE id IN (SELECT id FROM nested)
      """)
  }

  /// Invalidates all locators.
  func expire() throws {
    try store.connection.execute("DELETE FROM cursor; DELETE FROM cursor_chunk;")
  }

  /// Closes the oldest cursors if there are too many.
  func prune(userID: String) throws {
    try store.connection.run(
      """
      DELETE FROM cursor WHERE id IN (SELECT id FROM cursor WHERE user = \(userID) AND finished = 0 \
      AND path = '' ORDER BY id DESC LIMIT -1 OFFSET \(Self.openLimit))
      """)
    try store.connection.run(
      """
      DELETE FROM cursor WHERE id IN (SELECT id FROM cursor WHERE path = '' ORDER BY id DESC \
      LIMIT -1 OFFSET \(Self.keepLimit))
      """)
    try store.connection.run(
      """
      DELETE FROM cursor WHERE id IN (SELECT id FROM cursor WHERE path <> '' ORDER BY id DESC \
      LIMIT -1 OFFSET \(Self.nestedKeepLimit))
      """)
    try store.connection.run(
      "DELETE FROM cursor_chunk WHERE cursor NOT IN (SELECT id FROM cursor)")
  }
}
