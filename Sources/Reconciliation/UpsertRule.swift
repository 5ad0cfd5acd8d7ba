import JSON
import Ledger
import MobileSync
import Salesforce

/// Decides what becomes of a create that goes out by an external id.
///
/// The SDK sends it whatever the org holds under that id, and so does a first attempt here: what is
/// overwritten is listed. After an attempt without an answer it is compared as any update is, with
/// what was there before that attempt: somebody may have been at work since.
enum UpsertRule {
  /// What the org holds under the external id.
  enum Keyed {
    /// Nothing that the sender sees.
    case absent
    /// This record.
    case found(JSONObject)
    /// It could not be asked for, or several records have the id: the org will say.
    case unknown
  }

  /// An attempt that got no answer.
  struct Attempt {
    /// What the org held before it: null for nothing, nil where that is not known.
    var seen: JSONValue?
    /// What became of the record that was there and is not any more.
    var fate: ServerRecord?
  }

  /// The step; `expected` is the settlement of success without a record to overwrite.
  static func step(
    _ facts: EditFacts, _ keyed: Keyed, after attempt: Attempt?, expected: Settlement
  ) -> EditRule.Step {
    switch keyed {
    case .unknown: return .send(.upsert, expected, ifUnmodifiedSince: nil)
    case .absent: return absent(facts, attempt, expected)
    case .found(let record): return found(facts, record, attempt, expected)
    }
  }

  private static func absent(
    _ facts: EditFacts, _ attempt: Attempt?, _ expected: Settlement
  ) -> EditRule.Step {
    guard let attempt, case .object(let seen)? = attempt.seen, let fate = attempt.fate else {
      return .send(.upsert, expected, ifUnmodifiedSince: nil)
    }
    var detail = expected.detail
    detail.recordID = UnacknowledgedCreates.id(of: seen)
    detail.fields = differences(facts, server: nil, base: seen)
    switch fate {
    case .deleted where facts.mode == .overwrite && facts.recreate != .never:
      detail.otherID = detail.recordID
      detail.recordID = nil
      detail.message = "the record was deleted in the org and is made anew"
      return .send(.upsert, Settlement(.created, detail), ifUnmodifiedSince: nil)
    case .deleted: return .settle(Settlement(.deletedOnServer, detail))
    case .merged(let master):
      detail.otherID = master
      return .settle(Settlement(.mergedOnServer, detail))
    case .hidden, .unknown, .alive: return .settle(Settlement(.notVisible, detail))
    }
  }

  private static func found(
    _ facts: EditFacts, _ record: JSONObject, _ attempt: Attempt?, _ expected: Settlement
  ) -> EditRule.Step {
    let seen = attempt?.seen?.object
    var detail = expected.detail
    detail.recordID = UnacknowledgedCreates.id(of: record)
    detail.fields = differences(facts, server: record, base: seen)
    if let pending = facts.decision, pending.decision.sends {
      return decided(pending, detail)
    }
    let isSame = detail.fields.allSatisfy { FieldValue.isSame($0.device, $0.server) }
    let isUnmoved =
      seen.map { seen in
        detail.fields.allSatisfy { FieldValue.isSame(seen[$0.name], $0.server) }
      } ?? false
    guard attempt != nil, !isSame, !isUnmoved, facts.mode == .leaveIfChanged else {
      return .send(.upsert, Settlement(.updated, detail), ifUnmodifiedSince: nil)
    }
    detail.message = "no answer came back to the first attempt, and the record has changed since"
    return .settle(Settlement(.conflict, detail))
  }

  /// A person has seen what stands there, and decided: it is gone over as far as it stands so still.
  private static func decided(_ pending: PendingDecision, _ detail: OutcomeDetail) -> EditRule.Step
  {
    var detail = detail
    let isShown = detail.fields.allSatisfy { field in
      pending.shown[field.name].map { FieldValue.isSame($0, field.server) } ?? !field.isConflicting
    }
    guard pending.verdict == .conflict || pending.verdict == .clash, !isShown else {
      return .send(.upsert, Settlement(.updated, detail), ifUnmodifiedSince: nil)
    }
    detail.message = pending.movedWords
    return .settle(Settlement(.conflict, detail))
  }

  /// The fields in which the device and the org differ; those that hold something of the org's are
  /// contested.
  private static func differences(
    _ facts: EditFacts, server: JSONObject?, base: JSONObject?
  ) -> [FieldDifference] {
    facts.listed.compactMap { name in
      guard let value = facts.device[name] else { return nil }
      // What the org did not let be read is not known.
      guard let server else {
        return FieldDifference(name: name, base: base?[name], device: value, server: nil)
      }
      guard let theirs = server[name], !FieldValue.isSame(value, theirs) else { return nil }
      return FieldDifference(
        name: name, base: base?[name], device: value, server: theirs,
        isConflicting: !FieldValue.isSame(theirs, nil))
    }
  }
}
