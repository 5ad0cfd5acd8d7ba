import JSON
import Ledger
import MobileSync
import Salesforce

/// The state of the org's record.
package enum ServerRecord: Sendable, Hashable {
  /// It could not be read, for this reason.
  case unknown(code: String?, message: String)
  case alive(date: String?, fields: JSONObject)
  /// It is verified to be deleted.
  case deleted
  /// It was merged into another record.
  case merged(into: String)
  /// It exists, or may exist, but the sender cannot see it.
  case hidden

  /// The record that it was merged into.
  var masterID: String? {
    if case .merged(let id) = self { id } else { nil }
  }
}

/// Decides the outcome of one edit.
///
/// The modification dates decide as in the SDK, and the values as well: dates have whole seconds,
/// so a record with the date of its base may have been changed since. If the base is known and the
/// org's value of a listed field is neither that of the base nor of an prior write, LEAVE_IF_CHANGED
/// leaves the record in spite of its date, and OVERWRITE lists what it overwrites. In the opposite
/// case the date decides: a record with a newer date is left although all its listed values are
/// those of the base, because the SDK leaves it, and the change may be in a field that is not
/// listed.
package enum ThreeWayRule {
  /// The next step of an edit.
  package enum Step: Sendable, Hashable {
    /// Nothing is sent.
    case settle(Settlement)
    /// A write is sent; the verdict is that of success. With a date, it is sent only if the org's
    /// record still has that date.
    case send(SyncUpAction, Settlement, ifUnmodifiedSince: String?)
  }

  /// The step of an edit whose record's state is known.
  package static func step(_ facts: Candidate) -> Step {
    if let decided = decided(facts) { return decided }
    switch facts.operation {
    case .none, .dropLocally: return .settle(Settlement(.unchanged))
    case .create: return create(facts)
    case .update, .delete: break
    }
    if let untouched = untouched(facts) { return untouched }
    switch facts.server {
    case .alive(let date, let fields): return alive(facts, date: date, fields: fields)
    case .deleted: return missing(facts, .deleted, .deletedOnServer)
    case .merged(let master):
      return missing(facts, .merged(into: master), .mergedOnServer, into: master)
    case .hidden: return missing(facts, .unproved, .notVisible)
    case .unknown(let code, let message): return unknown(facts, code: code, message: message)
    }
  }

  /// The step of a new record.
  static func create(_ facts: Candidate) -> Step {
    var detail = OutcomeDetail()
    detail.outside = notBrought(facts, facts.listed)
    // The values that it sends, for readers of the report and for manual entry.
    detail.fields = UpsertRule.differences(facts.element, facts.listed, server: nil, base: nil)
      .filter { !FieldValue.isSame($0.device, nil) }
    return .send(
      facts.upserts ? .upsert : .create, Settlement(.created, detail), ifUnmodifiedSince: nil)
  }

  /// The device's values in fields that a new record is not created with.
  private static func notBrought(_ facts: Candidate, _ listed: [String]) -> [FieldDifference] {
    let inList = Set(listed)
    return facts.element.filter { name, value in
      !inList.contains(name) && name != facts.upsertField && FieldComparison.isField(name)
        && !FieldValue.isSame(value, nil)
    }.map { FieldDifference(name: $0.name, base: nil, device: $0.value, server: nil) }
  }

  /// The step of an update without edits in the sent fields, for a record that does not exist or
  /// was not read: whatever happened to the record, no edit is lost.
  ///
  /// Nil if the record exists, or if the values that the device was issued are unknown.
  private static func untouched(_ facts: Candidate) -> Step? {
    if case .alive = facts.server { return nil }
    guard facts.operation == .update, !facts.isUnseen, usableBase(facts) != nil else { return nil }
    let comparison = compare(facts, date: nil, fields: nil).1
    guard comparison.edited.isEmpty, !comparison.hasNoBase else { return nil }
    return settled(comparison, comparison.detail)
  }

  private static func alive(_ facts: Candidate, date: String?, fields: JSONObject) -> Step {
    let (choice, comparison) = compare(facts, date: date, fields: fields)
    var detail = comparison.detail
    if !comparison.putBack.isEmpty {
      detail.message =
        "the device did not change \(comparison.putBack.joined(separator: ", ")), or it sent the org's value itself and then "
        + "changed it back to the issued one"
    }
    if facts.operation == .update, let settled = settled(comparison, detail) { return settled }
    let decision = MergeDecision.decide(
      facts.operation, local: choice.date.map { ModificationDate($0) },
      server: .alive(date.map { ModificationDate($0) }), mode: facts.mode)
    // Without the values that the device was issued, it is unknown whether the edit can be merged.
    let isUnsure = facts.mergesFields && comparison.hasNoBase
    var isLeft = facts.mode == .leaveIfChanged && (isUnsure || !comparison.foreign.isEmpty)
    if case .leave = decision { isLeft = true }
    if isLeft, date == nil || !merges(facts, comparison) {
      detail.fields = comparison.contested
      return .settle(Settlement(.conflict, detail))
    }
    let isCompared = isLeft || choice.date != nil || choice.base != nil
    let isConditional = facts.mode == .leaveIfChanged && isCompared
    let condition = isConditional ? date : nil
    if facts.operation == .delete {
      detail.fields = comparison.destroyed
      return .send(.delete, Settlement(.deleted, detail), ifUnmodifiedSince: condition)
    }
    // Overwriting also sends the fields that the device did not edit, over later changes by others.
    let overwrites = facts.mode == .overwrite && !facts.isShared && !facts.wasCarried
    detail.fields = overwrites ? comparison.contested : comparison.edited
    let kept = facts.takenBack.subtracting(comparison.edited.map(\.name))
    detail.fields.removeAll { kept.contains($0.name) }
    return .send(.update, Settlement(.updated, detail), ifUnmodifiedSince: condition)
  }

  /// Whether an update is sent in spite of changes by others, because none of them are in its
  /// fields.
  ///
  /// This requires a base, and that the values of those fields are known.
  private static func merges(_ facts: Candidate, _ comparison: FieldComparison) -> Bool {
    guard facts.mergesFields, facts.operation == .update, !comparison.hasNoBase else {
      return false
    }
    return comparison.edited.allSatisfy { field in
      guard field.base != nil, let theirs = field.server else { return false }
      if FieldValue.isSame(field.device, theirs) { return true }
      return !field.isConflicting && !comparison.foreign.contains(field.name)
    }
  }

  static func compare(
    _ facts: Candidate, date: String?, fields: JSONObject?
  ) -> (MergeBaseRule.Choice, FieldComparison) {
    let choice = MergeBaseRule.choose(
      device: facts.element, deviceDate: facts.edit.modificationDate, issued: facts.edit.base,
      ownWrite: facts.ownWrite, serverDate: date, serverFields: fields)
    return (
      choice,
      FieldComparison(
        device: facts.element, base: choice.base, server: fields, listed: facts.listed,
        left: choice.left, unseen: facts.isUnseen ? Set(facts.listed) : choice.unseen,
        earlier: choice.earlier, replaced: choice.replaced, doubted: facts.doubted)
    )
  }

  /// The names of the fields that the device edited.
  package static func editedFields(_ facts: Candidate) -> Set<String> {
    let comparison =
      switch facts.server {
      case .alive(let date, let fields): compare(facts, date: date, fields: fields).1
      case .deleted, .merged, .hidden, .unknown: compare(facts, date: nil, fields: nil).1
      }
    return Set(comparison.edited.map(\.name))
  }

  /// The step of an update with nothing left to send.
  static func settled(_ comparison: FieldComparison, _ detail: OutcomeDetail) -> Step? {
    if comparison.edited.isEmpty {
      // Without a base, no difference from the org means that the device has the org's values.
      if comparison.hasNoBase { return .settle(Settlement(.alreadyInOrg, detail)) }
      let verdict: Verdict = comparison.outside.isEmpty ? .unchanged : .notInFieldList
      return .settle(Settlement(verdict, detail))
    }
    return comparison.edited.areAlreadyThere ? .settle(Settlement(.alreadyInOrg, detail)) : nil
  }

  /// The step of an edit whose record does not exist; the verdict says so, unless the edit is done
  /// or the record is recreated.
  private static func missing(
    _ facts: Candidate, _ fate: RecordFate, _ verdict: Verdict, into master: String? = nil
  ) -> Step {
    switch facts.step(fate) {
    case .done: .settle(Settlement(.alreadyInOrg))
    case .recreate: recreated(facts)
    case .stands:
      .settle(Settlement(verdict, master.map { lost(facts, into: $0) } ?? lost(facts)))
    }
  }

  /// The message for a recreated record.
  static let recreatedText = "the record was deleted in the org and is recreated"

  static func recreated(_ facts: Candidate) -> Step {
    var detail = OutcomeDetail.because(recreatedText)
    detail.hasNoBase = facts.edit.base == nil
    let (base, listed) = (usableBase(facts), facts.listedOfCreate ?? facts.listed)
    // The device's edits in fields that a new record is not created with are reported. If it is
    // unknown which of them it edited, all of them are.
    let earlier = facts.ownWrite?.element
    detail.outside =
      base == nil && earlier == nil
      ? notBrought(facts, listed)
      : FieldComparison(
        device: facts.element, base: base, server: nil, listed: listed, earlier: earlier
      ).outside
    detail.fields = UpsertRule.differences(
      facts.element, listed, server: nil, base: base?.fields
    ).filter { !FieldValue.isSame($0.device, nil) }
    return .send(.create, Settlement(.created, detail), ifUnmodifiedSince: nil)
  }

  /// The values that the device was issued, if the org has no record to compare them with.
  static func usableBase(_ facts: Candidate) -> MergeBase? {
    facts.edit.base.flatMap { $0.isIssued(at: facts.edit.modificationDate) ? $0 : nil }
  }

  /// The changes by the device, with the surviving record of a merge.
  static func lost(_ facts: Candidate, into master: String) -> OutcomeDetail {
    var detail = lost(facts)
    detail.otherID = master
    if let remaining = facts.remaining { detail.showServer(remaining.fields) }
    return detail
  }

  /// The changes by the device, for manual entry elsewhere.
  static func lost(_ facts: Candidate) -> OutcomeDetail {
    var detail = FieldComparison(
      device: facts.element, base: usableBase(facts), server: nil, listed: facts.listed
    ).detail
    if facts.operation != .update { detail.fields = [] }
    return detail
  }

  /// A read error: OVERWRITE needs no read before it sends; LEAVE_IF_CHANGED cannot decide.
  private static func unknown(_ facts: Candidate, code: String?, message: String) -> Step {
    var detail = lost(facts)
    if facts.mode == .overwrite || facts.edit.modificationDate == nil {
      return facts.operation == .delete
        ? .send(.delete, Settlement(.deleted, detail), ifUnmodifiedSince: nil)
        : .send(.update, Settlement(.updated, detail), ifUnmodifiedSince: nil)
    }
    detail.code = code
    detail.message = message
    return .settle(Settlement(.failed, detail))
  }
}
