import HTTP
import System

/// `POST /services/Soap/u/NN.0` with the one call that clients still make of it: `login`.
struct SOAPLogin: Sendable {
  let org: Org
  let sessions: Sessions
  let passwords: PasswordLogins

  func answer(_ request: ServerRequest, _ target: Target, origin: String) -> ServerResponse {
    guard request.method == "POST", let leaves = XMLText.leaves(request.body),
      let username = leaves["username"], let password = leaves["password"]
    else {
      return fault("UNKNOWN_EXCEPTION", "The body is no login call")
    }
    guard let user = passwords.user(username, password, in: org) else {
      return fault(
        "INVALID_LOGIN", "Invalid username, password, security token; or user locked out.")
    }
    let token = sessions.issue(to: user, clientID: nil, organizationID: org.organizationID)
    let path = target.segments.dropFirst(2).joined(separator: "/")
    let address = "\(origin)/services/Soap/\(path)/\(org.organizationID.prefix(15))"
    let info = [
      ("organizationId", org.organizationID), ("userEmail", user.email),
      ("userFullName", user.name), ("userId", user.id), ("userLanguage", "en_US"),
      ("userLocale", "en_US"), ("userName", user.username), ("userTimeZone", "GMT"),
      ("userType", "Standard"),
    ].map { XMLText.element($0.0, $0.1) }.joined()
    let result = [
      ("metadataServerUrl", address.replacing("/Soap/u/", with: "/Soap/m/")),
      ("passwordExpired", "false"), ("sandbox", "true"), ("serverUrl", address),
      ("sessionId", token), ("userId", user.id),
    ].map { XMLText.element($0.0, $0.1) }.joined()
    return envelope(
      200, "<loginResponse><result>\(result)<userInfo>\(info)</userInfo></result></loginResponse>")
  }

  private func fault(_ code: String, _ message: String) -> ServerResponse {
    let words = XMLText.escaped(message)
    return envelope(
      500,
      """
      <soapenv:Fault><faultcode>sf:\(code)</faultcode><faultstring>\(code): \(words)</faultstring>\
      <detail><sf:LoginFault xsi:type="sf:LoginFault"><sf:exceptionCode>\(code)</sf:exceptionCode>\
      <sf:exceptionMessage>\(words)</sf:exceptionMessage></sf:LoginFault></detail></soapenv:Fault>
      """)
  }

  private func envelope(_ status: Int, _ body: String) -> ServerResponse {
    let text = """
      \(XMLText.head)<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" \
      xmlns="urn:partner.soap.sforce.com" xmlns:sf="urn:fault.partner.soap.sforce.com" \
      xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><soapenv:Body>\(body)</soapenv:Body>\
      </soapenv:Envelope>
      """
    return ServerResponse(
      status: status, headers: ["Content-Type": "text/xml; charset=utf-8"], body: Array(text.utf8))
  }
}
