import JSON
import MobileSync
import SQLite
import System

/// One write to the org, from its plan to its outcome.
package struct OperationRow: Sendable {
  package var id: Int64 = 0
  package var editID: Int64
  /// The run that planned it, and the start of that run; nil in a plan.
  package var run: (id: String, began: Int64?)?
  package var action: SyncUpAction
  package var purpose: Purpose
  /// The name of the user who sends the write.
  package var sender: String
  /// The ID of that user; nil if it has not been read from the ledger.
  package var senderID: String?
  package var sobject: String
  package var recordID: String?
  package var externalField: String?
  package var externalValue: String?
  package var payload: JSONObject
  /// Whether the payload has IDs of records created in the meantime, which the plan does not have.
  package var isCompleted = false
  /// The outcome in case of success, kept so that a write that is later found to have succeeded is
  /// reported the same way.
  @Shared package var expected: Settlement
  /// The write's depth in the order of dependencies, which a resumed run keeps.
  package var level = 0
  package var attempt: Int64 = 0
  /// The org's time before the first attempt.
  ///
  /// The write cannot have created anything earlier.
  package var sentMilliseconds: Int64?
  /// The org's time of the last attempt, as far as known; nil if this run has not sent the write
  /// and the ledger does not know its times.
  package var lastSentMilliseconds: Int64?
  /// The earliest time at which the write can have been sent, if that was not recorded: a run that
  /// the ledger does not know may have sent it between this time and `sentMilliseconds`.
  package var sinceMilliseconds: Int64?
  /// The edit's own user, who may have sent the write if another user sends it now.
  package var otherSenders: [String] = []
  /// Whether the device has changed the row since it created it, so that an earlier state may have
  /// been sent.
  package var isRevised = false
  /// The record as read before the write; nil if unknown.
  ///
  /// For an upsert, it is the record with the external ID, or null if there is none; for an update,
  /// the fields that are sent. The record's date is stored with the fields, under `dateKey`.
  package var seen: JSONValue?
  package var state = OperationState.planned
  /// The bulk job that contains the write; nil for a separate request.
  package var job: String?
  /// Whether the write, if it is repeated, has a separate request, because the one that it was in was
  /// answered as too large.
  package var isSeparate = false
  /// Whether an answer was ever lost.
  package var isDoubted = false
  /// The org's error code and message if it refused the write.
  package var refusal: (code: String?, message: String?) = (nil, nil)
  /// The record that it created or changed.
  package var resultID: String?
  /// The record's date after the write; of a deletion, the time by which it was deleted.
  package var serverDate: String?
  /// The record's values after the write, including fields that were read for other writes; nil if
  /// they were not read, or another user wrote in between.
  package var left: JSONObject?
  /// The field with the record's modification date; nil in what the ledger returns.
  package var modificationField: String?

  /// Whether its sending was not recorded: a run that the ledger does not know may have sent it.
  package var isPresumed: Bool { sinceMilliseconds != nil }

  /// Whether it restores what a late request of its edit overwrote: after it, the edit still needs
  /// review.
  package var isRestoring: Bool { purpose == .undo && expected.verdict == .conflict }

  /// The values after the write of the fields that it sent; nil if they are unknown.
  package var leftOfSent: JSONObject? {
    guard let left else { return nil }
    var own = JSONObject()
    for name in payload.names { own[name] = left[name] }
    return own.isEmpty ? nil : own
  }

  /// The record's date before the write; nil if it was not read.
  package var dateBefore: String? { seen?[Self.dateKey]?.string }

  /// The key of the record's date in `seen`; no field has this name.
  package static let dateKey = ".date"
  /// The longest time between sending a write and the date that the org gives it if no one else has
  /// written since, in ms of the org's time.
  package static let writeMilliseconds: Int64 = 120_000

  /// A write that was done, with the ID of its record if the org returned one.
  package typealias Done = (operation: OperationRow, recordID: String?)

  /// Which writes are asked for.
  package enum Selection: Sendable {
    /// Those that are not finished, and those whose edit has no verdict yet.
    case unfinished
    /// The completed ones since a time whose resulting records have not been read, because the run
    /// was interrupted before that.
    case unread(since: Int64)
    /// The unanswered ones since a time that may still arrive: those that were considered lost, and
    /// those whose effect was found or named by an operator, because a user can have done the same.
    ///
    /// A write that its bulk job reported as done is not one of them, because the report is its
    /// answer.
    case late(since: Int64)
    /// All of some edits.
    case ofEdits(Set<Int64>)
    /// The done ones to a record, without deletions.
    case to(recordID: String)
    /// The last one to each record among those that were written after another one, without
    /// deletions.
    case last(after: Int64)
    /// The done ones of edits whose changes are to be undone.
    case toBeUndone
  }

  /// The purposes of a write.
  package enum Purpose: String, Sendable {
    /// It sends its edit.
    case send
    /// It undoes what its edit changed.
    case undo
  }

  /// A write that is planned.
  package init(
    editID: Int64, action: SyncUpAction, purpose: Purpose = .send, sender: String = "",
    sobject: String, recordID: String?, payload: JSONObject = [:], expected: Settlement,
    seen: JSONValue? = nil, modificationField: String? = nil
  ) {
    (self.editID, self.action, self.purpose) = (editID, action, purpose)
    (self.sender, self.sobject, self.recordID) = (sender, sobject, recordID)
    (self.payload, self.seen, self.modificationField) = (payload, seen, modificationField)
    self.expected = expected
  }
}

/// The outcome of one write.
package enum OperationOutcome {
  case done(recordID: String?)
  case rejected(code: String?, message: String)
  /// The condition of an update did not hold.
  case conflict
  /// The outcome is unknown.
  case doubt
  /// The write certainly did not happen and may be retried.
  case again
  /// The write is over: it was not sent, or nothing shows that it happened.
  case dropped
}

/// What becomes known of a write besides its outcome; times are in ms of the org's time.
package enum OperationNote {
  /// If it is repeated, it has a separate request, because its own was answered as too large.
  case isSeparate
  /// The latest time at which it was sent without an answer. It may have waited between attempts
  /// for as long as the org asked. The time of the first attempt stays, because records that it
  /// created are looked for from then on.
  case lastAttempt(Int64)
  /// Its payload, if that differs from the plan.
  case sent(JSONObject)
  /// What the record held before it, if that was read after the write was planned.
  case seen(JSONObject)
  /// When it was completed; a bulk job may have taken hours.
  case end(Int64)
  /// The record was in the recycle bin at this time; a deletion by attache cannot have a later date.
  case gone(by: Int64)
}

extension LedgerDatabase {
  /// Records the planned writes of snapshots, each with the ID of its sender, on disk before the
  /// first request.
  ///
  /// A write that a run unknown to the ledger may have sent (`isPresumed`) is unconfirmed from the
  /// start.
  package func plan(
    _ plans: [(operations: [OperationRow], senderID: String)], run: String
  ) throws -> [[OperationRow]] {
    try connection.transaction {
      try plans.map { try insert($0.operations, run: run, senderID: $0.senderID) }
    }
  }

  private func insert(
    _ operations: [OperationRow], run: String, senderID: String
  ) throws -> [OperationRow] {
    var planned: [OperationRow] = []
    try connection.run(
      """
      INSERT INTO operation (edit_id, run_id, action, sender, sobject, record_id,
        external_field, external_value, payload, expected, level, sender_id, seen, state,
        purpose)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, each: operations,
      values: { operation in
        [
          .integer(operation.editID), .text(run), .text(operation.action.rawValue),
          .text(operation.sender), .text(operation.sobject), SQLiteValue(operation.recordID),
          SQLiteValue(operation.externalField), SQLiteValue(operation.externalValue),
          .text(JSONValue.object(operation.payload).text), .text(Self.text(operation.expected)),
          .integer(Int64(operation.level)), .text(senderID), SQLiteValue(operation.seen?.text),
          .text(OperationState.planned.rawValue), .text(operation.purpose.rawValue),
        ]
      },
      after: { operation in
        var row = operation
        row.id = connection.lastInsertRowID
        planned.append(row)
      })
    for row in planned where row.isPresumed {
      try connection.run(
        """
        UPDATE operation SET state = \(OperationState.sent), sent_ms = \(row.sentMilliseconds),
          since_ms = \(row.sinceMilliseconds), attempt = attempt + 1 WHERE id = \(row.id)
        """)
      try move(row, to: .doubt)
    }
    return planned
  }

  /// Records that a batch is about to be sent, with the org's time and the bulk job.
  ///
  /// The entry is committed before the first byte is sent.
  ///
  /// `now` is the org's time in its last answer, `latest` the best estimate of the current time.
  package func markSent(
    _ operations: [OperationRow], now: Int64, latest: Int64? = nil, job: String? = nil
  ) throws {
    try connection.transaction {
      try connection.run(
        """
        UPDATE operation SET state = \(OperationState.sent), sent_ms = \(now), last_ms = \(latest ?? now),
          attempt = attempt + 1, job_id = \(job)
        WHERE id IN (\(each: operations.map(\.id)))
        """)
      for operation in operations where operation.isCompleted {
        try note(.sent(operation.payload), of: [operation])
      }
    }
  }

  /// Records what became known of writes.
  package func note(_ fact: OperationNote, of operations: [OperationRow]) throws {
    let change: SQL =
      switch fact {
      case .isSeparate: "batch = 1"
      case .lastAttempt(let time):
        "last_ms = CASE WHEN coalesce(last_ms, sent_ms) < \(time) THEN \(time) ELSE last_ms END"
      case .sent(let payload): "payload = \(JSONValue.object(payload).text)"
      case .seen(let seen): "seen = \(JSONValue.object(seen).text)"
      case .end(let time): "sent_ms = \(time)"
      // The org's times have whole seconds.
      case .gone(let time): "server_date = \(Dates.salesforce(time / 1000 * 1000 + 999))"
      }
    try connection.run(
      "UPDATE operation SET \(change) WHERE id IN (\(each: operations.map(\.id)))")
  }

  /// Records the outcome of one write.
  package func finish(_ operation: OperationRow, _ outcome: OperationOutcome) throws {
    switch outcome {
    case .done(let recordID): try finish([(operation, recordID)])
    case .rejected(let code, let message):
      try connection.run(
        """
        UPDATE operation SET state = \(OperationState.rejected), code = \(code), message = \(message)
        WHERE id = \(operation.id)
        """)
    case .conflict: try move(operation, to: .conflict)
    case .doubt: try move(operation, to: .doubt)
    case .again: try move(operation, to: .planned)
    case .dropped: try move(operation, to: .dropped)
    }
  }

  /// Records that writes were done.
  func finish(_ done: [OperationRow.Done]) throws {
    if done.isEmpty { return }
    let results = done.map { one -> JSONValue in
      let recordID = one.recordID ?? one.operation.recordID
      return [JSONValue(one.operation.id), recordID.map(JSONValue.string) ?? .null]
    }
    try connection.run(
      """
      UPDATE operation SET state = \(OperationState.done), result_id = told.value ->> 1
      FROM json_each(\(JSONValue.array(results).text)) told WHERE operation.id = told.value ->> 0
      """)
    for (operation, recordID) in done where [.create, .upsert].contains(operation.action) {
      guard let recordID else { continue }
      try connection.run(
        """
        UPDATE creation SET record_id = \(recordID) WHERE record_id IS NULL
          AND id = (SELECT creation_id FROM edit WHERE id = \(operation.editID))
        """)
    }
  }

  /// Moves an operation to another state.
  ///
  /// The edit of a late request is closed while what the request overwrote is restored. If that is
  /// not answered, the edit waits for the answer.
  private func move(_ operation: OperationRow, to state: OperationState) throws {
    try connection.run(
      """
      UPDATE operation SET state = \(state), is_doubted = is_doubted OR \(state == .doubt)
      WHERE id = \(operation.id)
      """)
    if state == .doubt { try takeUp(operation.editID) }
  }

  /// The state of a record after a write: its date and fields; no fields if another user has
  /// written since.
  package typealias Left = (operation: OperationRow, date: String?, fields: JSONObject?)

  /// Records the state of records after writes.
  package func noteLeft(_ left: [Left]) throws {
    try connection.run(
      "UPDATE operation SET server_date = ?, left_values = ? WHERE id = ?", each: left
    ) { one in
      let fields: JSONValue = one.fields.map { .object($0) } ?? .null
      return [SQLiteValue(one.date), .text(fields.text), .integer(one.operation.id)]
    }
  }

  /// The selected writes, in the order in which they were planned.
  package func operations(_ which: OperationRow.Selection) throws -> [OperationRow] {
    let condition: SQL =
      switch which {
      case .unfinished: "\(raw: LedgerSchema.isUnfinished)"
      case .unread(let time):
        """
        state = \(OperationState.done) AND action <> 'delete' AND left_values IS NULL
          AND sent_ms >= \(time)
        """
      case .late(let time):
        """
        is_doubted = 1 AND sent_ms >= \(time) AND (state = \(OperationState.dropped)
          OR state = \(OperationState.done) AND (action = 'create' OR job_id IS NULL))
        """
      case .ofEdits(let edits): "edit_id IN (\(each: edits.sorted()))"
      case .to(let recordID):
        "state = \(OperationState.done) AND action <> 'delete' AND result_id = \(recordID)"
      case .last(let write):
        """
        id IN (SELECT max(l.id) FROM operation l
          WHERE l.state = \(OperationState.done) AND l.action <> 'delete' AND l.id > \(write)
          GROUP BY l.result_id)
        """
      case .toBeUndone:
        """
        state = \(OperationState.done) AND edit_id IN (SELECT d.edit_id FROM decision d
          WHERE d.state = 'pending' AND d.kind = \(Decision.Kind.undo.rawValue))
        """
      }
    return try operations(condition)
  }

  /// The writes that match a condition, in the order in which they were planned.
  func operations(_ condition: SQL) throws -> [OperationRow] {
    let rows = try connection.all(
      """
      SELECT id, edit_id, action, sender, sobject, record_id, external_field, external_value,
        payload, expected, attempt, sent_ms, state,
        coalesce(sender_id, (SELECT user_id FROM snapshot s WHERE s.username = sender)), seen, job_id, since_ms,
        (SELECT e.last_modified_ms > e.created_ms FROM edit e WHERE e.id = edit_id),
        (SELECT r.snapshot_id FROM edit e JOIN returned r ON r.id = e.return_id
          WHERE e.id = edit_id AND r.snapshot_id <> 'global'), (SELECT value FROM meta WHERE name = 'integrationUser'), last_ms, purpose,
        run_id, (SELECT n.now_ms FROM run n WHERE n.id = run_id), is_doubted, code, message,
        result_id, server_date, left_values, batch
      FROM operation WHERE (\(condition)) ORDER BY +id
      """)
    return try rows.map { row in
      var operation = OperationRow(
        editID: row[1].integer ?? 0, action: SyncUpAction(rawValue: row[2].text ?? "") ?? .update,
        purpose: row[21].text.flatMap(OperationRow.Purpose.init(rawValue:)) ?? .send,
        sender: row[3].text ?? "", sobject: row[4].text ?? "", recordID: row[5].text,
        payload: try parse(row[8].text, "an operation").object ?? [:],
        expected: settlement(try parse(row[9].text, "an operation")),
        seen: try row[14].text.map { try parse($0, "an operation") })
      operation.id = row[0].integer ?? 0
      (operation.externalField, operation.externalValue) = (row[6].text, row[7].text)
      (operation.attempt, operation.sentMilliseconds) = (row[10].integer ?? 0, row[11].integer)
      operation.state = try OperationState(row[12].text, in: path)
      operation.senderID = row[13].text
      operation.job = row[15].text
      operation.sinceMilliseconds = row[16].integer
      operation.lastSentMilliseconds = row[20].integer
      operation.isRevised = row[17].integer == 1
      operation.otherSenders = [row[18].text, row[19].text].compactMap(\.self)
      operation.run = (row[22].text ?? "", row[23].integer)
      operation.isDoubted = row[24].integer == 1
      operation.isSeparate = row[30].integer == 1
      operation.refusal = (row[25].text, row[26].text)
      (operation.resultID, operation.serverDate) = (row[27].text, row[28].text)
      if operation.state == .done {
        operation.left = try parse(row[29].text, "an operation").object
      }
      return operation
    }
  }

  /// The level at which a run created a record; nil if another run created it.
  package func level(creationID: Int64, run: String) throws -> Int? {
    try connection.integer(
      """
      SELECT max(o.level) FROM operation o JOIN edit e ON e.id = o.edit_id
      WHERE e.creation_id = \(creationID) AND o.run_id = \(run) AND o.state = \(OperationState.done)
      """
    ).map { Int($0) }
  }

  /// Whether a record is known to be one that a device created, and so cannot be another user's.
  ///
  /// With `orReported`, also whether it is another one than those that creates without an answer may
  /// have made.
  ///
  /// An edit of the record shows this if the device was issued the record before any create with an
  /// unknown outcome was sent (`isIssuedBeforeCreates`). A device that syncs by itself may have a
  /// record that was not in its bundle. So the record must have been issued with the bundle, or the
  /// device's copy must have a date before that of the bundle.
  package func isClaimed(recordID: String, orReported: Bool = false) throws -> Bool {
    let isMade = try connection.integer(
      """
      SELECT 1 FROM creation WHERE record_id = \(recordID) OR device_record_id = \(recordID)
      UNION ALL SELECT 1 FROM operation o WHERE o.result_id = \(recordID)
        AND o.state = \(OperationState.done) AND o.action IN ('create', 'upsert') LIMIT 1
      """)
    if isMade != nil { return true }
    let edits = try connection.all(
      """
      SELECT r.issued_ms, e.modification_date, e.base IS NOT NULL FROM edit e
      JOIN returned r ON r.id = e.return_id
      WHERE e.record_id = \(recordID) AND \(Self.isIssuedBeforeCreates)
      """)
    let isEarlier = edits.contains { edit in
      if edit[2].integer == 1 { return true }
      guard let issued = edit[0].integer,
        let held = edit[1].text.flatMap({ Dates.milliseconds(iso8601: $0) })
      else { return false }
      return held + Self.secondsOfDates <= issued
    }
    return try isEarlier || (orReported && isToldApart(recordID))
  }

  /// Whether the bundle of a return `r` was issued before every create of the object of an edit `e`
  /// whose outcome is unknown: a record issued later may be the result of that create.
  static let isIssuedBeforeCreates: SQL = """
    (r.issued_ms < (SELECT min(coalesce(c.since_ms, c.sent_ms)) FROM operation c
      WHERE c.sobject = e.sobject AND c.action IN ('create', 'upsert') AND (
        c.state IN (\(OperationState.underWay))
        OR c.state = \(OperationState.dropped) AND c.is_doubted = 1)))
    """

  /// The tolerance in a comparison of two org dates, which have whole seconds; in milliseconds.
  private static let secondsOfDates: Int64 = 2000

  private static func text(_ settlement: Settlement) -> String {
    JSONValue.object([
      "verdict": .string(settlement.verdict.rawValue), "detail": settlement.detail.json,
    ]).text
  }

  private func settlement(_ value: JSONValue) -> Settlement {
    Settlement(
      value["verdict"]?.string.flatMap(Verdict.init(rawValue:)) ?? .updated,
      OutcomeDetail(json: value["detail"] ?? .null))
  }
}
