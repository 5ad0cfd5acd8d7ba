import CSQLite

/// The C handle of an open database, shared by a connection and its statements.
///
/// It is separate from `Connection`, so that a statement can retain the handle while the connection
/// retains prepared statements, without a cycle.
final class Database {
  /// The handle; nil after `close`.
  private(set) var handle: OpaquePointer?
  /// The path of the file, for error messages.
  let path: String
  /// The objects that must live as long as the handle: the contexts of its callbacks.
  var attachments: [AnyObject] = []

  init(path: String, opening address: String, flags: Int32) throws(SQLiteError) {
    self.path = path
    HeapBudget.prepare()
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(address, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
    handle = opened
    guard code == SQLITE_OK, let opened else {
      let error = failure(code)
      sqlite3_close_v2(opened)
      handle = nil
      throw error
    }
    sqlite3_extended_result_codes(opened, 1)
  }

  /// Opens the bytes of a file for reading.
  ///
  /// They must not move until the handle is closed.
  ///
  /// An image has no log next to it, so a header that requires one is changed to require none.
  convenience init(path: String, image: UnsafeMutableRawBufferPointer) throws(SQLiteError) {
    try self.init(path: path, opening: ":memory:", flags: SQLITE_OPEN_READWRITE)
    for place in [18, 19] where image.count >= 100 && image[place] == 2 { image[place] = 1 }
    let bytes = image.baseAddress?.assumingMemoryBound(to: UInt8.self)
    try check(
      sqlite3_deserialize(
        handle, "main", bytes, Int64(image.count), Int64(image.count),
        UInt32(SQLITE_DESERIALIZE_READONLY)))
  }

  deinit { close() }

  /// Closes the handle.
  ///
  /// Open statements keep SQLite's part of it until they are released.
  func close() {
    if let open = handle { sqlite3_close_v2(open) }
    handle = nil
  }

  /// The error of the last call.
  func failure(_ code: Int32, sql: String? = nil) -> SQLiteError {
    guard let handle else {
      return SQLiteError(code: SQLITE_MISUSE, message: "the connection is closed", path: path)
    }
    let extended = sqlite3_extended_errcode(handle)
    let agrees = extended & 0xff == code & 0xff
    return SQLiteError(
      code: agrees ? extended : code,
      message: agrees ? String(cString: sqlite3_errmsg(handle)) : nil, sql: sql, path: path)
  }

  /// Throws unless `code` means success.
  @inline(__always)
  func check(_ code: Int32, sql: String? = nil) throws(SQLiteError) {
    if code != SQLITE_OK { throw failure(code, sql: sql) }
  }
}
