import CCrypto

/// A failure in libcrypto, or an invalid key, certificate or encoding.
package struct CryptoError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence that reveals nothing of a key.
  package let message: String

  package init(_ message: String) { self.message = message }

  package var description: String { message }

  /// The error of the call that has just failed, with the reason from the library.
  ///
  /// Empties the library's error queue.
  static func last(_ what: String) -> CryptoError {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let reason = ERR_reason_error_string(code) else { return CryptoError(what) }
    return CryptoError("\(what): \(String(cString: reason))")
  }
}
