import HTTP
import JSON

/// A request with what is known about it before it is processed.
struct RequestContext: Sendable {
  let request: ServerRequest
  let target: Target
  let kind: RequestKind
  /// Whether it changes records, including parts of a composite.
  let isWrite: Bool
  /// The body, already parsed if this was needed to classify the request.
  let content: APIRequest.Content
  /// The SOAP call, if it is one.
  let soap: SOAPCall?
  /// The scheme, host and port as the client wrote them.
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
    // A body that cannot be parsed is rejected later, with the reason.
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
