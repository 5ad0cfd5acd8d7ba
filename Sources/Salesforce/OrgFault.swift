import JSON

/// The error in the body of a failed response: `[{"errorCode", "message", "fields"}]` of the data
/// resources, or `{"error", "error_description"}` of logins.
package struct OrgFault: Sendable, Hashable {
  var code: String?
  var message: String?
  var fields: [String] = []
  /// The status that the message stands for, if the response's status is not specific.
  var status: Int?

  /// The form of the body; nil if it is none of an org's.
  private(set) var form: Form?

  /// The forms of an org's errors.
  enum Form: Sendable {
    /// An array with an `errorCode`, of the data resources.
    case resource
    /// The object of the logins.
    case login
    /// A SOAP fault.
    case envelope
    /// The plain text of the identity services.
    case identity
  }

  /// Whether the org itself refused a call.
  ///
  /// This is the only proof that a write was not executed. A gateway may answer with any status and
  /// any other body, and forward the request later.
  func isRefusal(of call: OrgCall) -> Bool {
    switch form {
    case .resource: true
    case .login: call.kind == .token
    case .envelope: call.envelope != nil
    case .identity: call.kind == .userInfo
    case nil: false
    }
  }

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
      if body == Array(text.utf8) { (code, form) = (text, .identity) }
      if let fault = SOAPFault(body) {
        form = .envelope
        (code, message, status) = (fault.code, fault.message, fault.status)
      }
      return
    }
    let fault = value.array?.first ?? value
    code = fault["errorCode"]?.string ?? fault["error"]?.string
    message = fault["message"]?.string ?? fault["error_description"]?.string
    fields = fault["fields"]?.array?.compactMap(\.string) ?? []
    if value.array != nil {
      form = fault["errorCode"]?.string?.isEmpty == false ? .resource : nil
    } else if value["error"]?.string != nil, value["error_description"]?.string != nil {
      form = .login
    }
  }
}
