import JSON
import Ledger
import Salesforce

/// What whoever decided about an edit was shown of its record: the one measure of all decisions.
///
/// A decision holds while the record is what it was then: there with these values, or gone. Where nothing
/// was shown of it, nothing that somebody has entered is gone over.
struct ShownRecord {
  /// How the record was.
  enum State: Equatable {
    /// It was there.
    case alive
    /// It was gone, as this verdict says.
    case gone(Verdict)
    /// It was not there yet, or nobody looked.
    case unseen
  }

  /// How the record was.
  let state: State
  /// The org's values that were shown and count.
  let values: JSONObject
  private let decision: Decision

  /// What was shown to the maker of a decision.
  init(_ pending: PendingDecision) {
    decision = pending.decision
    switch pending.verdict {
    case .deletedOnServer?: state = .gone(.deletedOnServer)
    case .mergedOnServer?: state = .gone(.mergedOnServer)
    case .notVisible?: state = .gone(.notVisible)
    case .conflict?: state = .alive
    default: state = pending.shown.isEmpty ? .unseen : .alive
    }
    // A clash is about devices: the org's value may be what another decision has just sent.
    let isAboutDevices = pending.verdict == .deviceConflict && pending.decision == .server
    values = isAboutDevices ? [:] : pending.shown
  }

  /// Says whether a record that is there was gone, or had other values.
  func hasMoved(_ fields: JSONObject) -> Bool {
    if case .gone = state { return true }
    return hasOtherValues(fields)
  }

  /// Says whether a record holds something else than was shown.
  func hasOtherValues(_ fields: JSONObject) -> Bool {
    values.contains { name, shown in
      fields[name].map { !FieldValue.isSame($0, shown) } ?? false
    }
  }

  /// Says whether a record that is gone, as this verdict says, was so when the decision was made.
  ///
  /// What was never looked at may be left, whatever became of it.
  func isStill(_ verdict: Verdict) -> Bool {
    state == .gone(verdict) || (state == .unseen && decision == .server)
  }

  /// Says whether what is sent goes over a value that somebody has entered and nobody was shown.
  ///
  /// `expected` is what the org held when the device read it, or what we left there; nil where nobody
  /// knows.
  func isHidden(under sent: [FieldDifference], expected: (String) -> JSONValue?) -> Bool {
    sent.contains { field in
      guard let theirs = field.server, values[field.name] == nil,
        !FieldValue.isSame(field.sent, theirs)
      else { return false }
      return !FieldValue.isSame(expected(field.name) ?? .null, theirs)
    }
  }
}
