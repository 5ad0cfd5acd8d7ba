import SQLite

/// The state of an operation in the ledger.
package enum OperationState: String, Sendable, Hashable {
  /// Recorded, and not sent.
  case planned
  /// Sent, without an answer so far.
  case sent
  /// Its answer was lost.
  case doubt
  /// The org did it.
  case done
  /// The org refused it.
  case rejected
  /// Its condition did not hold.
  case conflict
  /// Discarded.
  case dropped

  /// The states in which the org may be performing the operation.
  static let underWay: [OperationState] = [.sent, .doubt]
  /// The states of operations that are not finished.
  static let unfinished: [OperationState] = [.planned] + underWay

  /// Reads a column's value.
  init(_ text: String?, in path: String) throws(LedgerError) {
    guard let text, let state = OperationState(rawValue: text) else {
      throw .damaged(path: path, what: "the state of an operation")
    }
    self = state
  }
}

/// Literals instead of bound values, because SQLite uses a partial index only if the statement's
/// text implies the index's condition.
extension SQL.StringInterpolation {
  package mutating func appendInterpolation(_ state: OperationState) {
    appendInterpolation(raw: SQL.quoted(text: state.rawValue))
  }

  /// A list of states.
  package mutating func appendInterpolation(_ states: [OperationState]) {
    appendInterpolation(raw: states.map { SQL.quoted(text: $0.rawValue) }.joined(separator: ", "))
  }

  package mutating func appendInterpolation(_ verdict: Verdict) {
    appendInterpolation(raw: SQL.quoted(text: verdict.rawValue))
  }
}
