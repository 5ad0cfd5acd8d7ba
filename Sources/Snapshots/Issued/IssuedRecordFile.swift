import Archive
import SQLite
import System

/// The file of the records that a generation issued: `issued/<snapshot>/<generation>.sqlite`.
///
/// Rows are appended in any order, and found by an index of (Id, soup) that is made at the end. SQLite
/// does not notice a changed byte in a value, so each row has a checksum of its own.
enum IssuedRecordFile {
  /// `PRAGMA application_id`: "atir".
  static let applicationID: Int64 = 0x6174_6972
  /// `PRAGMA user_version`.
  static let version: Int64 = 1
  /// Bytes of a page: the file is written from its beginning to its end, and large pages cost fewer
  /// calls.
  static let pageBytes = 16_384

  static let tables = """
    CREATE TABLE soup (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE issued (
      soup INTEGER NOT NULL, id TEXT NOT NULL, modified TEXT, last_modified INTEGER,
      fields TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
    """
  /// Behind an INSERT into a file that has its index: a record takes the place of what it was.
  static let replacing = """
     ON CONFLICT (id, soup) DO UPDATE SET modified = excluded.modified,
      last_modified = excluded.last_modified, fields = excluded.fields, checksum = excluded.checksum
    """
  /// The same where an Id may stand in a soup more than once: the record with the later date stays.
  static let keepingLater =
    replacing + " WHERE issued.modified IS NULL OR excluded.modified >= issued.modified"
  static let index = "CREATE UNIQUE INDEX issued_by_id ON issued (id, soup)"

  /// The checksum of a row: of its numbers and lengths, then of its texts one behind the other.
  ///
  /// - Parameter texts: Id, modification date (which may be absent) and fields.
  static func checksum(
    soup: Int64, lastModified: Int64?, texts: (Int, Int?, Int), bytes: UnsafeRawBufferPointer
  ) -> Int64 {
    var hash = XXHash64()
    withUnsafeTemporaryAllocation(of: Int64.self, capacity: 5) { head in
      head.initialize(repeating: 0)
      head[0] = soup.littleEndian
      head[1] = (lastModified ?? .min).littleEndian
      head[2] = Int64(texts.0).littleEndian
      head[3] = (texts.1.map(Int64.init) ?? -1).littleEndian
      head[4] = Int64(texts.2).littleEndian
      hash.update(UnsafeRawBufferPointer(head))
    }
    hash.update(bytes)
    return Int64(bitPattern: hash.value)
  }

  /// Proves that a database is such a file, whole, and answers its soups by their numbers; throws
  /// `SnapshotError.damaged` where it is none.
  static func soups(of connection: Connection) throws -> [Int64: String] {
    let path = connection.path
    let marks = [
      try connection.integer("PRAGMA application_id"),
      try connection.integer("PRAGMA user_version"),
    ]
    guard marks == [applicationID, version] else {
      throw damage(path, "are in no format that this program reads")
    }
    // SQLite takes what is missing of the last page for zeros.
    let bytes = try connection.integer(
      "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    guard try bytes == Files.size(of: path) else { throw damage(path, "end too early") }
    var soups: [Int64: String] = [:]
    for row in try connection.all("SELECT number, name FROM soup") {
      soups[row[0].integer ?? -1] = row[1].text
    }
    return soups
  }

  static func damage(_ path: String, _ reason: String) -> SnapshotError {
    .damaged(path: path, file: "the issued records", reason: reason)
  }

  /// A file that is no such database, or lacks a table, is a damaged one: it was whole when it got its
  /// name.
  static func readable(_ error: any Error, _ path: String) -> SnapshotError {
    switch error {
    case let error as SnapshotError: error
    case let error as SQLiteError where error.isDamage || error.isOfTheSchema:
      damage(path, "cannot be read (\(error.message))")
    case let error as SQLiteError: .database(error)
    case let error as SystemError: .system(error)
    default: .invalid("\(error)")
    }
  }
}
