import CCrypto

/// Reading and writing of libcrypto objects in PEM.
enum PEM {
  /// Calls `body` with a memory stream that reads `bytes`.
  static func reading<R>(_ bytes: [UInt8], _ body: (OpaquePointer) -> R?) -> R? {
    bytes.withUnsafeBytes { raw -> R? in
      guard let stream = BIO_new_mem_buf(raw.baseAddress, Int32(raw.count)) else { return nil }
      defer { BIO_free(stream) }
      return body(stream)
    }
  }

  /// The bytes that `body` wrote to a memory stream; nil if it does not return 1.
  static func writing(_ body: (OpaquePointer) -> Int32) -> [UInt8]? {
    guard let stream = BIO_new(BIO_s_mem()) else { return nil }
    defer { BIO_free(stream) }
    guard body(stream) == 1 else { return nil }
    var start: UnsafeMutablePointer<CChar>?
    let count = attache_bio_get_mem_data(stream, &start)
    guard let start, count > 0 else { return nil }
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// Provides no passphrase.
  ///
  /// Without this callback the library would prompt at the terminal.
  static let noPassphrase:
    @convention(c) (
      UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?
    ) -> Int32 = { _, _, _, _ in -1 }
}
