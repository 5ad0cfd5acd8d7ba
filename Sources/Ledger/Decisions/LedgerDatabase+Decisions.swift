import JSON
import SQLite
import System

/// The reason why a decision is refused.
package struct DecisionRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  package var edit: Int64
  /// The reason, with the possible decisions.
  package var reason: String

  package init(_ edit: Int64, _ reason: String) { (self.edit, self.reason) = (edit, reason) }

  /// No edit has the number.
  package static func unknown(_ edit: Int64) -> DecisionRefusal {
    DecisionRefusal(edit, "no edit has this number")
  }

  package var description: String { "edit \(edit): \(reason)" }
}

/// The facts of an edit that a decision depends on.
package struct DecisionFacts: Sendable {
  package var edit: Int64
  /// The input of the rule for possible decisions.
  package var subject: DecisionRule.Subject
  /// The details of the latest verdict, with the values that were shown.
  package var detail: OutcomeDetail
  package var soup: SoupKey
  /// The records of an edit with a duplicate.
  package var twins: [String]
  package var pending: PendingDecision?
  /// Whether the values of the edit have been pruned.
  package var isPruned = false
  /// Whether a later edit of the record, or a later return of its device, replaces the edit.
  var isReplaced = false
  /// Whether the outcome of a create of its record is unknown.
  var isCreateUnderWay = false

  package init(
    edit: Int64, subject: DecisionRule.Subject, detail: OutcomeDetail, soup: SoupKey,
    twins: [String] = [], pending: PendingDecision? = nil
  ) {
    (self.edit, self.subject, self.detail, self.soup) = (edit, subject, detail, soup)
    (self.twins, self.pending) = (twins, pending)
  }

  /// Which edits are asked for.
  package enum Selection: Sendable {
    /// Those with a pending decision.
    case decided
    /// The unresolved ones with one of these verdicts.
    case open(Set<Verdict>)
    /// The ingested ones without a verdict.
    case unjudged
    /// Those with a verdict of a run whose values have been pruned.
    case pruned(ofRun: String)
  }

  /// The org's values that were shown, by field.
  package var shown: JSONObject {
    detail.fields.reduce(into: JSONObject()) { shown, field in
      if let server = field.server { shown[field.name] = server }
    }
  }

  /// Why a decision is refused; nil if it is possible.
  package func refusal(of decision: Decision) -> String? {
    if decision.kind == .undo { return nil }
    if isReplaced {
      return "a later return of the same device replaces it, so it can no longer be decided"
    }
    if let words = DecisionRule.refusal(decision.kind, of: subject) { return words }
    guard case .record(let id) = decision else { return nil }
    if subject.verdict == .duplicateCreated {
      return twins.contains(id)
        ? nil : "its records are \(twins.joined(separator: " and ")); name one of them"
    }
    return subject.verdict == .failed || isCreateUnderWay
      ? nil : "it waits for an earlier edit of its record; decide that one"
  }

  /// The fields in which the device's side was shown.
  fileprivate var edited: [String] {
    detail.fields.filter { $0.device != nil && ($0.device != $0.base || $0.isConflicting) }
      .map(\.name)
  }
}

/// What becomes known of the record that a device created.
package enum CreationNote {
  /// An operator named the existing record that a refused create stands for, with its values at that
  /// time in the fields that the edit would have sent, and its date.
  case named(String, by: PendingDecision, left: JSONObject, date: String?)
  /// There is a second record in addition to the first.
  case second(String, beside: String)
  /// This one of its two records is used from now on.
  case chosen(String)
}

extension LedgerDatabase {
  /// The facts of an edit that a decision depends on; nil if no edit has the number.
  package func decidable(_ edit: Int64) throws -> DecisionFacts? {
    guard
      let row = try connection.first(
        """
        SELECT e.verdict, e.operation, e.record_id, c.record_id, c.device_record_id, e.finding,
          e.store, e.soup, (SELECT x.detail FROM outcome x JOIN run n ON n.id = x.run_id
            WHERE x.edit_id = e.id ORDER BY n.number DESC LIMIT 1), e.pruned IS NOT NULL,
          EXISTS (SELECT 1 FROM operation o WHERE o.edit_id = e.id
            AND o.state IN (\(OperationState.underWay)) AND o.action IN ('create', 'upsert')),
          \(Self.isReplaceable)
        FROM edit e LEFT JOIN creation c ON c.id = e.creation_id WHERE e.id = \(edit)
        """)
    else { return nil }
    let ids = [row[3].text, row[4].text].compactMap(\.self)
    let detail = OutcomeDetail(json: try parse(row[8].text, "a verdict"))
    var twins = Set(ids + [detail.recordID, detail.otherID].compactMap(\.self))
    var subject = DecisionRule.Subject(
      verdict: row[0].text.flatMap(Verdict.init(rawValue:)),
      operation: row[1].text.flatMap(EditOperation.init(rawValue:)) ?? .update,
      hasRecord: row[2].text != nil || !ids.isEmpty, isReadable: row[5].text == nil)
    let pending = try pendingDecision(of: edit)
    subject.isToBeUndone = pending?.isUndo == true
    if subject.verdict == .duplicateCreated { twins.formUnion(detail.candidates) }
    var found = DecisionFacts(
      edit: edit, subject: subject, detail: detail,
      soup: SoupKey(store: StoreKey(text: row[6].text ?? ""), soup: row[7].text ?? ""),
      twins: twins.sorted(), pending: pending)
    found.isPruned = row[9].integer == 1
    found.isCreateUnderWay = row[10].integer == 1
    found.isReplaced = try row[11].integer == 1 && replacement(of: edit) != nil
    return found
  }

  /// The numbers of the selected edits, in order.
  package func editNumbers(_ which: DecisionFacts.Selection) throws -> [Int64] {
    let selection: SQL =
      switch which {
      case .decided: "SELECT edit_id FROM decision WHERE state = 'pending'"
      case .open(let verdicts):
        """
        SELECT e.id FROM edit e
        WHERE e.verdict IN (\(list: verdicts.map { .text($0.rawValue) })) AND \(Self.isUnsettledEdit)
        """
      case .unjudged: "SELECT id FROM edit WHERE verdict IS NULL AND state <> 'closed'"
      case .pruned(let run):
        """
        SELECT e.id FROM outcome x JOIN edit e ON e.id = x.edit_id
        WHERE x.run_id = \(run) AND e.pruned IS NOT NULL
        """
      }
    return try connection.all("\(selection) ORDER BY 1").compactMap { $0[0].integer }
  }

  /// The facts of the edits that a run left unresolved with a verdict, and the number of the edit
  /// if there is only one.
  package func editsLeft(
    by run: String, _ verdict: Verdict
  ) throws -> (subjects: Set<DecisionRule.Subject>, edit: Int64?) {
    let rows = try connection.all(
      """
      SELECT e.operation, \(Self.hasRecord), e.finding IS NULL, \(Self.isToBeUndone), count(*),
        min(e.id)
      FROM outcome x JOIN edit e ON e.id = x.edit_id LEFT JOIN creation c ON c.id = e.creation_id
      WHERE x.run_id = \(run) AND x.verdict = \(verdict) AND e.verdict = x.verdict
        AND \(Self.isUnsettledEdit)
      GROUP BY 1, 2, 3, 4
      """)
    let subjects = rows.map { row in
      DecisionRule.Subject(
        verdict: verdict, operation: row[0].text.flatMap(EditOperation.init(rawValue:)) ?? .update,
        hasRecord: row[1].integer == 1, isReadable: row[2].integer == 1,
        isToBeUndone: row[3].integer == 1)
    }
    let isOne = rows.count == 1 && rows[0][4].integer == 1
    return (Set(subjects), isOne ? rows[0][5].integer : nil)
  }

  /// Whether the record of an edit `e`, with its creation `c`, has an ID in the org.
  package static let hasRecord: SQL = """
    (e.record_id IS NOT NULL OR coalesce(c.record_id, c.device_record_id) IS NOT NULL)
    """

  /// Records an operator's decisions and reopens the edits for the next run, in one transaction.
  ///
  /// Each decision replaces a pending one. Throws `DecisionRefusal` if a decision is not possible,
  /// including if a later edit of the record supersedes the edit. What an edit changed can be undone
  /// whatever its verdict. `time` is in ms of the wall clock.
  package func decide(
    _ decisions: [PendingDecision], by: String, time: Int64 = Clock.wallMilliseconds()
  ) throws {
    try connection.transaction {
      for decided in decisions {
        guard var found = try decidable(decided.edit) else {
          throw DecisionRefusal.unknown(decided.edit)
        }
        if case .undo = decided.decision {
          guard let change = try change(by: decided.edit) else {
            throw DecisionRefusal.unknown(decided.edit)
          }
          found.detail = OutcomeDetail()
          found.detail.fields = (change.left ?? [:]).map { name, value in
            FieldDifference(name: name, base: nil, device: nil, server: value)
          }
        } else if let seen = decided.seen {
          found.detail.fields = seen
        }
        if let words = found.refusal(of: decided.decision) {
          throw DecisionRefusal(decided.edit, words)
        }
        try enter(decided.decision, of: found, by: by, time: time)
      }
    }
  }

  /// Records a decision that is possible.
  func enter(_ decision: Decision, of found: DecisionFacts, by: String, time: Int64) throws {
    try withdrawDecision(of: found.edit)
    var detail = decision.values
    if decision.sends { detail[PendingDecision.fields] = JSONValue(found.edited) }
    if let other = found.detail.otherID { detail["other"] = .string(other) }
    if decision.sends, found.subject.verdict == .unconfirmed,
      let last = try connection.integer(
        "SELECT max(id) FROM operation WHERE edit_id = \(found.edit)")
    {
      detail[PendingDecision.operation] = .number(String(last))
    }
    try enterPending(
      decision.kind, detail, of: found.edit, found.subject.verdict,
      lifting: decision.sends ? found.detail.restriction : nil, shown: found.shown, by: by, time)
    try takeUp(found.edit)
  }

  /// Records a decision for the next run to apply.
  func enterPending(
    _ kind: Decision.Kind, _ detail: JSONObject, of edit: Int64, _ verdict: Verdict?,
    lifting restriction: String? = nil, shown: JSONObject, by: String, _ time: Int64
  ) throws {
    try connection.run(
      """
      INSERT INTO decision (edit_id, kind, detail, verdict, restriction, shown, decided_by, decided_ms,
        state)
      VALUES (\(edit), \(kind.rawValue), \(JSONValue.object(detail).text), \(verdict?.rawValue),
        \(restriction), \(JSONValue.object(shown).text), \(by), \(time), 'pending')
      """)
  }

  // MARK: applying decisions

  /// The pending decision about an edit.
  func pendingDecision(of edit: Int64) throws -> PendingDecision? {
    try decision("edit_id = \(edit) AND state = 'pending'")
  }

  private func decision(_ condition: SQL) throws -> PendingDecision? {
    guard
      let row = try connection.first(
        """
        SELECT id, kind, detail, verdict, shown, decided_by, decided_ms,
          (SELECT f.kind FROM decision f WHERE f.edit_id = d.edit_id AND f.id < d.id
            ORDER BY f.id DESC LIMIT 1), edit_id
        FROM decision d WHERE \(condition)
        """),
      let kind = row[1].text.flatMap(Decision.Kind.init(rawValue:)),
      let detail = try parse(row[2].text, "a decision").object,
      let decision = Decision(kind, detail)
    else { return nil }
    var pending = PendingDecision(
      row[8].integer ?? 0, decision, id: row[0].integer ?? 0, by: row[5].text ?? "",
      time: row[6].integer ?? 0,
      verdict: row[3].text.flatMap(Verdict.init(rawValue:)),
      shown: try parse(row[4].text, "a decision").object ?? [:],
      otherID: detail["other"]?.string, isMend: detail[PendingDecision.mended]?.bool == true)
    pending.former = row[7].text.flatMap(Decision.Kind.init(rawValue:))
    pending.lastOperation = detail[PendingDecision.operation]?.int
    pending.edited = Set(
      (detail[PendingDecision.fields]?.array ?? []).compactMap(\.string))
    return pending
  }

  /// Withdraws a pending decision, because the edit was superseded or a later decision replaces it.
  func withdrawDecision(of edit: Int64) throws {
    try connection.run(
      "UPDATE decision SET state = 'withdrawn' WHERE edit_id = \(edit) AND state = 'pending'")
  }

  /// Adds to a run's `superseded` verdicts that the withdrawn decisions about these edits are no
  /// longer needed.
  func tellWithdrawn(run: String) throws {
    let rows = try connection.all(
      """
      SELECT d.id, d.edit_id, x.detail FROM decision d JOIN outcome x ON x.edit_id = d.edit_id
      WHERE x.run_id = \(run) AND x.verdict = \(Verdict.superseded) AND d.state = 'withdrawn'
        AND d.run_id IS NULL
        AND NOT EXISTS (SELECT 1 FROM decision l WHERE l.edit_id = d.edit_id AND l.id > d.id)
      """)
    for row in rows {
      guard let id = row[0].integer, let edit = row[1].integer,
        let withdrawn = try decision("id = \(id)")
      else { continue }
      var detail = OutcomeDetail(json: try parse(row[2].text, "a verdict"))
      detail.decision = DecisionNote(withdrawn, .notNeeded)
      try enterOutcomes([(edit, Settlement(.superseded, detail))], run: run)
      try connection.run("UPDATE decision SET run_id = \(run) WHERE id = \(id)")
    }
  }

  /// Ends a decision that no run can apply; the operator has to decide again.
  ///
  /// Returns the note for the verdict.
  package func refuseDecision(_ pending: PendingDecision, run: String) throws -> DecisionNote {
    try endDecision(pending, state: "moved", run: run)
    return DecisionNote(pending, .askedAgain)
  }

  /// The settlement of an edit with the outcome of its decision, which ends with it.
  func carryingOut(_ settlement: Settlement, of edit: Int64, run: String) throws -> Settlement {
    guard let pending = try pendingDecision(of: edit) else { return settlement }
    var settlement = settlement
    if pending.isUndo { settlement.verdict = settlement.verdict.ofUndo }
    let fate = DecisionNote.fate(of: pending.decision.kind, settlement.verdict)
    if pending.isUndo, fate != .waiting { try takeUpAgain(waitingFor: edit, run: run) }
    switch fate {
    case .carriedOut:
      try endDecision(pending, state: "done", run: run)
      if case .record(let id) = pending.decision, pending.verdict == .duplicateCreated,
        let creation = try connection.integer("SELECT creation_id FROM edit WHERE id = \(edit)")
      {
        try note(.chosen(id), of: creation)
      }
    case .notNeeded: try endDecision(pending, state: "withdrawn", run: run)
    case .askedAgain: try endDecision(pending, state: "moved", run: run)
    case .waiting: break
    }
    settlement.detail.decision = DecisionNote(pending, fate)
    return settlement
  }

  /// Records what became known of a device's new record.
  package func note(_ fact: CreationNote, of creation: Int64) throws {
    switch fact {
    case .named(let id, let decision, let left, let date):
      try connection.run(
        "UPDATE creation SET record_id = \(id) WHERE id = \(creation) AND record_id IS NULL")
      var detail = decision.decision.values
      detail["left"] = .object(left)
      detail["date"] = date.map(JSONValue.string)
      try connection.run(
        "UPDATE decision SET detail = \(JSONValue.object(detail).text) WHERE id = \(decision.id)")
    case .second(let id, let first):
      try connection.run(
        """
        UPDATE creation SET record_id = coalesce(record_id, \(first)), device_record_id = \(id)
        WHERE id = \(creation) AND (device_record_id IS NULL OR device_record_id = \(first))
        """)
    case .chosen(let id):
      try connection.run("UPDATE creation SET chosen_id = \(id) WHERE id = \(creation)")
    }
  }

  private func endDecision(_ pending: PendingDecision, state: String, run: String) throws {
    try connection.run(
      "UPDATE decision SET state = \(state), run_id = \(run) WHERE id = \(pending.id)")
  }
}
