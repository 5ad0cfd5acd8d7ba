import JSON
import Ledger
import MobileSync
import Salesforce

/// What becomes of an edit that a person has decided about.
///
/// The merge mode has no say in it. What was decided holds for the values that were shown: where the org
/// holds another value in one of those fields, or a value in a field that would be gone over and was not
/// shown, nothing is sent, and the edit is left with what the org holds now. What is sent is what the
/// device edited, not the whole field list: what others changed beside it stays.
extension EditRule {
  /// The step of a decided edit; nil where the rules decide.
  static func decided(_ facts: EditFacts) -> Step? {
    guard let pending = facts.decision, facts.operation != .none, facts.operation != .dropLocally
    else { return nil }
    switch pending.decision {
    case .again, .record, .drop: return nil
    case .device, .set: if facts.operation == .create { return nil }
    case .server: if facts.operation == .create { return .settle(Settlement(.dropped)) }
    }
    switch facts.server {
    case .alive(let date, let fields): return alive(facts, pending, date, fields)
    case .deleted: return deleted(facts, pending)
    case .merged(let master):
      var detail = lost(facts)
      detail.otherID = master
      return gone(pending, .mergedOnServer, detail)
    case .hidden: return gone(pending, .notVisible, lost(facts))
    case .unknown(let code, let message):
      var detail = lost(facts)
      (detail.code, detail.message) = (code, message)
      return .settle(Settlement(.failed, detail))
    }
  }

  /// The fields that an update sends; nil for all that are listed.
  ///
  /// Of a record that stands in several rows of its device those that were edited in this one, so that
  /// what was entered in another is not put back; of a decided one those that were decided. Nor is
  /// what a person has entered put back by what the device holds still.
  package static func sentFields(_ facts: EditFacts) -> Set<String>? {
    var names: Set<String>?
    if facts.isShared || facts.decision?.decision.sends == true { names = editedFields(facts) }
    let kept = (facts.ownWrite?.entered ?? []).subtracting(editedFields(facts))
    if !kept.isEmpty { names = (names ?? Set(facts.listed)).subtracting(kept) }
    guard case .set(let values, let rest)? = facts.decision?.decision else { return names }
    return rest == .device ? names?.union(values.names) : Set(values.names)
  }

  // MARK: by the state of the record

  private static func alive(
    _ facts: EditFacts, _ pending: PendingDecision, _ date: String?, _ fields: JSONObject
  ) -> Step {
    let (choice, comparison) = compare(facts, date: date, fields: fields)
    var detail = OutcomeDetail()
    detail.outside = comparison.outside
    detail.hasNoBase = comparison.hasNoBase
    let sent = differences(facts, pending, comparison, choice.base, fields)
    if hasMoved(facts, pending, comparison, sent, fields) {
      detail.fields = comparison.contested
      detail.message = pending.movedWords
      return .settle(Settlement(.conflict, detail))
    }
    if pending.decision == .server {
      detail.fields = comparison.contested
      return .settle(Settlement(.dropped, detail))
    }
    if facts.operation == .delete {
      detail.fields = comparison.changedOnServer
      return .send(.delete, Settlement(.deleted, detail), ifUnmodifiedSince: date)
    }
    if pending.decision == .device, let settled = settled(comparison, detail) { return settled }
    detail.fields = sent
    if sent.allSatisfy({ $0.server != nil && FieldValue.isSame($0.device, $0.server) }) {
      return .settle(Settlement(.alreadyThere, detail))
    }
    return .send(.update, Settlement(.updated, detail), ifUnmodifiedSince: date)
  }

  private static func deleted(_ facts: EditFacts, _ pending: PendingDecision) -> Step {
    if facts.operation == .delete { return .settle(Settlement(.alreadyThere)) }
    if pending.verdict == .deletedOnServer, pending.decision == .device { return recreated(facts) }
    return gone(pending, .deletedOnServer, lost(facts))
  }

  /// Leaves a record that is not there: the person knew, or is told.
  private static func gone(
    _ pending: PendingDecision, _ verdict: Verdict, _ detail: OutcomeDetail
  ) -> Step {
    if pending.verdict == verdict, pending.decision == .server {
      return .settle(Settlement(.dropped, detail))
    }
    var detail = detail
    detail.message = pending.movedWords
    return .settle(Settlement(verdict, detail))
  }

  // MARK: values

  /// What would be sent, beside what the org holds.
  private static func differences(
    _ facts: EditFacts, _ pending: PendingDecision, _ comparison: FieldComparison,
    _ base: MergeBase?, _ fields: JSONObject
  ) -> [FieldDifference] {
    switch pending.decision {
    case .server, .again, .record, .drop: return []
    case .device: return comparison.edited
    case .set(let values, let rest):
      let others = rest == .device ? comparison.edited.filter { values[$0.name] == nil } : []
      let entered = values.map { name, value in
        FieldDifference(name: name, base: base?.fields[name], device: value, server: fields[name])
      }
      return (others + entered).sorted { $0.name < $1.name }
    }
  }

  /// Says whether the org holds something else than was shown, where that matters.
  private static func hasMoved(
    _ facts: EditFacts, _ pending: PendingDecision, _ comparison: FieldComparison,
    _ sent: [FieldDifference], _ fields: JSONObject
  ) -> Bool {
    // The org's side was that the record is gone, and it is back.
    let wasGone = pending.verdict == .deletedOnServer || pending.verdict == .mergedOnServer
    if pending.decision == .server, wasGone { return true }
    // A clash is about devices: the org's value may be what another decision has just sent.
    if pending.decision == .server, pending.verdict == .clash { return false }
    let isOther = pending.shown.contains { name, shown in
      fields[name].map { !FieldValue.isSame($0, shown) } ?? false
    }
    if isOther { return true }
    if pending.decision == .server { return false }
    let conflicting = comparison.edited.filter(\.isConflicting).map(\.name)
    let foreign = Set(comparison.foreign + conflicting)
    let over = facts.operation == .delete ? foreign : foreign.intersection(sent.map(\.name))
    return over.contains { name in
      guard pending.shown[name] == nil else { return false }
      let value = sent.first { $0.name == name }?.device
      return facts.operation == .delete || !FieldValue.isSame(value, fields[name])
    }
  }
}
