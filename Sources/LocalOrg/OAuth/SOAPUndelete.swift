import HTTP

/// The call `undelete`: restores up to 200 records from the recycle bin.
///
/// The response is 200 whatever the outcome; each record has its own result, in order.
struct SOAPUndelete: Sendable {
  private static let most = 200

  let org: Org
  let server: OrgService

  func answer(
    _ call: SOAPCall, _ request: ServerRequest, _ target: Target, _ session: Session?,
    _ plan: FaultPlan
  ) -> (ServerResponse, records: Int?) {
    if let refusal = refusal(call, request, target, session) { return (refusal, nil) }
    guard let user = session?.user else { return (Self.invalidSession, nil) }
    let ids = call.arguments.map(\.text)
    var outcomes: [(id: String, outcome: RowOutcome)] = []
    do {
      try org.transaction {
        for place in 0..<min(ids.count, plan.partLimit ?? ids.count) {
          let outcome =
            plan.refusal(ofPart: place).map { .failure([$0]) } ?? org.undelete(ids[place], as: user)
          outcomes.append((ids[place], outcome))
        }
      }
    } catch {
      return (SOAPText.fault("UNKNOWN_EXCEPTION", "\(error)"), nil)
    }
    let results = outcomes.map(Self.result).joined()
    let used = [
      ("current", String(server.usage())), ("limit", String(server.options.dailyLimit)),
      ("type", "API REQUESTS"),
    ].map { XMLText.element($0.0, $0.1) }.joined()
    return (
      SOAPText.answer(
        "<undeleteResponse>\(results)</undeleteResponse>",
        header: "<LimitInfoHeader><limitInfo>\(used)</limitInfo></LimitInfoHeader>"),
      outcomes.count { $0.outcome.id != nil }
    )
  }

  private func refusal(
    _ call: SOAPCall, _ request: ServerRequest, _ target: Target, _ session: Session?
  ) -> ServerResponse? {
    let type = (request.headers["Content-Type"] ?? "").prefix { $0 != ";" }.lowercased()
    guard type == "text/xml" else { return ServerResponse(status: 415) }
    guard request.headers["SOAPAction"] != nil else {
      return SOAPText.clientFault("SOAPAction HTTP header missing")
    }
    let version = target.segments[3]
    guard version.hasSuffix(".0"), let number = Int(version.dropLast(2)),
      VersionResource.numbers.contains(number)
    else {
      return SOAPText.fault("UNSUPPORTED_API_VERSION", "Invalid Api version specified on URL")
    }
    guard call.isOfService, call.arguments.allSatisfy({ $0.name == "ids" }) else {
      return SOAPText.clientFault("The request does not match the service's WSDL")
    }
    guard session != nil else { return Self.invalidSession }
    if server.exceedsLimit() {
      let error = OrgError.limitExceeded
      return SOAPText.fault(error.code, error.message)
    }
    guard call.arguments.count <= Self.most else {
      return SOAPText.fault(
        "EXCEEDED_ID_LIMIT",
        "record limit reached. cannot submit more than \(Self.most) records into this call")
    }
    return nil
  }

  private static let invalidSession = SOAPText.fault(
    "INVALID_SESSION_ID", "Invalid Session ID found in SessionHeader: Illegal Session")

  private static func result(_ id: String, _ outcome: RowOutcome) -> String {
    let errors = outcome.errors.map { error in
      let fields = error.fields.map { XMLText.element("fields", $0) }.joined()
      return "<errors>\(fields)" + XMLText.element("message", error.message)
        + XMLText.element("statusCode", error.code) + "</errors>"
    }.joined()
    let success = outcome.id == nil ? "false" : "true"
    return "<result>\(errors)" + XMLText.element("id", OrgID.normalize(id) ?? id)
      + XMLText.element("success", success) + "</result>"
  }
}
