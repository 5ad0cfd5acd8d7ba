import JSON
import Ledger
import Salesforce

/// What the operator was shown of an edit's record; every decision is validated against it.
///
/// A decision is valid as long as the record is as it was then: it exists with these values, or
/// does not exist. If the record was not shown, a decision does not overwrite another user's
/// values.
struct ShownRecord {
  /// The record's state as shown.
  enum State: Equatable {
    /// It existed.
    case alive
    /// It was gone, according to this verdict.
    case gone(Verdict)
    /// It did not exist yet, or was not read.
    case unseen
  }

  let state: State
  /// The org's values that were shown and matter.
  let values: JSONObject
  private let decision: Decision

  /// What was shown for a decision.
  init(_ pending: PendingDecision) {
    decision = pending.decision
    switch pending.verdict {
    case .deletedOnServer?: state = .gone(.deletedOnServer)
    case .mergedOnServer?: state = .gone(.mergedOnServer)
    case .notVisible?: state = .gone(.notVisible)
    case .conflict?: state = .alive
    default: state = pending.shown.isEmpty ? .unseen : .alive
    }
    // A device conflict is about devices: the org's value may come from another decision.
    let isAboutDevices = pending.verdict == .deviceConflict && pending.decision == .server
    values = isAboutDevices ? [:] : pending.shown
  }

  /// Whether a record that exists did not exist before, or had other values.
  func hasMoved(_ fields: JSONObject) -> Bool {
    if case .gone = state { return true }
    return hasOtherValues(fields)
  }

  /// Whether a record has other values than those shown.
  func hasOtherValues(_ fields: JSONObject) -> Bool {
    values.contains { name, shown in
      fields[name].map { !FieldValue.isSame($0, shown) } ?? false
    }
  }

  /// Whether a record that is gone, according to this verdict, already was when the decision was
  /// made.
  ///
  /// A record that was never read can be left, whatever its state.
  func isStill(_ verdict: Verdict) -> Bool {
    state == .gone(verdict) || (state == .unseen && decision == .server)
  }

  /// Whether the write overwrites another user's value that was not shown.
  ///
  /// `expected` is the org's value when the device read it, or after prior writes; nil if
  /// unknown.
  func isHidden(under sent: [FieldDifference], expected: (String) -> JSONValue?) -> Bool {
    sent.contains { field in
      guard let theirs = field.server, values[field.name] == nil,
        !FieldValue.isSame(field.sent, theirs)
      else { return false }
      return !FieldValue.isSame(expected(field.name) ?? .null, theirs)
    }
  }
}
