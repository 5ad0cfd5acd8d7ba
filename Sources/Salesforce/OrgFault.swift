import JSON

/// The error in the body of a failed response: `[{"errorCode", "message", "fields"}]` of the data
/// resources, or `{"error", "error_description"}` of logins.
package struct OrgFault: Sendable, Hashable {
  var code: String?
  var message: String?
  var fields: [String] = []
  /// The status that the message stands for, if the response's status is not specific.
  var status: Int?

  /// The effective code.
  ///
  /// An org has one code for two limits; only its message shows which one it is.
  package var meaning: String? {
    let isMomentary = code == ErrorCodes.requestLimit && message?.contains("Concurrent") == true
    return isMomentary ? ErrorCodes.concurrency : code
  }

  package init(_ body: [UInt8]) {
    guard let value = try? JSONValue(parsing: body) else {
      // Not JSON: a proxy's page, the only plain text that an org returns, or a SOAP response.
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
