import HTTP
import JSON

/// The faults that strike one request, by the moment at which they do.
struct FaultPlan: Sendable {
  private(set) var actions: [Faults.Action]
  /// Whether the token endpoint is struck, whose refusals have a shape of their own.
  var isForToken = false
  /// Whether it is a call of the SOAP API that is struck: its refusals are faults.
  var isForSOAP = false

  /// How the log names them.
  var label: String? {
    actions.isEmpty ? nil : actions.map(\.label).joined(separator: ", ")
  }

  /// Whether the caller's session ends first.
  var expiresSession: Bool {
    actions.contains { if case .expireSession = $0 { true } else { false } }
  }

  /// The most records of a page.
  var pageLimit: Int? {
    for case .shortPage(let records) in actions { return records }
    return nil
  }

  /// How many milliseconds the request is on its way; nil when it arrives at once.
  var holdMilliseconds: Int64? {
    for case .deliverLate(let seconds) in actions { return Int64(seconds) * 1000 }
    return nil
  }

  /// What is left of the plan when a held request arrives: nobody waits for the answer.
  var onArrival: FaultPlan {
    var plan = self
    plan.actions.removeAll { if case .deliverLate = $0 { true } else { false } }
    return plan
  }

  /// The records that a retrieve does not find.
  var nullIDs: [String] {
    actions.compactMap { if case .nullEntry(let id) = $0 { id } else { nil } }
  }

  /// The places at which a retrieve finds nothing.
  var nullPlaces: Set<Int> {
    Set(actions.compactMap { if case .nullPlace(let place) = $0 { place } else { nil } })
  }

  /// After how many parts a request is broken off.
  var partLimit: Int? {
    for case .interrupt(let parts, _, _, _) in actions { return max(0, parts) }
    return nil
  }

  /// Why a part is refused, if it is.
  func refusal(ofPart place: Int) -> OrgError? {
    for case .refusePart(place, let status, let code, let message) in actions {
      return OrgError(status: status, code: code, message: message)
    }
    return nil
  }

  /// What is left for a part of the request by itself: its own parts are not meant.
  var forPart: FaultPlan {
    var plan = self
    plan.actions.removeAll {
      switch $0 {
      case .interrupt, .refusePart: true
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

  /// The rules that priming reports as failed, with the objects they leave out.
  var ruleErrors: [(ruleID: String, object: String?)] {
    actions.compactMap {
      if case .ruleError(let ruleID, let object) = $0 { (ruleID, object) } else { nil }
    }
  }

  /// What happens to the org before the request is looked at.
  func strikeBefore(_ org: Org) throws {
    for action in actions {
      switch action {
      case .mutate(let body): try body(org)
      case .expireCursors: try org.expireCursors()
      case .moveClock(let seconds): try org.moveClock(by: Int64(seconds) * 1000)
      default: break
      }
    }
  }

  /// The answer that stands in for work that is not done; nil when it is to be done.
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

  /// The answer after the work, with what happens to it on the way.
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

/// Header fields that every answer shares.
enum Wire {
  static let json: HTTPHeaders = ["Content-Type": "application/json;charset=UTF-8"]
}
