import Archive
import SQLite
import System

/// The file with the records that a generation issued: `issued/<snapshot>/<generation>.sqlite`.
///
/// Rows are appended in any order, and an index on (ID, soup) is created at the end. SQLite does
/// not detect a changed byte in a value, so each row has a checksum.
enum IssuedRecordFile {
  /// `PRAGMA application_id`: "atir".
  static let applicationID: Int64 = 0x6174_6972
  /// `PRAGMA user_version`.
  static let version: Int64 = 1
  /// The page size.
  ///
  /// The file is written sequentially, and large pages need fewer calls.
  static let pageBytes = 16_384

  static let tables = """
    CREATE TABLE soup (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT;
    CREATE TABLE issued (
      soup INTEGER NOT NULL, id TEXT NOT NULL, modified TEXT, last_modified INTEGER,
      fields TEXT NOT NULL, checksum INTEGER NOT NULL) STRICT;
    """
  /// The end of an INSERT into a file with its index: a record replaces its earlier version.
  static let replacing = """
     ON CONFLICT (id, soup) DO UPDATE SET modified = excluded.modified,
      last_modified = excluded.last_modified, fields = excluded.fields, checksum = excluded.checksum
    """
  /// The same for a soup in which an ID may occur more than once: the record with the later date is
  /// kept.
  static let keepingLater =
    replacing + " WHERE issued.modified IS NULL OR excluded.modified >= issued.modified"
  static let index = "CREATE UNIQUE INDEX issued_by_id ON issued (id, soup)"

  /// The checksum of a row: over its numbers and lengths, then over its texts in order.
  ///
  /// - Parameter texts: The ID, the modification date (may be nil) and the fields.
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

  /// Checks that a database is a complete file of issued records, and returns its soups by number;
  /// throws `SnapshotError.damaged` otherwise.
  static func soups(of connection: Connection) throws -> [Int64: String] {
    let path = connection.path
    let marks = [
      try connection.integer("PRAGMA application_id"),
      try connection.integer("PRAGMA user_version"),
    ]
    guard marks == [applicationID, version] else {
      throw damage(path, "have an unknown format")
    }
    // SQLite reads missing bytes of the last page as zeros.
    let bytes = try connection.integer(
      "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
    guard try bytes == Files.size(of: path) else { throw damage(path, "are truncated") }
    var soups: [Int64: String] = [:]
    for row in try connection.all("SELECT number, name FROM soup") {
      soups[row[0].integer ?? -1] = row[1].text
    }
    return soups
  }

  static func damage(_ path: String, _ reason: String) -> SnapshotError {
    .damaged(path: path, file: "the issued records", reason: reason)
  }

  /// The error for a file that is not a database or lacks a table.
  ///
  /// Such a file is damaged, as it was complete when it got its name.
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
