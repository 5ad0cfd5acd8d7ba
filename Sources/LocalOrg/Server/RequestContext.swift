import HTTP
import JSON

/// A request with what is found out about it before anything is done.
struct RequestContext: Sendable {
  let request: ServerRequest
  let target: Target
  let kind: RequestKind
  /// Whether it is meant to change records, parts of a composite included.
  let isWrite: Bool
  /// The body, parsed already where that was needed to know.
  let content: APIRequest.Content
  /// What it asks for by SOAP.
  let soap: SOAPCall?
  /// Scheme, host and port as the client wrote them.
  let origin: String

  init(_ request: ServerRequest, _ target: Target, kind: RequestKind, scheme: String) {
    let soap = SOAPCall(request, target)
    let kind = soap?.name == "undelete" ? .soapUndelete : kind
    self.request = request
    self.target = target
    self.kind = kind
    self.soap = soap
    origin = "\(scheme)://" + (request.headers["Host"] ?? "127.0.0.1")
    let list: String? =
      switch kind {
      case .composite: "compositeRequest"
      case .batch: "batchRequests"
      default: nil
      }
    // A body that does not parse is refused later, with its reason.
    guard let list, let body = try? JSONValue(parsing: request.body) else {
      isWrite = kind.isWrite
      content = .bytes(request.body)
      return
    }
    content = .value(body)
    isWrite = (body[list]?.array ?? []).contains { part in
      let target = Target(
        method: (part["method"]?.string ?? "").uppercased(), url: part["url"]?.string ?? "")
      return Router.kind(of: target).isWrite
    }
  }
}
