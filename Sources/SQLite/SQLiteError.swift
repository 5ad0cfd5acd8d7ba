import CSQLite

/// An error from SQLite: its extended code, its message and the file.
package struct SQLiteError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The extended result code, such as `SQLITE_CORRUPT_VTAB`.
  package let code: Int32
  /// The message from SQLite.
  package let message: String
  /// The failed statement, if any.
  ///
  /// It is not part of `description`, as it may contain values.
  package let sql: String?
  /// The path of the database file.
  package let path: String

  /// Creates an error with a code.
  ///
  /// Without a message, SQLite's general text for the code is used.
  package init(code: Int32, message: String? = nil, sql: String? = nil, path: String) {
    self.code = code
    self.message = message ?? String(cString: sqlite3_errstr(code))
    self.sql = sql
    self.path = path
  }

  /// The primary code: the low byte of `code`.
  package var primaryCode: Int32 { code & 0xff }

  /// Whether the file is damaged or is not a database.
  package var isDamage: Bool { primaryCode == SQLITE_CORRUPT || primaryCode == SQLITE_NOTADB }

  /// Whether the file is not a plain database: it is encrypted, damaged, or of another type.
  package var isNotADatabase: Bool { primaryCode == SQLITE_NOTADB }

  /// Whether a statement names a table or column that does not exist.
  package var isOfTheSchema: Bool { primaryCode == SQLITE_ERROR }

  /// Whether a deadline or an interruption ended the statement.
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  /// Whether the disk is full or has failed.
  package var isDisk: Bool { primaryCode == SQLITE_FULL || primaryCode == SQLITE_IOERR }

  /// Whether a file could not be opened: it does not exist, or no descriptor is available.
  package var isNoAccess: Bool { primaryCode == SQLITE_CANTOPEN }

  /// Whether the error is caused by the machine (disk, descriptors), not by the file.
  package var isOfTheMachine: Bool { isDisk || isNoAccess }

  /// Whether there is no space left, even if only for the index that SQLite keeps next to a log.
  package var isFull: Bool { primaryCode == SQLITE_FULL || code == Self.noIndex }

  /// `SQLITE_IOERR_SHMSIZE`: the index of a log (`-shm`) cannot be extended to the required size.
  private static let noIndex = SQLITE_IOERR | (19 << 8)

  /// Whether a text, blob or row exceeds the connection's limit.
  package var isTooBig: Bool { primaryCode == SQLITE_TOOBIG }

  /// Whether the values to be written were rejected, rather than the write itself.
  package var isOfTheValues: Bool {
    [SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH].contains(primaryCode)
  }

  /// The file, SQLite's message and what to do.
  package var description: String { "\(path): \(explanation)" }

  /// The description without the file.
  package var explanation: String { "\(message) (SQLite code \(code))" + advice }

  private var advice: String {
    switch primaryCode {
    case SQLITE_FULL: "; free some disk space and run the command again"
    case SQLITE_BUSY, SQLITE_LOCKED: "; another program is using the file, try again later"
    case SQLITE_CORRUPT: "; the file is damaged, restore or recreate it"
    case SQLITE_NOTADB: "; the file is encrypted, or damaged"
    case SQLITE_INTERRUPT: "; the time limit was exceeded"
    default: ""
    }
  }
}
