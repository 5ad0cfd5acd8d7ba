import JSON

/// What the body of a failed answer says: `[{"errorCode", "message", "fields"}]` of the data
/// resources, or `{"error", "error_description"}` of the logins.
package struct OrgFault: Sendable, Hashable {
  var code: String?
  var message: String?
  var fields: [String] = []
  /// The status that the words mean, where the answer's own tells nothing.
  var status: Int?

  /// What to make of the code: an org has one for two limits, and tells in its words which it is.
  package var meaning: String? {
    let isMomentary = code == ErrorCodes.requestLimit && message?.contains("Concurrent") == true
    return isMomentary ? ErrorCodes.concurrency : code
  }

  package init(_ body: [UInt8]) {
    guard let value = try? JSONValue(parsing: body) else {
      // Not JSON: a proxy's page, the one plain text that an org answers, or what SOAP says.
      let text = ErrorCodes.identitySession
      if body == Array(text.utf8) { code = text }
      if let fault = SOAPFault(body) {
        (code, message, status) = (fault.code, fault.message, fault.status)
      }
      return
    }
    let fault = value.array?.first ?? value
    code = fault["errorCode"]?.string ?? fault["error"]?.string
    message = fault["message"]?.string ?? fault["error_description"]?.string
    fields = fault["fields"]?.array?.compactMap(\.string) ?? []
  }
}
