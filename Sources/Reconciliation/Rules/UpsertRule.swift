import JSON
import Ledger
import MobileSync
import Salesforce

/// Decides the outcome of a create that is sent with an external ID.
///
/// The SDK sends it regardless of the org's record with that ID, and so does a first attempt here,
/// which lists what it overwrites. After an attempt without an answer, it is compared like an
/// update with the state before that attempt, because another user may have changed the record
/// since.
///
/// Under LEAVE_IF_CHANGED an upsert of an existing record is conditional on the record's date, like
/// an update. Otherwise it could overwrite a value that no report lists.
enum UpsertRule {
  /// The org's record with the external ID.
  enum Keyed {
    /// No record that the sender can see.
    case absent
    case found(JSONObject)
    /// It could not be read, or several records have the ID; the org will report this.
    case unknown
  }

  /// An attempt without an answer.
  struct Attempt {
    /// The org's record before it: null if there was none, nil if unknown.
    var seen: JSONValue?
    /// The state of a record that existed and no longer does.
    var fate: ServerRecord?
    /// Whether it is not known that there was an attempt.
    var isPresumed = false
  }

  /// The step; `expected` is the settlement of success without a record to overwrite.
  ///
  /// The record's modification date is in the field `dateField`.
  static func step(
    _ facts: Candidate, _ keyed: Keyed, dateField: String, after attempt: Attempt?,
    expected: Settlement
  ) -> ThreeWayRule.Step {
    var date: String?
    if case .found(let record) = keyed { date = record[dateField]?.string }
    if let pending = facts.edit.decision, pending.decision.sends || pending.decision == .server {
      return decided(facts, pending, keyed, date, attempt, expected)
    }
    switch keyed {
    case .unknown: return .send(.upsert, expected, ifUnmodifiedSince: nil)
    case .absent: return absent(facts, attempt, expected)
    case .found(let record): return found(facts, record, date, attempt, expected)
    }
  }

  private static func absent(
    _ facts: Candidate, _ attempt: Attempt?, _ expected: Settlement
  ) -> ThreeWayRule.Step {
    guard let attempt, case .object(let seen)? = attempt.seen, let fate = attempt.fate else {
      return .send(.upsert, expected, ifUnmodifiedSince: nil)
    }
    var detail = expected.detail
    detail.recordID = UnacknowledgedCreates.id(of: seen)
    detail.fields = differences(facts.element, facts.listed, server: nil, base: seen)
    switch fate {
    case .deleted where facts.step(.deleted) == .recreate:
      detail.otherID = detail.recordID
      detail.recordID = nil
      detail.message = ThreeWayRule.recreatedText
      return .send(.upsert, Settlement(.created, detail), ifUnmodifiedSince: nil)
    case .deleted: return .settle(Settlement(.deletedOnServer, detail))
    case .merged(let master):
      detail.otherID = master
      return .settle(Settlement(.mergedOnServer, detail))
    case .hidden, .unknown, .alive: return .settle(Settlement(.notVisible, detail))
    }
  }

  private static func found(
    _ facts: Candidate, _ record: JSONObject, _ date: String?, _ attempt: Attempt?,
    _ expected: Settlement
  ) -> ThreeWayRule.Step {
    let seen = attempt?.seen?.object
    var detail = expected.detail
    detail.recordID = UnacknowledgedCreates.id(of: record)
    detail.fields = differences(facts.element, facts.listed, server: record, base: seen)
    let isSame = detail.fields.allSatisfy { FieldValue.isSame($0.device, $0.server) }
    let isUnmoved =
      seen.map { seen in
        detail.fields.allSatisfy { FieldValue.isSame(seen[$0.name], $0.server) }
      } ?? false
    guard attempt != nil, !isSame, !isUnmoved, facts.mode == .leaveIfChanged else {
      let condition = facts.mode == .leaveIfChanged ? date : nil
      return .send(.upsert, Settlement(.updated, detail), ifUnmodifiedSince: condition)
    }
    detail.message =
      attempt?.isPresumed == true
      ? "a run that this ledger does not know may have sent it, and the record has other values"
      : "no answer came back to the first attempt, and the record has changed since"
    return .settle(Settlement(.conflict, detail))
  }

  /// Why a create for which the org's side was chosen is not resolved.
  static let unread = "the record with the external ID could not be read"

  /// The operator's decision, which is valid as long as the org's record, or its absence, is as
  /// shown.
  private static func decided(
    _ facts: Candidate, _ pending: PendingDecision, _ keyed: Keyed, _ date: String?,
    _ attempt: Attempt?, _ expected: Settlement
  ) -> ThreeWayRule.Step {
    if let asked = ThreeWayRule.unsentCreate(facts) { return asked }
    switch keyed {
    case .unknown where pending.decision == .server:
      return .settle(Settlement(.failed, .because(unread)))
    case .unknown: return .send(.upsert, expected, ifUnmodifiedSince: nil)
    case .absent: return decidedAbsent(facts, pending, attempt, expected)
    case .found(let record): return decidedFound(facts, pending, record, date, attempt, expected)
    }
  }

  private static func decidedAbsent(
    _ facts: Candidate, _ pending: PendingDecision, _ attempt: Attempt?, _ expected: Settlement
  ) -> ThreeWayRule.Step {
    let shown = ShownRecord(pending)
    let verdict: Verdict
    var detail = expected.detail
    detail.otherID = UnacknowledgedCreates.id(ofSeen: attempt?.seen)
    switch attempt?.fate {
    case .merged?: verdict = .mergedOnServer
    case .hidden?, .unknown?, .alive?: verdict = .notVisible
    case .deleted?, nil: verdict = .deletedOnServer
    }
    let isKnown = shown.state == .unseen || shown.isStill(verdict)
    if isKnown, pending.decision == .server { return .settle(Settlement(.discarded, detail)) }
    if isKnown, shown.state == .unseen || verdict == .deletedOnServer {
      return .send(.upsert, Settlement(.created, detail), ifUnmodifiedSince: nil)
    }
    detail.fields = differences(facts.element, facts.listed, server: nil, base: nil)
    if case .merged(let master)? = attempt?.fate { detail.otherID = master }
    detail.message = pending.movedWords
    return .settle(Settlement(verdict, detail))
  }

  private static func decidedFound(
    _ facts: Candidate, _ pending: PendingDecision, _ record: JSONObject, _ date: String?,
    _ attempt: Attempt?, _ expected: Settlement
  ) -> ThreeWayRule.Step {
    let shown = ShownRecord(pending)
    let seen = attempt?.seen?.object
    var detail = expected.detail
    detail.recordID = UnacknowledgedCreates.id(of: record)
    var (listed, entered) = (facts.listed, JSONObject())
    if case .set(let values, let rest) = pending.decision {
      listed = (rest == .server ? [] : listed.filter { values[$0] == nil }) + values.names
      entered = values
    }
    let sent = differences(
      facts.element, listed, server: record, base: seen, entered: entered)
    if shown.hasMoved(record)
      || (pending.decision.sends && shown.isHidden(under: sent) { _ in nil })
    {
      let fields = differences(facts.element, facts.listed, server: record, base: seen)
      let names = Set(fields.map(\.name))
      detail.fields = (fields + sent.filter { !names.contains($0.name) }).sorted {
        $0.name < $1.name
      }
      detail.message = pending.movedWords
      return .settle(Settlement(.conflict, detail))
    }
    if pending.decision == .server { return .settle(Settlement(.discarded, detail)) }
    detail.fields = sent
    return .send(.upsert, Settlement(.updated, detail), ifUnmodifiedSince: date)
  }

  /// The fields in which the org's value differs from the device's or the operator's; those in
  /// which the org has a value are contested.
  ///
  /// If they are the same and `base` has another value, an attempt without an answer may have
  /// overwritten it.
  static func differences(
    _ device: JSONObject, _ listed: [String], server: JSONObject?, base: JSONObject?,
    entered: JSONObject = [:]
  ) -> [FieldDifference] {
    listed.compactMap { name in
      guard let value = entered[name] ?? device[name] else { return nil }
      let theirs = server?[name]
      // The value of a field that the org does not allow to be read is unknown.
      if server != nil, theirs == nil { return nil }
      let isThere = theirs.map { FieldValue.isSame(value, $0) } ?? false
      if isThere, base?[name].map({ FieldValue.isSame(value, $0) }) ?? true { return nil }
      return FieldDifference(
        name: name, base: base?[name], device: device[name], server: theirs,
        isConflicting: !isThere && theirs.map { !FieldValue.isSame($0, nil) } ?? false
      ).entering(value)
    }
  }
}
