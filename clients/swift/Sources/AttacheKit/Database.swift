import Foundation

#if canImport(SQLCipher)
  import SQLCipher
#elseif canImport(SQLite3)
  import SQLite3
#else
  import CAttacheSQLite
#endif

/// An open SQLite database.
///
/// An app may use its own, such as FMDB with SQLCipher.
public protocol Database: AnyObject {
  /// Runs a statement that returns no rows.
  func execute(_ sql: String, _ arguments: [String]) throws
  /// Runs a statement, and returns its rows, with every value as text.
  func query(_ sql: String, _ arguments: [String]) throws -> [[String?]]
}

/// The key that a file needs.
public enum StoreForm: Sendable {
  /// None.
  case plain
  /// The pipeline's passphrase (`pack.seal`).
  case sealed
  /// The device's own key, with which the SDK encrypts a store.
  case device
}

/// A database over the SQLite, or the SQLCipher, that the app is linked with.
public final class SQLiteDatabase: Database {
  private var handle: OpaquePointer?

  /// `key` is a passphrase of SQLCipher, `iterations` its number of KDF rounds.
  public init(_ file: URL, key: String? = nil, iterations: Int? = nil) throws {
    guard sqlite3_open_v2(file.path, &handle, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      defer { sqlite3_close(handle) }
      throw failure()
    }
    sqlite3_busy_timeout(handle, 5_000)
    if let key {
      _ = try query("PRAGMA key = '\(key.replacingOccurrences(of: "'", with: "''"))'", [])
      if let iterations { _ = try query("PRAGMA kdf_iter = \(iterations)", []) }
    }
  }

  deinit { sqlite3_close_v2(handle) }

  /// Runs a statement that returns no rows.
  public func execute(_ sql: String, _ arguments: [String]) throws { _ = try query(sql, arguments) }

  /// Runs a statement, and returns its rows, with every value as text.
  public func query(_ sql: String, _ arguments: [String]) throws -> [[String?]] {
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK else { throw failure() }
    defer { sqlite3_finalize(statement) }
    for (index, argument) in arguments.enumerated() {
      sqlite3_bind_text(
        statement, Int32(index + 1), argument, -1,
        unsafeBitCast(-1, to: sqlite3_destructor_type.self))
    }
    var rows: [[String?]] = []
    while true {
      switch sqlite3_step(statement) {
      case SQLITE_DONE: return rows
      case SQLITE_ROW:
        rows.append(
          (0..<sqlite3_column_count(statement)).map { column in
            sqlite3_column_text(statement, column).map { String(cString: $0) }
          })
      default: throw failure()
      }
    }
  }

  private func failure() -> Refusal { Refusal(.store, String(cString: sqlite3_errmsg(handle))) }
}
