import HTTP
import System
import XML

/// The error in the body of a response.
struct S3Fault: Sendable, Hashable, CustomStringConvertible {
  let code: String
  let message: String

  /// The codes of errors that a repeat may not have, whatever the status.
  static let momentary: Set<String> = [
    "InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown",
  ]

  /// Reads the body of a response, without what it repeats of the credentials; nil for
  /// anything other than an error.
  init?(_ response: HTTPResponse, _ mask: SecretMask) {
    guard response.body.first == UInt8(ascii: "<"), response.body.count <= Self.mostBytes,
      let root = XMLElement(parsing: response.body), root.name == "Error",
      let code = root.child("Code")?.text, !code.isEmpty
    else { return nil }
    func visible(_ text: String) -> String {
      let masked = String(decoding: mask.applied(to: Array(text.utf8)), as: UTF8.self)
      return VisibleText.line(masked)
    }
    self.code = visible(code)
    message = visible(root.child("Message")?.text ?? "")
  }

  /// An error is short.
  private static let mostBytes = 1 << 16

  var description: String { message.isEmpty ? code : code + ": " + message }
}
