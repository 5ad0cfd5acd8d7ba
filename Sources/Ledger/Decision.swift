import JSON

/// What a person decided about an edit that a run left.
///
/// How one goes its way: `LedgerDatabase.decide` enters it with the values that its maker was shown, if
/// `DecisionRule` allows it, and opens the edit. The next run takes the edit up like any other; the
/// planner asks the rules of decided edits instead of those of the merge mode. In the transaction in
/// which the edit gets a settled verdict the decision is carried out; where the values have moved the
/// edit gets an unsettled one, and the decision is void: it is asked again. Until then it stands,
/// whatever dies in between.
package enum Decision: Sendable, Hashable {
  /// One of the two sides of a conflict.
  package enum Side: String, Sendable, Hashable, CaseIterable {
    case device, server
  }

  /// What was decided, without its values; the words of files and of the ledger.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The device's edit is sent.
    case device
    /// The org's values stand; nothing is sent.
    case server
    /// These values are sent.
    case set
    /// This is the edit's record.
    case record
    /// The rules decide again.
    case retry
    /// The edit is given up; nothing is sent.
    case discard
    /// What the edit changed in the org is undone.
    case undo

    /// What is decided about open edits.
    ///
    /// To undo is asked of a run (`LedgerDatabase.undo`), about what it has settled.
    package static let allCases: [Kind] = [.device, .server, .set, .record, .retry, .discard]
  }

  /// The device's edit is sent over what the org holds, as it was shown.
  case device
  /// The org's values stand, as they were shown.
  case server
  /// These fields are sent; of the others that the device edited, those that `rest` says are the
  /// device's or stay the org's.
  case set(JSONObject, rest: Side)
  /// This record is the one that the edit created, or the one of two that counts.
  case record(String)
  /// The rules decide again.
  case retry
  /// The edit is given up.
  case discard
  /// What a run changed by it is undone.
  case undo(run: String)

  /// What was decided, without its values.
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

  /// Says whether the edit is to be sent, whatever the rules would say.
  package var sends: Bool { kind == .device || kind == .set }

  /// Its values as the ledger keeps them.
  package var values: JSONObject {
    switch self {
    case .set(let values, let rest): ["values": .object(values), "rest": .string(rest.rawValue)]
    case .record(let id): ["record": .string(id)]
    case .undo(let run): ["run": .string(run)]
    case .device, .server, .retry, .discard: [:]
    }
  }

  /// Reads what the ledger keeps.
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
  /// How the command line writes it.
  package var option: String {
    switch self {
    case .device: "--take device"
    case .server: "--take server"
    case .set: "--set FIELD=VALUE"
    case .record: "--record ID"
    case .retry: "--retry"
    case .discard: "--discard"
    case .undo: "reconcile undo"
    }
  }

  /// What a button for it says that stands beside others.
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

  /// What it does, after "decided: ".
  package var meaning: String {
    switch self {
    case .device: "send the device's edit"
    case .server: "leave the org's values"
    case .set: "send the values that were entered"
    case .record: "this is the record"
    case .retry: "retry the edit"
    case .discard: "discard the edit"
    case .undo: "undo what it changed in the org"
    }
  }
}

/// A decision about one edit, as it is entered.
package struct EditDecision: Sendable, Hashable {
  /// The edit's number.
  package var edit: Int64
  /// What is decided.
  package var decision: Decision
  /// The values that its maker saw; nil for those of the last report.
  package var seen: [FieldDifference]?

  /// A decision about an edit.
  package init(_ edit: Int64, _ decision: Decision, seen: [FieldDifference]? = nil) {
    (self.edit, self.decision, self.seen) = (edit, decision, seen)
  }
}

/// A decision that waits to be carried out, with what its maker saw.
package struct PendingDecision: Sendable, Hashable {
  /// Its number in the ledger.
  package var id: Int64
  /// What was decided.
  package var decision: Decision
  /// Who decided.
  package var by: String
  /// When, in ms of the wall clock.
  package var time: Int64
  /// The verdict that the edit had; nil for one that no run had taken up.
  package var verdict: Verdict?
  /// The org's values that were shown, by field.
  package var shown: JSONObject
  /// The other record that was shown: of a merge the one that remained.
  package var otherID: String?
  /// Says that a device made it, by a change of an edit that it was given back: its user has seen this
  /// edit and no other, so a guard may hold it, and it may clash.
  package var isMend: Bool
  /// Of an edit in doubt the number of its last write that was noted when it was decided; nil for what a ledger of
  /// an earlier version has taken in.
  package var lastOperation: Int64?
  /// The fields of the device's edit that were shown: those that it sends where the device's side was taken.
  package var edited: Set<String> = []

  /// A decision.
  package init(
    id: Int64 = 0, _ decision: Decision, by: String = "", time: Int64 = 0, verdict: Verdict?,
    shown: JSONObject = [:], otherID: String? = nil, isMend: Bool = false
  ) {
    self.otherID = otherID
    self.isMend = isMend
    (self.id, self.decision, self.by, self.time) = (id, decision, by, time)
    (self.verdict, self.shown) = (verdict, shown)
  }

  /// Says that a person who sees the edits of all devices sends this one: no guard holds it, and it stands
  /// above others that it clashes with.
  package var isApproval: Bool { (decision.sends || isUndo) && !isMend }

  /// Says that what the edit changed is to be undone.
  package var isUndo: Bool { decision.kind == .undo }

  /// The member of `detail` in the ledger that says `isMend`.
  static let mended = "mended"

  /// The member of `detail` in the ledger that holds `edited`.
  static let fields = "fields"

  /// The member of `detail` in the ledger that holds `lastOperation`.
  static let operation = "operation"

  /// Says that it stands, where somebody decides about many edits at once.
  package var waitingWords: String {
    "\(by) has decided to \(decision.kind.meaning), which waits for the next run; name the edit by its "
      + "number to decide otherwise"
  }

  /// Says that the org holds something else than was shown.
  package var movedWords: String {
    "\(by) decided to \(decision.kind.meaning), and the org has moved on from what was shown then; "
      + "nothing was sent: decide again"
  }

  /// Says that fields which were decided are sent no more.
  package func unsentWords(_ names: [String]) -> String {
    "\(by) decided to \(decision.kind.meaning), and no sync up sends \(names.joined(separator: ", ")) any more; "
      + "nothing was sent: put it into a field list again, and decide again"
  }
}

/// A decision beside the verdict that it led to.
package struct DecisionNote: Sendable, Hashable {
  /// What became of it.
  package enum Fate: String, Sendable, Hashable, CaseIterable {
    /// It was done.
    case carriedOut = "carried out"
    /// The org had moved on, or refused it: it has to be decided once more.
    case askedAgain = "asked again"
    /// The edit was settled before it could be done.
    case notNeeded = "not needed"
    /// It could not be tried yet, and stands.
    case waiting
  }

  /// What was decided.
  package var kind: Decision.Kind
  /// Who decided.
  package var by: String
  /// When, in ms of the wall clock.
  package var time: Int64
  /// What became of it.
  package var fate: Fate

  /// A note.
  package init(_ decision: PendingDecision, _ fate: Fate) {
    (kind, by, time) = (decision.decision.kind, decision.by, decision.time)
    self.fate = fate
  }

  /// What the verdict of a decided edit makes of the decision.
  package static func fate(of kind: Decision.Kind, _ verdict: Verdict) -> Fate {
    if kind == .undo { return undone(verdict) }
    if kind == .retry { return verdict == .notAttempted ? .waiting : .carriedOut }
    if verdict == .superseded { return .notNeeded }
    // Which record it is was said, whatever becomes of what is to be sent into it.
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

  /// The form in the ledger.
  package var json: JSONValue {
    [
      "kind": .string(kind.rawValue), "by": .string(by), "time": JSONValue(time),
      "fate": .string(fate.rawValue),
    ]
  }

  /// Reads the form in the ledger; nil for what a later version wrote.
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
