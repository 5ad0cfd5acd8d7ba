import HTTP
import System

/// Failures to inject: each waits for its requests and then does its harm.
package final class Faults: Sendable {
  /// What goes wrong.
  package enum Action: Sendable {
    /// A refusal in place of the answer; after the commit, the work is done all the same.
    case status(Int, code: String, message: String = "injected fault", afterCommit: Bool = false)
    /// Any answer at all, in place of the right one.
    case respond(ServerResponse)
    /// The connection ends without an answer, before or after the work is done.
    case drop(afterCommit: Bool)
    /// The body ends after so many bytes, less than its length.
    case truncate(bytes: Int)
    /// The connection ends without an answer, and the request arrives later: at the first request
    /// after so many seconds of the org's time, or when `OrgServer.deliverHeld` is called.
    case deliverLate(seconds: Int)
    /// The answer is held back.
    case delay(milliseconds: Int)
    /// The body stops after so many bytes until `until` returns.
    case pause(afterBytes: Int, until: @Sendable () -> Void)
    /// The request's session ends before it is looked at.
    case expireSession
    /// Every query locator given out so far becomes invalid first.
    case expireCursors
    /// A page of a query or of priming records holds at most so many, whatever was asked for.
    case shortPage(records: Int)
    /// A retrieve answers null for this record.
    case nullEntry(id: String)
    /// A retrieve answers null at this place, counted from 0.
    case nullPlace(Int)
    /// Of a collection, composite or batch the first so many parts are done and stay done, unless
    /// it is all or none; then the answer is a refusal, or the connection drops.
    case interrupt(
      afterParts: Int, status: Int = 503, code: String = "SERVER_UNAVAILABLE", drops: Bool = false)
    /// One part of a collection, composite or batch is refused, counted from 0.
    case refusePart(Int, status: Int = 400, code: String, message: String = "injected fault")
    /// What the request writes is dated so many seconds back: it was committed late.
    case commitLate(seconds: Int)
    /// The org's clock moves first, backwards when the number is negative.
    case moveClock(seconds: Int)
    /// Priming names this rule as failed, and leaves out an object's records when one is named.
    case ruleError(ruleID: String, object: String? = nil)
    /// The day's calls are used up.
    case limitExceeded
    /// Somebody else works on the org first.
    case mutate(@Sendable (Org) throws -> Void)

    /// How the log names it.
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
      case .commitLate(let seconds): "commit late by \(seconds) s"
      case .moveClock(let seconds): "move clock by \(seconds) s"
      case .ruleError: "rule error"
      case .limitExceeded: "limit exceeded"
      case .mutate: "mutate"
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

  /// No faults.
  package init() {}

  /// Arms a fault that strikes at the `nth` request that matches from now on.
  ///
  /// It strikes the next ones too, up to `times` in all. Several faults may strike one request, in
  /// the order of arming.
  package func add(_ match: FaultMatch, nth: Int = 1, times: Int = 1, _ action: Action) {
    state.withLock {
      $0.append(Armed(match: match, first: max(nth, 1), times: times, action: action))
    }
  }

  /// Disarms every fault.
  package func removeAll() { state.withLock { $0 = [] } }

  /// Whether a fault is armed, even one that has struck.
  package var isArmed: Bool { state.withLock { !$0.isEmpty } }

  /// How often faults struck.
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
