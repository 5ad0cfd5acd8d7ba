import JSON
import Ledger
import MobileSync
import Salesforce

/// Decides the outcome of an edit with a decision.
///
/// The merge mode does not apply. A decision is valid for the values that were shown: if the org
/// has another value in one of those fields, or a value in a field that would be overwritten and
/// was not shown, nothing is sent, and the edit is left with the org's current values. Nothing is
/// sent either if a decided field has been removed from the field lists since. Only the fields that
/// the device edited are sent, not the whole field list, so that changes by others in other fields
/// stay.
extension ThreeWayRule {
  /// The step of a decided edit; nil if the rules decide.
  static func decided(_ facts: Candidate) -> Step? {
    guard let pending = facts.edit.decision,
      facts.operation != .none, facts.operation != .dropLocally
    else { return nil }
    switch pending.decision {
    case .retry, .record, .discard, .undo: return nil
    case .device, .set: if facts.operation == .create { return unsentCreate(facts) }
    case .server: if facts.operation == .create { return leftCreate(facts) }
    }
    switch facts.server {
    case .alive(let date, let fields): return alive(facts, pending, date, fields)
    case .deleted where facts.operation == .delete: return nil
    case .deleted: return gone(facts, pending, .deletedOnServer, lost(facts))
    case .merged(let master):
      return intoRemaining(facts, pending, master)
        ?? gone(facts, pending, .mergedOnServer, lost(facts, into: master))
    case .hidden: return gone(facts, pending, .notVisible, lost(facts))
    case .unknown(let code, let message):
      var detail = lost(facts)
      (detail.code, detail.message) = (code, message)
      return .settle(Settlement(.failed, detail))
    }
  }

  /// The outcome of a new record for which the org's side was chosen.
  ///
  /// The record with its external ID is handled by another rule (`UpsertRule`), unless it could not
  /// be read.
  private static func leftCreate(_ facts: Candidate) -> Step {
    guard facts.upserts else { return .settle(Settlement(.discarded)) }
    var detail = lost(facts)
    detail.message = UpsertRule.unread
    return .settle(Settlement(.failed, detail))
  }

  /// The fields that an update or an upsert sends; nil for all that are listed.
  ///
  /// For a record with several rows on its device, these are the fields edited in this row, so that
  /// values entered in another row are not reverted. The same applies to a redelivered edit,
  /// because the other fields were issued with the org's values of that time. For a decided edit,
  /// these are the decided fields. Values that an operator entered or undid, or that the org
  /// derived from attache's last write, are not reverted by the device's older values either.
  package static func sentFields(_ facts: Candidate) -> Set<String>? {
    var names: Set<String>?
    let isDecided = facts.edit.decision?.decision.sends == true
    if facts.isShared || facts.wasCarried || facts.mergesFields || isDecided {
      names = editedFields(facts)
    }
    var kept = (facts.ownWrite?.entered ?? []).union(facts.takenBack)
    if !kept.isEmpty { kept.subtract(editedFields(facts)) }
    kept.formUnion(madeByOrg(facts))
    if !kept.isEmpty { names = (names ?? Set(facts.listed)).subtracting(kept) }
    guard case .set(let values, let rest)? = facts.edit.decision?.decision else { return names }
    return rest == .device ? names?.union(values.names) : Set(values.names)
  }

  /// Fields in which the org's value differs from the device's, although neither the device nor
  /// another user has edited them since attache's last write: the org's automation changed them,
  /// and no bundle has issued the values to the device.
  private static func madeByOrg(_ facts: Candidate) -> Set<String> {
    guard let own = facts.ownWrite, case .alive(let date, let fields) = facts.server else {
      return []
    }
    let (choice, comparison) = compare(facts, date: date, fields: fields)
    guard choice.date == own.date else { return [] }
    let others = Set(comparison.edited.map(\.name) + comparison.foreign)
    return Set(
      facts.listed.filter { name in
        guard !others.contains(name), let held = fields[name],
          own.answered.contains(name) || own.left[name] == nil
        else { return false }
        return !FieldValue.isSame(facts.element[name], held)
      })
  }

  // MARK: by the state of the record

  private static func alive(
    _ facts: Candidate, _ pending: PendingDecision, _ date: String?, _ fields: JSONObject
  ) -> Step {
    let (choice, comparison) = compare(facts, date: date, fields: fields)
    var detail = comparison.detail
    let sent = differences(facts, pending, comparison, choice.base, fields)
    let shown = ShownRecord(pending)
    let isHidden =
      facts.operation == .delete
      ? hidesValue(shown, comparison)
      : shown.isHidden(under: sent) { name in
        choice.left[name]
          ?? choice.base.flatMap { $0.knows(name) ? .some($0.fields[name] ?? .null) : .none }
      }
    let unsent = notSent(facts, pending)
    if shown.hasMoved(fields) || (pending.decision.sends && isHidden) || !unsent.isEmpty {
      detail.fields = asked(facts, comparison, sent)
      detail.message = pending.movedWords
      detail.ask(about: unsent, pending)
      detail.showServer(fields)
      return .settle(Settlement(.conflict, detail))
    }
    if pending.decision == .server {
      detail.fields = comparison.contested
      return .settle(Settlement(.discarded, detail))
    }
    if facts.operation == .delete {
      detail.fields = comparison.destroyed
      return .send(.delete, Settlement(.deleted, detail), ifUnmodifiedSince: date)
    }
    if pending.decision == .device, let settled = settled(comparison, detail) { return settled }
    detail.fields = sent
    if sent.areAlreadyThere {
      return .settle(Settlement(.alreadyInOrg, detail))
    }
    return .send(.update, Settlement(.updated, detail), ifUnmodifiedSince: date)
  }

  /// Sends an edit of a merged record to the surviving record as it was shown; nil if the surviving
  /// record is another one, has other values, or cannot be seen.
  private static func intoRemaining(
    _ facts: Candidate, _ pending: PendingDecision, _ master: String
  ) -> Step? {
    let shown = ShownRecord(pending)
    guard pending.decision.sends, shown.isStill(.mergedOnServer), pending.otherID == master,
      facts.operation == .update, let remaining = facts.remaining,
      notSent(facts, pending).isEmpty
    else { return nil }
    let base = usableBase(facts)
    let comparison = FieldComparison(
      device: facts.element, base: base, server: remaining.fields, listed: facts.listed)
    let sent = differences(facts, pending, comparison, base, remaining.fields)
    if shown.hasOtherValues(remaining.fields) || shown.isHidden(under: sent, expected: { _ in nil })
    {
      return nil
    }
    var detail = OutcomeDetail.because("it was sent to the surviving record of a merge")
    detail.recordID = master
    detail.outside = comparison.outside
    detail.fields = sent
    if sent.areAlreadyThere {
      return .settle(Settlement(.alreadyInOrg, detail))
    }
    return .send(.update, Settlement(.updated, detail), ifUnmodifiedSince: remaining.date)
  }

  /// Leaves a record that does not exist: the operator knew this, or it is reported.
  private static func gone(
    _ facts: Candidate, _ pending: PendingDecision, _ verdict: Verdict, _ detail: OutcomeDetail
  ) -> Step {
    let isStill = ShownRecord(pending).isStill(verdict)
    let unsent = isStill ? notSent(facts, pending) : []
    if isStill {
      if pending.decision == .server { return .settle(Settlement(.discarded, detail)) }
      if verdict == .deletedOnServer, pending.decision == .device, unsent.isEmpty {
        return recreated(facts)
      }
    }
    var detail = detail
    detail.message = pending.movedWords
    detail.ask(about: unsent, pending)
    if let remaining = facts.remaining { detail.showServer(remaining.fields) }
    return .settle(Settlement(verdict, detail))
  }

  // MARK: values

  /// The decided fields that no sync up of the soup sends any more.
  private static func notSent(_ facts: Candidate, _ pending: PendingDecision) -> [FieldDifference] {
    guard facts.operation != .delete else { return [] }
    var names: Set<String> = []
    switch pending.decision {
    case .server, .retry, .record, .discard, .undo: return []
    case .device: names = pending.edited
    case .set(_, let rest): if rest == .device { names = pending.edited }
    }
    if case .alive(_, let fields) = facts.server {
      // Values that the org already has need not be sent.
      names = names.filter { name in
        fields[name].map { !FieldValue.isSame(facts.element[name], $0) } ?? true
      }
    }
    if case .set(let values, _) = pending.decision { names.formUnion(values.names) }
    names.subtract(facts.listed)
    if let field = facts.upsertField { names.remove(field) }
    let base = usableBase(facts)
    return names.sorted().map { name in
      FieldDifference(
        name: name, base: base?.fields[name], device: facts.element[name], server: nil)
    }
  }

  /// Asks again about a new record if not all of the decided fields are sent; nil if all are.
  static func unsentCreate(_ facts: Candidate) -> Step? {
    guard facts.operation == .create, let pending = facts.edit.decision,
      case .send(_, let expected, _) = create(facts)
    else { return nil }
    let unsent = notSent(facts, pending)
    if unsent.isEmpty { return nil }
    var detail = expected.detail
    detail.ask(about: unsent, pending)
    return .settle(Settlement(.failed, detail))
  }

  /// The values that would be sent, with the org's values.
  private static func differences(
    _ facts: Candidate, _ pending: PendingDecision, _ comparison: FieldComparison,
    _ base: MergeBase?, _ fields: JSONObject
  ) -> [FieldDifference] {
    switch pending.decision {
    case .server, .retry, .record, .discard, .undo: return []
    case .device: return comparison.edited
    case .set(let values, let rest):
      let others = rest == .device ? comparison.edited.filter { values[$0.name] == nil } : []
      let entered = values.map { name, value in
        // The device's value that the operator replaced is reported as well.
        FieldDifference(
          name: name, base: base?.fields[name], device: facts.element[name], server: fields[name]
        ).entering(value)
      }
      return (others + entered).sorted { $0.name < $1.name }
    }
  }

  /// Whether a deletion destroys another user's value that was not shown.
  private static func hidesValue(_ shown: ShownRecord, _ comparison: FieldComparison) -> Bool {
    let conflicting = comparison.edited.filter(\.isConflicting).map(\.name)
    return (comparison.foreign + conflicting).contains { shown.values[$0] == nil }
  }

  /// The fields to show for a new decision: those that either side changed, and those that would be
  /// overwritten.
  private static func asked(
    _ facts: Candidate, _ comparison: FieldComparison, _ sent: [FieldDifference]
  ) -> [FieldDifference] {
    let contested = comparison.contested
    let names = Set(contested.map(\.name))
    let beside = sent.filter { !names.contains($0.name) }.map { field in
      FieldDifference(
        name: field.name, base: field.base, device: facts.element[field.name], server: field.server)
    }
    return (contested + beside).sorted { $0.name < $1.name }
  }
}

extension OutcomeDetail {
  /// Shows the decided fields that are no longer sent, for a new decision.
  fileprivate mutating func ask(about unsent: [FieldDifference], _ pending: PendingDecision) {
    if unsent.isEmpty { return }
    let names = Set(unsent.map(\.name))
    outside.removeAll { names.contains($0.name) }
    fields.removeAll { names.contains($0.name) }
    fields = (fields + unsent).sorted { $0.name < $1.name }
    message = pending.unsentWords(names.sorted())
  }
}
