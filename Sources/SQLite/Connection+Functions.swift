import CSQLite

extension Connection {
  /// Adds a function of texts to the SQL of this connection; NULL is passed as an empty text.
  ///
  /// `body` may run other statements on this connection. If it throws, so does the statement.
  package func addFunction(
    _ name: String, arguments count: Int32, _ body: @escaping ([String]) throws -> SQLiteValue
  ) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    let function = TextFunction(body)
    database.attachments.append(function)
    try database.check(
      sqlite3_create_function_v2(
        handle, name, count, SQLITE_UTF8, Unmanaged.passUnretained(function).toOpaque(),
        callTextFunction, nil, nil, nil))
  }
}

private final class TextFunction {
  let body: ([String]) throws -> SQLiteValue

  init(_ body: @escaping ([String]) throws -> SQLiteValue) { self.body = body }
}

private func callTextFunction(
  _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
  guard let pointer = sqlite3_user_data(context) else { return }
  let function = Unmanaged<TextFunction>.fromOpaque(pointer).takeUnretainedValue()
  let arguments = (0..<Int(count)).map { index -> String in
    guard let value = values?[index], let start = sqlite3_value_text(value) else { return "" }
    let length = Int(sqlite3_value_bytes(value))
    return String(decoding: UnsafeRawBufferPointer(start: start, count: length), as: UTF8.self)
  }
  do {
    switch try function.body(arguments) {
    case .null: sqlite3_result_null(context)
    case .integer(let value): sqlite3_result_int64(context, value)
    case .real(let value): sqlite3_result_double(context, value)
    case .text(var text):
      text.withUTF8 { bytes in
        sqlite3_result_text64(
          context, UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self),
          UInt64(bytes.count), attache_sqlite3_transient(), UInt8(SQLITE_UTF8))
      }
    case .blob(let bytes):
      bytes.withUnsafeBytes {
        sqlite3_result_blob64(
          context, $0.baseAddress, UInt64($0.count), attache_sqlite3_transient())
      }
    }
  } catch {
    sqlite3_result_error(context, "\(error)", -1)
  }
}
