import CCrypto

/// What libcrypto refused, or what was no key, certificate or encoding.
package struct CryptoError: Error, Sendable, Hashable, CustomStringConvertible {
  /// One sentence without any key's content.
  package let message: String

  /// Makes an error of a sentence.
  package init(_ message: String) { self.message = message }

  /// The sentence.
  package var description: String { message }

  /// The error of a call that has just failed, with the library's reason; empties its queue.
  static func last(_ what: String) -> CryptoError {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0, let reason = ERR_reason_error_string(code) else { return CryptoError(what) }
    return CryptoError("\(what): \(String(cString: reason))")
  }
}
