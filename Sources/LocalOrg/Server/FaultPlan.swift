import HTTP
import JSON
import System

/// The faults that affect one request, by when they apply.
struct FaultPlan: Sendable {
  private(set) var actions: [Faults.Action]
  /// Whether the request is to the token endpoint, which has its own error format.
  var isForToken = false
  /// Whether it is a SOAP call, whose errors are faults.
  var isForSOAP = false

  /// The faults' label in the log.
  var label: String? {
    actions.isEmpty ? nil : actions.map(\.label).joined(separator: ", ")
  }

  /// Whether the caller's session is ended first.
  var expiresSession: Bool {
    actions.contains { if case .expireSession = $0 { true } else { false } }
  }

  /// The maximum number of records per page.
  var pageLimit: Int? {
    for case .shortPage(let records) in actions { return records }
    return nil
  }

  /// How long the request is in transit, in milliseconds; nil if it arrives at once.
  var holdMilliseconds: Int64? {
    for case .deliverLate(let seconds) in actions { return Int64(seconds) * 1000 }
    return nil
  }

  /// The remaining faults when a delayed request arrives and its client is gone.
  var onArrival: FaultPlan {
    var plan = self
    plan.actions.removeAll { if case .deliverLate = $0 { true } else { false } }
    return plan
  }

  /// The records that a retrieve does not find.
  var nullIDs: [String] {
    actions.compactMap { if case .nullEntry(let id) = $0 { id } else { nil } }
  }

  /// The positions at which a retrieve finds nothing.
  var nullPlaces: Set<Int> {
    Set(actions.compactMap { if case .nullPlace(let place) = $0 { place } else { nil } })
  }

  /// The number of parts after which a request is interrupted.
  var partLimit: Int? {
    for case .interrupt(let parts, _, _, _) in actions { return max(0, parts) }
    return nil
  }

  /// Takes the time that a part is to take.
  func delay(part place: Int) {
    for case .delayPart(place, let milliseconds) in actions {
      Clock.pause(microseconds: UInt32(clamping: milliseconds) &* 1000)
    }
  }

  /// Returns the error of a part, if it is to be refused.
  func refusal(ofPart place: Int) -> OrgError? {
    for case .refusePart(place, let status, let code, let message) in actions {
      return OrgError(status: status, code: code, message: message)
    }
    return nil
  }

  /// The remaining faults for a part as a separate request.
  var forPart: FaultPlan {
    var plan = self
    plan.actions.removeAll {
      switch $0 {
      case .interrupt, .refusePart, .delayPart: true
      default: false
      }
    }
    return plan
  }

  /// How far back the request's writes are dated, in milliseconds.
  var lag: Int64 {
    actions.reduce(0) {
      if case .commitLate(let seconds) = $1 { max($0, Int64(seconds) * 1000) } else { $0 }
    }
  }

  /// The rules that priming reports as failed, with the objects that they omit.
  var ruleErrors: [(ruleID: String, object: String?)] {
    actions.compactMap {
      if case .ruleError(let ruleID, let object) = $0 { (ruleID, object) } else { nil }
    }
  }

  /// Applies the faults to the org before the request is processed.
  func strikeBefore(_ org: Org, _ request: @autoclosure () -> ReceivedRequest) throws {
    for action in actions {
      switch action {
      case .mutate(let body): try body(org)
      case .observe(let body): body(request())
      case .expireCursors: try org.expireCursors()
      case .moveClock(let seconds): try org.moveClock(by: Int64(seconds) * 1000)
      default: break
      }
    }
  }

  /// The response sent instead of processing the request; nil if it is to be processed.
  var answerBefore: ServerResponse? {
    for action in actions {
      switch action {
      case .status(let status, let code, let message, false):
        return refusal(status, code, message)
      case .limitExceeded:
        let error = OrgError.limitExceeded
        return refusal(error.status, error.code, error.message)
      case .drop(afterCommit: false), .deliverLate,
        .interrupt(afterParts: 0, _, _, drops: true):
        return ServerResponse(status: 500, fault: .dropBeforeHead)
      case .interrupt(afterParts: 0, let status, let code, drops: false):
        return refusal(status, code, "injected fault")
      case .respond(let response): return response
      default: break
      }
    }
    return nil
  }

  /// Applies the faults to the response after processing.
  func applyAfter(_ response: ServerResponse) -> ServerResponse {
    var result = response
    for action in actions {
      switch action {
      case .status(let status, let code, let message, true):
        result = refusal(status, code, message)
      case .interrupt(_, let status, let code, drops: false):
        result = refusal(status, code, "injected fault")
      case .drop(afterCommit: true), .interrupt(_, _, _, drops: true):
        result.fault = .dropBeforeHead
      case .truncate(let bytes): result.fault = .dropAfter(bytes: bytes)
      case .delay(let milliseconds):
        if result.fault == nil { result.fault = .delay(milliseconds: milliseconds) }
      case .pause(let bytes, let gate): result.fault = .pause(afterBytes: bytes, until: gate)
      default: break
      }
    }
    return result
  }

  private func refusal(_ status: Int, _ code: String, _ message: String) -> ServerResponse {
    if isForToken {
      let body: JSONValue = ["error": .string(code), "error_description": .string(message)]
      return ServerResponse(status: status, headers: Wire.json, body: body.bytes)
    }
    if isForSOAP { return SOAPText.fault(code, message) }
    let answer = APIResponse.failure([OrgError(status: status, code: code, message: message)])
    return ServerResponse(status: status, headers: Wire.json, body: answer.body)
  }
}

/// Header fields of every response.
enum Wire {
  static let json: HTTPHeaders = ["Content-Type": "application/json;charset=UTF-8"]
}
