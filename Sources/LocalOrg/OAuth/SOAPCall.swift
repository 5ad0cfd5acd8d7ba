import HTTP

/// A SOAP call to `/services/Soap/u/NN.0`: the element in the body of its envelope.
struct SOAPCall: Sendable {
  /// The name of the call, without prefix.
  let name: String
  /// The token in its header.
  let sessionID: String?
  /// Its arguments, in order.
  let arguments: [(name: String, text: String)]
  /// Whether envelope, header and call use the service's namespaces.
  let isOfService: Bool

  /// Parses a request; nil if it is not a SOAP call.
  init?(_ request: ServerRequest, _ target: Target) {
    guard target.isSOAP, request.method == "POST", let leaves = XMLText.paths(request.body) else {
      return nil
    }
    let body = leaves.filter { $0.path.count > 2 && $0.path.starts(with: ["Envelope", "Body"]) }
    guard let name = body.first?.path[2] else { return nil }
    self.name = name
    sessionID =
      leaves.first { $0.path == ["Envelope", "Header", "SessionHeader", "sessionId"] }?.text
    arguments = body.filter { $0.path.count == 4 }.map { ($0.path[3], $0.text) }
    let text = String(decoding: request.body, as: UTF8.self)
    isOfService =
      ["http://schemas.xmlsoap.org/soap/envelope/", "urn:partner.soap.sforce.com"].allSatisfy {
        text.contains("\"\($0)\"") || text.contains("'\($0)'")
      }
  }
}

extension Target {
  /// Whether it is the partner API, with or without the org's ID at the end.
  var isSOAP: Bool {
    (4...5).contains(segments.count) && segments.starts(with: ["services", "Soap", "u"])
  }
}
