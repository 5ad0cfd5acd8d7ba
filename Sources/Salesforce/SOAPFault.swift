import HTTP
import XML

/// A SOAP error (SOAP API Developer Guide, "API Fault Element", "ExceptionCode").
///
/// Every fault has the status 500, regardless of its code.
package struct SOAPFault: Sendable, Hashable {
  /// The code, such as `INVALID_SESSION_ID`.
  package let code: String
  /// The org's message, without the code before it.
  package let message: String

  /// Parses the body of a response; nil if it has no fault.
  package init?(_ body: [UInt8]) {
    guard let root = XMLElement(parsing: body), root.name == "Envelope",
      let fault = root.child("Body")?.child("Fault"),
      let code = fault.child("faultcode")?.text.split(separator: ":").last
    else { return nil }
    self.code = String(code)
    let words = fault.child("faultstring")?.text ?? ""
    let prefix = code + ": "
    message = words.hasPrefix(prefix) ? String(words.dropFirst(prefix.count)) : words
  }

  /// The status with which a data resource reports the same error, so that one table decides what
  /// to do.
  package var status: Int {
    switch code {
    case ErrorCodes.session: 401
    case ErrorCodes.requestLimit, "API_DISABLED_FOR_ORG", "FUNCTIONALITY_NOT_ENABLED",
      "INSUFFICIENT_ACCESS", "ORG_LOCKED", "TRIAL_EXPIRED":
      403
    case "SERVER_UNAVAILABLE", "API_CURRENTLY_DISABLED": 503
    // The cause is unknown, and so is whether anything was executed.
    case "UNKNOWN_EXCEPTION", "Server", "Receiver": 500
    // The org rejects the call itself.
    default: 400
    }
  }
}
