import HTTP
import System

/// Injected faults, each of which waits for matching requests.
package final class Faults: Sendable {
  /// The effect of a fault.
  package enum Action: Sendable {
    /// An error instead of the response; with `afterCommit`, the request is processed anyway.
    case status(Int, code: String, message: String = "injected fault", afterCommit: Bool = false)
    /// Any given response instead of the correct one.
    case respond(ServerResponse)
    /// The connection is closed without a response, before or after the request is processed.
    case drop(afterCommit: Bool)
    /// The body ends after this number of bytes, less than its length.
    case truncate(bytes: Int)
    /// The connection is closed without a response, and the request arrives later: at the first
    /// request after this number of seconds of the org's time, or when `OrgServer.deliverHeld` is
    /// called.
    case deliverLate(seconds: Int)
    /// The response is delayed.
    case delay(milliseconds: Int)
    /// The body pauses after this number of bytes until `until` returns.
    case pause(afterBytes: Int, until: @Sendable () -> Void)
    /// The request's session is ended before it is processed.
    case expireSession
    /// All query locators are invalidated first.
    case expireCursors
    /// A page of a query or of priming records contains at most this number of records, whatever
    /// was requested.
    case shortPage(records: Int)
    /// A retrieve returns null for this record.
    case nullEntry(id: String)
    /// A retrieve returns null at this index, counted from 0.
    case nullPlace(Int)
    /// The first parts of a collection, composite or batch are processed and persist, unless it is
    /// all or none; then the response is an error, or the connection is closed.
    case interrupt(
      afterParts: Int, status: Int = 503, code: String = "SERVER_UNAVAILABLE", drops: Bool = false)
    /// One part of a collection, composite or batch, counted from 0, is refused.
    case refusePart(Int, status: Int = 400, code: String, message: String = "injected fault")
    /// One part of a composite or batch, counted from 0, takes this long.
    case delayPart(Int, milliseconds: Int)
    /// The request's writes are dated back by this number of seconds, as in a late commit.
    case commitLate(seconds: Int)
    /// The org's clock is moved first; a negative number moves it back.
    case moveClock(seconds: Int)
    /// Priming reports this rule as failed, and omits an object's records if one is named.
    case ruleError(ruleID: String, object: String? = nil)
    /// The daily limit of calls is exhausted.
    case limitExceeded
    /// Another change of the org is made first.
    case mutate(@Sendable (Org) throws -> Void)
    /// The request is observed first, unless an earlier fault has thrown.
    case observe(@Sendable (ReceivedRequest) -> Void)

    /// The label in the log.
    var label: String {
      switch self {
      case .status(let status, let code, _, let after):
        "status \(status) \(code)\(after ? " after commit" : "")"
      case .respond(let response): "respond \(response.status)"
      case .drop(let after): after ? "drop after commit" : "drop before commit"
      case .truncate(let bytes): "truncate at \(bytes)"
      case .deliverLate(let seconds): "deliver late by \(seconds) s"
      case .delay(let milliseconds): "delay \(milliseconds)"
      case .pause(let bytes, _): "pause at \(bytes)"
      case .expireSession: "expire session"
      case .expireCursors: "expire cursors"
      case .shortPage(let records): "short page \(records)"
      case .nullEntry: "null entry"
      case .nullPlace(let place): "null at \(place)"
      case .interrupt(let parts, let status, let code, let drops):
        "interrupt after \(parts) parts: \(drops ? "drop" : "\(status) \(code)")"
      case .refusePart(let part, _, let code, _): "refuse part \(part) \(code)"
      case .delayPart(let part, let milliseconds): "delay part \(part) by \(milliseconds)"
      case .commitLate(let seconds): "commit late by \(seconds) s"
      case .moveClock(let seconds): "move clock by \(seconds) s"
      case .ruleError: "rule error"
      case .limitExceeded: "limit exceeded"
      case .mutate: "mutate"
      case .observe: "observe"
      }
    }
  }

  private struct Armed {
    let match: FaultMatch
    let first: Int
    let times: Int
    let action: Action
    var seen = 0
    var fired = 0
  }

  private let state = Locked<[Armed]>([])

  package init() {}

  /// Adds a fault that affects the `nth` matching request from now on.
  ///
  /// It affects the following ones too, `times` in total. Several faults may affect one request, in
  /// the order in which they were added.
  package func add(_ match: FaultMatch, nth: Int = 1, times: Int = 1, _ action: Action) {
    state.withLock {
      $0.append(Armed(match: match, first: max(nth, 1), times: times, action: action))
    }
  }

  /// Removes all faults.
  package func removeAll() { state.withLock { $0 = [] } }

  /// Whether there are faults, including those that have already fired.
  package var isArmed: Bool { state.withLock { !$0.isEmpty } }

  /// The number of times that faults fired.
  package var fired: Int { state.withLock { $0.reduce(0) { $0 + $1.fired } } }

  func plan(for request: RequestFacts) -> FaultPlan {
    state.withLock { faults in
      var actions: [Action] = []
      for index in faults.indices where faults[index].match.covers(request) {
        faults[index].seen += 1
        let place = faults[index].seen - faults[index].first
        if place >= 0, place < faults[index].times {
          faults[index].fired += 1
          actions.append(faults[index].action)
        }
      }
      return FaultPlan(
        actions: actions, isForToken: request.kind == .token,
        isForSOAP: request.kind == .soapUndelete)
    }
  }
}
