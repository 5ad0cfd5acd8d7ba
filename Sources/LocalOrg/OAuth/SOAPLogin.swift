import HTTP
import System

/// `POST /services/Soap/u/NN.0` with the call `login`, and the response to an unknown call.
struct SOAPLogin: Sendable {
  let org: Org
  let sessions: Sessions
  let passwords: PasswordLogins

  func answer(_ request: ServerRequest, _ target: Target, origin: String) -> ServerResponse {
    guard let call = SOAPCall(request, target) else {
      return SOAPText.clientFault("The request is not an envelope with a call")
    }
    guard call.name == "login" else {
      return SOAPText.clientFault(
        "No operation available for request {urn:partner.soap.sforce.com}\(call.name), please check the "
          + "WSDL for the service.")
    }
    func argument(_ name: String) -> String? { call.arguments.first { $0.name == name }?.text }
    guard let username = argument("username"), let password = argument("password") else {
      return SOAPText.fault(
        "INVALID_LOGIN", "The call has no user name or no password", type: "LoginFault")
    }
    guard let user = passwords.user(username, password, in: org) else {
      return SOAPText.fault(
        "INVALID_LOGIN", "Invalid username, password, security token; or user locked out.",
        type: "LoginFault")
    }
    let token = sessions.issue(to: user, clientID: nil, organizationID: org.organizationID)
    let path = target.segments[2...3].joined(separator: "/")
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
    return SOAPText.answer(
      "<loginResponse><result>\(result)<userInfo>\(info)</userInfo></result></loginResponse>")
  }
}
