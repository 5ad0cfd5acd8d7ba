import HTTP

/// Why an org did not do what it was asked by SOAP (SOAP API Developer Guide, "API Fault Element", "ExceptionCode").
///
/// Every fault comes with the status 500, whatever it says.
package struct SOAPFault: Sendable, Hashable {
  /// The code, such as `INVALID_SESSION_ID`.
  package let code: String
  /// The org's words, without the code before them.
  package let message: String

  /// Reads the body of an answer; nil where it has no fault.
  package init?(_ body: [UInt8]) {
    guard let root = SOAPElement(parsing: body), root.name == "Envelope",
      let fault = root.child("Body")?.child("Fault"),
      let code = fault.child("faultcode")?.text.split(separator: ":").last
    else { return nil }
    self.code = String(code)
    let words = fault.child("faultstring")?.text ?? ""
    let prefix = code + ": "
    message = words.hasPrefix(prefix) ? String(words.dropFirst(prefix.count)) : words
  }

  /// The status with which a data resource says the same: what to do about it is decided in one table.
  package var status: Int {
    switch code {
    case ErrorCodes.session: 401
    case ErrorCodes.requestLimit, "API_DISABLED_FOR_ORG", "FUNCTIONALITY_NOT_ENABLED",
      "INSUFFICIENT_ACCESS", "ORG_LOCKED", "TRIAL_EXPIRED":
      403
    case "SERVER_UNAVAILABLE", "API_CURRENTLY_DISABLED": 503
    // What went wrong nobody knows, and not whether anything was done.
    case "UNKNOWN_EXCEPTION", "Server", "Receiver": 500
    // It is the call that the org does not take.
    default: 400
    }
  }
}
