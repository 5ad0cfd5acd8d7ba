import CSQLite

/// A prepared statement.
///
/// Bindings are counted from 1 and columns from 0, as in SQLite. Values bound as borrowed bytes
/// must stay valid until the statement is reset or bound again.
package final class Statement {
  private let handle: OpaquePointer
  private let database: Database
  package let columnCount: Int32
  /// Whether the connection that caches the statement has lent it out.
  var isOut = false

  init(_ database: Database, _ sql: String, persistent: Bool) throws(SQLiteError) {
    guard let open = database.handle else { throw database.failure(SQLITE_MISUSE) }
    var prepared: OpaquePointer?
    var rest = 0
    var text = sql
    let code = text.withUTF8 { bytes in
      // The address of an empty buffer may be nil, which SQLite rejects.
      guard let base = bytes.baseAddress else { return SQLITE_OK }
      return base.withMemoryRebound(to: CChar.self, capacity: bytes.count) { start in
        var tail: UnsafePointer<CChar>?
        let flags = persistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
        let result = sqlite3_prepare_v3(
          open, start, Int32(bytes.count), flags, &prepared, &tail)
        if let tail { rest = tail - start }
        return result
      }
    }
    guard code == SQLITE_OK else { throw database.failure(code, sql: sql) }
    guard let prepared else {
      throw SQLiteError(
        code: SQLITE_MISUSE, message: "the text contains no statement", sql: sql,
        path: database.path)
    }
    let blank = text.utf8.dropFirst(rest).allSatisfy {
      [0x20, 0x0a, 0x0d, 0x09, 0x3b].contains($0)
    }
    guard blank else {
      sqlite3_finalize(prepared)
      throw SQLiteError(
        code: SQLITE_MISUSE, message: "the text contains more than one statement", sql: sql,
        path: database.path)
    }
    handle = prepared
    self.database = database
    columnCount = sqlite3_column_count(prepared)
  }

  deinit { sqlite3_finalize(handle) }

  /// The text of the statement.
  package var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

  /// Whether the statement cannot change the database.
  package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// The number of parameters to bind.
  package var parameterCount: Int32 { sqlite3_bind_parameter_count(handle) }

  /// Advances to the next row; returns false at the end.
  package func step() throws(SQLiteError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    case let code:
      // Copying the text would be expensive on a path that normally only fails.
      let error = database.failure(code, sql: sql)
      sqlite3_reset(handle)
      throw error
    }
  }

  /// Runs a statement without result rows, and resets it.
  package func execute() throws(SQLiteError) {
    while try step() {}
    sqlite3_reset(handle)
  }

  /// Resets the statement for its next run; bindings are kept.
  package func reset() { sqlite3_reset(handle) }

  package func clearBindings() { sqlite3_clear_bindings(handle) }
}

// MARK: bindings

extension Statement {
  package func bindNull(_ index: Int32) throws(SQLiteError) {
    try database.check(sqlite3_bind_null(handle, index))
  }

  package func bind(_ index: Int32, _ value: Int64) throws(SQLiteError) {
    try database.check(sqlite3_bind_int64(handle, index, value))
  }

  package func bind(_ index: Int32, _ value: Int) throws(SQLiteError) {
    try database.check(sqlite3_bind_int64(handle, index, Int64(value)))
  }

  package func bind(_ index: Int32, _ value: Double) throws(SQLiteError) {
    try database.check(sqlite3_bind_double(handle, index, value))
  }

  /// Binds a copy of a text.
  package func bind(_ index: Int32, _ value: String) throws(SQLiteError) {
    var value = value
    let code = value.withUTF8 { bind(text: UnsafeRawBufferPointer($0), index, copied: true) }
    try database.check(code)
  }

  /// Binds a copy of a text; nil binds NULL.
  package func bind(_ index: Int32, _ value: String?) throws(SQLiteError) {
    if let value { try bind(index, value) } else { try bindNull(index) }
  }

  /// Binds UTF-8 bytes as text **without a copy**: they must stay valid until the statement is
  /// reset.
  package func bind(_ index: Int32, bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
    try database.check(bind(text: bytes, index, copied: false))
  }

  /// Binds a copy of UTF-8 bytes as text.
  package func bind(_ index: Int32, copying bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
    try database.check(bind(text: bytes, index, copied: true))
  }

  /// Binds a copy of a blob.
  package func bind(_ index: Int32, blob: [UInt8]) throws(SQLiteError) {
    let code = blob.withUnsafeBytes { bytes in
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : sqlite3_bind_blob64(
          handle, index, bytes.baseAddress, UInt64(bytes.count), attache_sqlite3_transient())
    }
    try database.check(code)
  }

  /// Binds a value of any storage class.
  package func bind(_ index: Int32, _ value: SQLiteValue) throws(SQLiteError) {
    switch value {
    case .null: try bindNull(index)
    case .integer(let value): try bind(index, value)
    case .real(let value): try bind(index, value)
    case .text(let value): try bind(index, value)
    case .blob(let value): try bind(index, blob: value)
    }
  }

  /// Binds values to the parameters, from 1 on.
  package func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
    guard values.count == Int(parameterCount) else {
      throw SQLiteError(
        code: SQLITE_RANGE,
        message:
          "the statement has \(parameterCount) parameters and got \(values.count) values",
        sql: sql, path: database.path)
    }
    for (index, value) in values.enumerated() { try bind(Int32(index + 1), value) }
  }

  @inline(__always)
  private func bind(text bytes: UnsafeRawBufferPointer, _ index: Int32, copied: Bool) -> Int32 {
    guard let base = bytes.baseAddress, !bytes.isEmpty else {
      return sqlite3_bind_text(handle, index, "", 0, attache_sqlite3_transient())
    }
    return sqlite3_bind_text64(
      handle, index, base.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
      copied ? attache_sqlite3_transient() : nil, UInt8(SQLITE_UTF8))
  }
}

// MARK: columns

extension Statement {
  /// The storage class of a column in this row, such as `SQLITE_INTEGER`.
  package func columnType(_ index: Int32) -> Int32 { sqlite3_column_type(handle, index) }

  package func storageClass(_ index: Int32) -> StorageClass {
    switch sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: .integer
    case SQLITE_FLOAT: .real
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .blob
    default: .null
    }
  }

  package func isNull(_ index: Int32) -> Bool {
    sqlite3_column_type(handle, index) == SQLITE_NULL
  }

  /// A column as an integer, with SQLite's conversion.
  package func columnInteger(_ index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }

  /// A column as a double, with SQLite's conversion.
  package func columnReal(_ index: Int32) -> Double { sqlite3_column_double(handle, index) }

  /// A column as text; nil for NULL.
  ///
  /// Invalid UTF-8 is replaced.
  package func columnText(_ index: Int32) -> String? {
    isNull(index) ? nil : String(decoding: columnBytes(index), as: UTF8.self)
  }

  /// A column's bytes as text, valid until the next step, reset or other access to the column.
  package func columnBytes(_ index: Int32) -> UnsafeRawBufferPointer {
    // Read the pointer before the length: the other order may measure another encoding.
    let start: UnsafeRawPointer? =
      sqlite3_column_type(handle, index) == SQLITE_BLOB
      ? sqlite3_column_blob(handle, index) : UnsafeRawPointer(sqlite3_column_text(handle, index))
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
  }

  /// The value of a column in its storage class.
  package func column(_ index: Int32) -> SQLiteValue {
    switch sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: .integer(sqlite3_column_int64(handle, index))
    case SQLITE_FLOAT: .real(sqlite3_column_double(handle, index))
    case SQLITE_TEXT: .text(String(decoding: columnBytes(index), as: UTF8.self))
    case SQLITE_BLOB: .blob([UInt8](columnBytes(index)))
    default: .null
    }
  }

  package func columnName(_ index: Int32) -> String {
    sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
  }

  package var columnNames: [String] { (0..<columnCount).map(columnName) }

  package var row: [SQLiteValue] { (0..<columnCount).map(column) }
}
