import SQLite

/// How far an operation is, as the ledger has it.
package enum OperationState: String, Sendable, Hashable {
  /// Entered, and not sent.
  case planned
  /// Under way: nothing has been heard of it.
  case sent
  /// Its answer was lost.
  case doubt
  /// The org did it.
  case done
  /// The org refused it.
  case rejected
  /// Its condition did not hold.
  case conflict
  /// Given up.
  case dropped

  /// Those of which the org may be at work.
  static let underWay: [OperationState] = [.sent, .doubt]
  /// Those that have to come to an end.
  static let unfinished: [OperationState] = [.planned] + underWay

  /// Reads a column.
  init(_ text: String?, in path: String) throws(LedgerError) {
    guard let text, let state = OperationState(rawValue: text) else {
      throw .damaged(path: path, what: "the state of an operation")
    }
    self = state
  }
}

/// Literals, and not values that are bound: SQLite uses an index of some rows only where the text says
/// that they are those.
extension SQL.StringInterpolation {
  /// A state.
  package mutating func appendInterpolation(_ state: OperationState) {
    appendInterpolation(raw: SQL.quoted(text: state.rawValue))
  }

  /// States of a list.
  package mutating func appendInterpolation(_ states: [OperationState]) {
    appendInterpolation(raw: states.map { SQL.quoted(text: $0.rawValue) }.joined(separator: ", "))
  }

  /// A verdict.
  package mutating func appendInterpolation(_ verdict: Verdict) {
    appendInterpolation(raw: SQL.quoted(text: verdict.rawValue))
  }
}
