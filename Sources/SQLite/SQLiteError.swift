import CSQLite

/// A refusal of SQLite: its extended code, its words and the file.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The extended result code (`SQLITE_CORRUPT_VTAB` and its like).
  package let code: Int32
  /// SQLite's own words.
  package let message: String
  /// The statement that was refused, where there was one; kept out of `description`, it may hold values.
  package let sql: String?
  /// The database file.
  package let path: String

  /// Makes an error of a code, with SQLite's general words for it unless others are given.
  package init(code: Int32, message: String? = nil, sql: String? = nil, path: String) {
    self.code = code
    self.message = message ?? String(cString: sqlite3_errstr(code))
    self.sql = sql
    self.path = path
  }

  /// The primary code: the low byte of `code`.
  package var primaryCode: Int32 { code & 0xff }

  /// Says whether the file itself is damaged or is no database.
  package var isDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

  /// Says whether a statement names what the database has not: a table, a column.
  package var isOfTheSchema: Bool { primaryCode == SQLITE_ERROR }

  /// Says whether a deadline or an interruption ended the statement.
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  /// Says whether the disk is full or failed.
  package var isDisk: Bool { primaryCode == SQLITE_FULL || primaryCode == SQLITE_IOERR }

  /// Says whether a file could not be opened at all: it is not there, or there are no descriptors left.
  package var isNoAccess: Bool { primaryCode == SQLITE_CANTOPEN }

  /// Says whether it tells of the machine (the disk, descriptors), and not of the file.
  package var isOfTheMachine: Bool { isDisk || isNoAccess }

  /// Says whether there is no room left, be it for the index that SQLite keeps beside a log.
  package var isFull: Bool { primaryCode == SQLITE_FULL || code == Self.noIndex }

  /// `SQLITE_IOERR_SHMSIZE`: the index of a log (`-shm`) cannot be made as long as it has to be.
  private static let noIndex = SQLITE_IOERR | (19 << 8)

  /// Says whether a text, blob or row is longer than the connection takes.
  package var isTooBig: Bool { primaryCode == SQLITE_TOOBIG }

  /// Says whether the values that were to be written are refused, and not the writing.
  package var isOfTheValues: Bool {
    [SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH].contains(primaryCode)
  }

  /// The file, SQLite's words and what to do.
  package var description: String { "\(path): \(explanation)" }

  /// The description without the file.
  package var explanation: String { "\(message) (SQLite code \(code))" + advice }

  private var advice: String {
    switch primaryCode {
    case SQLITE_FULL: "; free some disk space and run again"
    case SQLITE_BUSY, SQLITE_LOCKED: "; another program uses the file, run again when it is done"
    case SQLITE_CORRUPT: "; the file is damaged, restore it or make it again"
    case SQLITE_NOTADB: "; the file is encrypted, or damaged"
    case SQLITE_INTERRUPT: "; the time allowed for it was over"
    default: ""
    }
  }
}
