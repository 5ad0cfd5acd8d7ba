import JSON

/// What an operator decided about an open edit.
///
/// `LedgerDatabase.decide` records the decision with the values that the operator saw, if
/// `DecisionRule` allows it, and reopens the edit. The next run processes the edit as usual, except
/// that the planner applies the rules for decided edits instead of those of the merge mode. If the
/// edit gets a resolved verdict, the decision is marked as applied in the same transaction. If the
/// values have changed in the meantime, the edit gets an unresolved verdict and the decision
/// becomes void: the operator has to decide again. Until then the decision stays pending, even
/// after a crash.
package enum Decision: Sendable, Hashable {
  /// One of the two sides of a conflict.
  package enum Side: String, Sendable, Hashable, CaseIterable {
    case device, server
  }

  /// The kind of a decision, without its values; the raw values are used in files and in the
  /// ledger.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Send the device's edit.
    case device
    /// Keep the org's values and send nothing.
    case server
    /// Send the given values.
    case set
    /// The given record is the edit's record.
    case record
    /// Apply the rules again.
    case retry
    /// Discard the edit and send nothing.
    case discard
    /// Undo what the edit changed in the org.
    case undo

    /// The kinds that can be chosen for open edits.
    ///
    /// `undo` is requested for the resolved edits of a run.
    package static let allCases: [Kind] = [.device, .server, .set, .record, .retry, .discard]
  }

  /// Send the device's edit over the org's values as shown.
  case device
  /// Keep the org's values as shown.
  case server
  /// Send these fields. `rest` says which side's values the other edited fields get.
  case set(JSONObject, rest: Side)
  /// The record that the edit created, or the one to keep of two duplicates.
  case record(String)
  /// Apply the rules again.
  case retry
  /// Discard the edit.
  case discard
  /// Undo what a run changed with the edit.
  case undo(run: String)

  /// The kind of the decision, without its values.
  package var kind: Kind {
    switch self {
    case .device: .device
    case .server: .server
    case .set: .set
    case .record: .record
    case .retry: .retry
    case .discard: .discard
    case .undo: .undo
    }
  }

  /// Whether the edit is to be sent regardless of the rules.
  package var sends: Bool { kind == .device || kind == .set }

  /// The decision's values in the form stored in the ledger.
  package var values: JSONObject {
    switch self {
    case .set(let values, let rest): ["values": .object(values), "rest": .string(rest.rawValue)]
    case .record(let id): ["record": .string(id)]
    case .undo(let run): ["run": .string(run)]
    case .device, .server, .retry, .discard: [:]
    }
  }

  /// Reads the form stored in the ledger.
  package init?(_ kind: Kind, _ values: JSONObject) {
    switch kind {
    case .device: self = .device
    case .server: self = .server
    case .retry: self = .retry
    case .discard: self = .discard
    case .undo:
      guard let run = values["run"]?.string else { return nil }
      self = .undo(run: run)
    case .record:
      guard let id = values["record"]?.string else { return nil }
      self = .record(id)
    case .set:
      guard let fields = values["values"]?.object else { return nil }
      self = .set(
        fields, rest: values["rest"]?.string.flatMap(Side.init(rawValue:)) ?? .device)
    }
  }
}

extension Decision.Kind {
  /// The decision as a command-line option.
  package var option: String {
    switch self {
    case .device: "--take device"
    case .server: "--take server"
    case .set: "--set FIELD=VALUE"
    case .record: "--match-record ID"
    case .retry: "--retry"
    case .discard: "--discard"
    case .undo: "reconcile undo"
    }
  }

  /// The label of its button.
  package var label: String {
    switch self {
    case .device: "Device"
    case .server: "Org"
    case .set: "Set"
    case .record: "Record"
    case .retry: "Retry"
    case .discard: "Discard"
    case .undo: "Undo"
    }
  }

  /// What the decision does, as the text that follows "decided: ".
  package var meaning: String {
    switch self {
    case .device: "send the device's edit"
    case .server: "keep the org's values"
    case .set: "send the entered values"
    case .record: "use this record"
    case .retry: "retry the edit"
    case .discard: "discard the edit"
    case .undo: "undo what it changed in the org"
    }
  }
}

/// A decision about an edit that waits for the next run, with the values that the operator saw.
package struct PendingDecision: Sendable, Hashable {
  /// The decision's number in the ledger; 0 until it is recorded.
  package var id: Int64
  package var edit: Int64
  package var decision: Decision
  /// Until it is recorded, the values that the operator saw; nil stands for those of the latest
  /// report.
  package var seen: [FieldDifference]?
  package var by: String
  /// The time of the decision, in ms of the wall clock.
  package var time: Int64
  /// The verdict that the edit had; nil if no run had processed it.
  package var verdict: Verdict?
  /// The org's values that were shown, by field.
  package var shown: JSONObject
  /// The other record that was shown; for a merge, the surviving record.
  package var otherID: String?
  /// Whether a device made the decision by changing a redelivered edit.
  ///
  /// The device's user has seen only this edit, so a guard may hold it and it can cause a device
  /// conflict.
  package var isMend: Bool
  /// For an unconfirmed edit, the number of its last write recorded at the time of the decision.
  package var lastOperation: Int64?
  /// The fields of the device's edit that were shown; these are sent if the device's side was
  /// chosen.
  package var edited: Set<String> = []
  /// The kind of the edit's decision before this one; nil if there was none.
  package var former: Decision.Kind?

  package init(
    _ edit: Int64, _ decision: Decision, seen: [FieldDifference]? = nil, id: Int64 = 0,
    by: String = "", time: Int64 = 0, verdict: Verdict? = nil, shown: JSONObject = [:],
    otherID: String? = nil, isMend: Bool = false
  ) {
    (self.edit, self.seen, self.otherID, self.isMend) = (edit, seen, otherID, isMend)
    (self.id, self.decision, self.by, self.time) = (id, decision, by, time)
    (self.verdict, self.shown) = (verdict, shown)
  }

  /// Whether an operator who sees the edits of all devices approved sending this one.
  ///
  /// No guard holds such an edit, and it takes precedence over the edits that it conflicts with.
  package var isApproval: Bool { (decision.sends || isUndo) && !isMend }

  /// Whether the edit's changes are to be undone.
  package var isUndo: Bool { decision.kind == .undo }

  /// The key of `isMend` in the ledger's `detail`.
  static let mended = "mended"

  /// The key of `edited` in the ledger's `detail`.
  static let fields = "fields"

  /// The key of `lastOperation` in the ledger's `detail`.
  static let operation = "operation"

  /// The message that a decision is already pending, for decisions about many edits at once.
  package var waitingWords: String {
    "\(by) already decided to \(decision.kind.meaning), and the decision is pending; "
      + "name the edit by its number to replace it"
  }

  /// The message that the org's values are no longer those that were shown.
  package var movedWords: String {
    "\(by) decided to \(decision.kind.meaning), and the org's values have changed since they "
      + "were shown; nothing was sent: decide again"
  }

  /// The message that fields in the decision are no longer sent.
  package func unsentWords(_ names: [String]) -> String {
    "\(by) decided to \(decision.kind.meaning), and no sync up sends \(names.joined(separator: ", ")) any more; "
      + "nothing was sent: add it to a field list again, and decide again"
  }
}

/// A decision as reported with the verdict that it led to.
package struct DecisionNote: Sendable, Hashable {
  /// The outcome of a decision.
  package enum Fate: String, Sendable, Hashable, CaseIterable {
    /// The decision was applied.
    case carriedOut = "applied"
    /// The org's values had changed, or the org refused the request; a new decision is needed.
    case askedAgain = "asked again"
    /// The edit was resolved before the decision could be applied.
    case notNeeded = "not needed"
    /// The decision could not be applied yet and stays pending.
    case waiting
  }

  package var kind: Decision.Kind
  package var by: String
  package var time: Int64
  /// The outcome of the decision.
  package var fate: Fate

  package init(_ decision: PendingDecision, _ fate: Fate) {
    (kind, by, time) = (decision.decision.kind, decision.by, decision.time)
    self.fate = fate
  }

  /// The outcome of a decision, given the verdict of its edit.
  package static func fate(of kind: Decision.Kind, _ verdict: Verdict) -> Fate {
    if kind == .undo { return undone(verdict) }
    if kind == .retry { return verdict == .notAttempted ? .waiting : .carriedOut }
    if verdict == .superseded { return .notNeeded }
    // The record is identified even if the values cannot be sent to it.
    if kind == .record, verdict != .duplicateCreated {
      return verdict.isWaiting ? .waiting : .carriedOut
    }
    if verdict.isSettled {
      let givesUp = kind == .server || kind == .discard
      return givesUp == (verdict == .discarded) ? .carriedOut : .notNeeded
    }
    return verdict.isWaiting ? .waiting : .askedAgain
  }

  private static func undone(_ verdict: Verdict) -> Fate {
    if verdict.isWaiting { return .waiting }
    return switch verdict {
    case .undone, .partlyUndone: .carriedOut
    case .superseded: .notNeeded
    default: .askedAgain
    }
  }

  /// The form stored in the ledger.
  package var json: JSONValue {
    [
      "kind": .string(kind.rawValue), "by": .string(by), "time": JSONValue(time),
      "fate": .string(fate.rawValue),
    ]
  }

  /// Reads the form stored in the ledger; nil if a later version wrote it.
  package init?(json: JSONValue) {
    guard let kind = json["kind"]?.string.flatMap(Decision.Kind.init(rawValue:)),
      let fate = json["fate"]?.string.flatMap(Fate.init(rawValue:))
    else { return nil }
    self.kind = kind
    self.fate = fate
    by = json["by"]?.string ?? ""
    time = json["time"]?.int ?? 0
  }
}
