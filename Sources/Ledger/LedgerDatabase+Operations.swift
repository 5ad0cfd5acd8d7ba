import JSON
import MobileSync
import SQLite
import System

/// One write to the org, from its plan to its outcome.
package struct OperationRow {
  package var id: Int64
  package var editID: Int64
  package var action: SyncUpAction
  /// The user name that writes.
  package var sender: String
  /// The Id of that user; nil in what a ledger of an earlier version has noted.
  package var senderID: String?
  package var sobject: String
  package var recordID: String?
  package var externalField: String?
  package var externalValue: String?
  package var payload: JSONObject
  /// Whether Ids of records that were made meanwhile stand in the payload, which the plan does not have.
  package var isCompleted = false
  /// The outcome of success, kept so that a write that is found done later is reported the same.
  @Shared package var expected: Settlement
  /// How many records had to be there before it: a resumed run keeps the order.
  package var level: Int
  package var attempt: Int64
  /// The org's clock before its first attempt: it has made nothing earlier.
  package var sentMilliseconds: Int64?
  /// The org's clock when its last attempt left, as well as that is known; nil in what a ledger of an earlier
  /// version has noted.
  package var lastSentMilliseconds: Int64?
  /// The earliest time at which it can have been sent, where nobody noted that: a run that the ledger does not
  /// know of may have sent it between this and `sentMilliseconds`.
  package var sinceMilliseconds: Int64?
  /// Whose edit it is, who may have sent it himself where another one does now.
  package var otherSenders: [String] = []
  /// Whether its device has changed the row since it made it: an earlier state may have been sent.
  package var isRevised = false
  /// The record as it was read before; nil where that is not known.
  ///
  /// Of an upsert it is that of its external id, null for none; of an update the fields that are sent.
  /// The record's date then stands beside the fields, under `dateKey`.
  package var seen: JSONValue?
  package var state: OperationState
  /// The bulk job that carries it; nil for a request of its own.
  package var job: String?
  /// The field whose date says when the record was last modified; nil in what the ledger tells.
  package var modificationField: String?

  /// The member of `seen` that is the record's date; no field has such a name.
  package static let dateKey = ".date"
  /// How long after its sending a write may be dated where nobody has come after it, in milliseconds of the
  /// org's time.
  package static let writeMilliseconds: Int64 = 120_000

  /// A write that is planned.
  package init(
    id: Int64 = 0, editID: Int64, action: SyncUpAction, sender: String, senderID: String? = nil,
    sobject: String, recordID: String?, externalField: String? = nil, externalValue: String? = nil,
    payload: JSONObject, expected: Settlement, level: Int = 0, attempt: Int64 = 0,
    sentMilliseconds: Int64? = nil, seen: JSONValue? = nil, state: OperationState = .planned,
    modificationField: String? = nil
  ) {
    self.id = id
    self.editID = editID
    self.action = action
    self.sender = sender
    self.senderID = senderID
    self.sobject = sobject
    self.recordID = recordID
    self.externalField = externalField
    self.externalValue = externalValue
    self.payload = payload
    self.expected = expected
    self.level = level
    self.attempt = attempt
    self.sentMilliseconds = sentMilliseconds
    self.seen = seen
    self.state = state
    self.modificationField = modificationField
  }
}

/// What came of one write.
package enum OperationOutcome {
  case done(recordID: String?)
  case rejected(code: String?, message: String)
  /// The condition of an update did not hold.
  case conflict
  /// Nobody knows.
  case doubt
  /// It certainly did not happen, and may be tried again.
  case again
}

extension LedgerDatabase {
  /// Enters the plans of snapshots, each with the Id of its sender: on the disk before the first request.
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
        external_field, external_value, payload, expected, level, sender_id, seen, state)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      """, each: operations,
      values: { operation in
        [
          .integer(operation.editID), .text(run), .text(operation.action.rawValue),
          .text(operation.sender), .text(operation.sobject), SQLiteValue(operation.recordID),
          SQLiteValue(operation.externalField), SQLiteValue(operation.externalValue),
          .text(JSONValue.object(operation.payload).text), .text(Self.text(operation.expected)),
          .integer(Int64(operation.level)), .text(senderID), SQLiteValue(operation.seen?.text),
          .text(OperationState.planned.rawValue),
        ]
      },
      after: { operation in
        var row = operation
        row.id = connection.lastInsertRowID
        planned.append(row)
      })
    return planned
  }

  /// Notes that a batch is about to leave, by the org's clock, and in which bulk job: committed before its
  /// first byte is.
  ///
  /// `now` is that clock as the last answer told it, `latest` the best guess of what it is by now.
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
        try noteSent(operation, operation.payload)
      }
    }
  }

  /// Enters a write that a run which the ledger does not know of may have sent: it is in doubt from the
  /// beginning.
  ///
  /// The times are the org's.
  package func presume(
    _ operation: OperationRow, run: String, senderID: String, since: Int64, until: Int64
  ) throws {
    try connection.transaction {
      for row in try insert([operation], run: run, senderID: senderID) {
        try connection.run(
          """
          UPDATE operation SET state = \(OperationState.sent), sent_ms = \(until), since_ms = \(since),
            attempt = attempt + 1 WHERE id = \(row.id)
          """)
        try move(row, to: .doubt)
      }
    }
  }

  /// Notes when a write without an answer was sent at the latest, by the org's clock.
  ///
  /// It may have waited between attempts, as long as the org asked for. When it was sent first stays: what it
  /// made is looked for from then on.
  package func noteLastAttempt(of operation: OperationRow, _ milliseconds: Int64) throws {
    try connection.run(
      """
      UPDATE operation SET last_ms = \(milliseconds)
      WHERE id = \(operation.id) AND coalesce(last_ms, sent_ms) < \(milliseconds)
      """)
  }

  /// Notes what a write carries where that is not what was planned, or where nobody has kept it.
  package func noteSent(_ operation: OperationRow, _ payload: JSONObject) throws {
    try connection.run(
      "UPDATE operation SET payload = \(JSONValue.object(payload).text) WHERE id = \(operation.id)")
  }

  /// Notes when a write that is done was done, by the org's clock: a bulk job may have taken hours.
  package func noteEnd(of operation: OperationRow, _ milliseconds: Int64) throws {
    try connection.run("UPDATE operation SET sent_ms = \(milliseconds) WHERE id = \(operation.id)")
  }

  /// Notes what came of one write.
  package func finish(_ operation: OperationRow, _ outcome: OperationOutcome) throws {
    switch outcome {
    case .done(let recordID): try finish(done: [(operation, recordID)])
    case .rejected(let code, let message):
      try connection.run(
        """
        UPDATE operation SET state = \(OperationState.rejected), code = \(code), message = \(message)
        WHERE id = \(operation.id)
        """)
    case .conflict: try move(operation, to: .conflict)
    case .doubt: try move(operation, to: .doubt)
    case .again: try move(operation, to: .planned)
    }
  }

  /// Notes that writes are done, each with the Id of its record where the org told one.
  package func finish(done: [(operation: OperationRow, recordID: String?)]) throws {
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
  package func move(_ operation: OperationRow, to state: OperationState) throws {
    try connection.run(
      """
      UPDATE operation SET state = \(state), is_doubted = is_doubted OR \(state == .doubt)
      WHERE id = \(operation.id)
      """)
  }

  /// What a write left in the org: the record's date and its fields; no fields where somebody else wrote since.
  package typealias Left = (operation: OperationRow, date: String?, fields: JSONObject?)

  /// Notes what writes left in the org.
  package func noteLeft(_ left: [Left]) throws {
    try connection.run(
      "UPDATE operation SET server_date = ?, left_values = ? WHERE id = ?", each: left
    ) { one in
      let fields: JSONValue = one.fields.map { .object($0) } ?? .null
      return [SQLiteValue(one.date), .text(fields.text), .integer(one.operation.id)]
    }
  }

  /// Notes that a record was in the recycle bin by a moment of the org's time: what a deletion of ours has dated
  /// bears no later one.
  package func noteGone(_ operation: OperationRow, by milliseconds: Int64) throws {
    // The org tells its time in whole seconds.
    let date = Dates.salesforce(milliseconds / 1000 * 1000 + 999)
    try connection.run("UPDATE operation SET server_date = \(date) WHERE id = \(operation.id)")
  }

  /// The operations that are not finished, and those whose edit has no verdict yet.
  package func unfinishedOperations() throws -> [OperationRow] {
    try operations("\(raw: LedgerSchema.isUnfinished) ORDER BY +id")
  }

  /// Writes that are done and of which nothing is known yet that they left: the run died before it
  /// asked.
  package func unreadOperations(since: Int64) throws -> [OperationRow] {
    try operations(
      """
      state = \(OperationState.done) AND action <> 'delete' AND left_values IS NULL AND sent_ms >= \(since)
        ORDER BY +id
      """)
  }

  /// The operations of a condition.
  package func operations(_ condition: SQL) throws -> [OperationRow] {
    let rows = try connection.all(
      """
      SELECT id, edit_id, action, sender, sobject, record_id, external_field, external_value,
        payload, expected, attempt, sent_ms, state,
        coalesce(sender_id, (SELECT user_id FROM snapshot s WHERE s.username = sender)), seen, job_id, since_ms,
        (SELECT e.last_modified_ms > e.created_ms FROM edit e WHERE e.id = edit_id),
        (SELECT r.snapshot_id FROM edit e JOIN returned r ON r.id = e.return_id
          WHERE e.id = edit_id AND r.snapshot_id <> 'global'), (SELECT value FROM meta WHERE name = 'integrationUser'), last_ms
      FROM operation WHERE \(condition)
      """)
    return try rows.map { row in
      var operation = OperationRow(
        id: row[0].integer ?? 0, editID: row[1].integer ?? 0,
        action: SyncUpAction(rawValue: row[2].text ?? "") ?? .update, sender: row[3].text ?? "",
        senderID: row[13].text, sobject: row[4].text ?? "", recordID: row[5].text,
        externalField: row[6].text,
        externalValue: row[7].text,
        payload: try parse(row[8].text, "an operation").object ?? [:],
        expected: settlement(try parse(row[9].text, "an operation")),
        attempt: row[10].integer ?? 0, sentMilliseconds: row[11].integer,
        seen: try row[14].text.map { try parse($0, "an operation") },
        state: try OperationState(row[12].text, in: path))
      operation.job = row[15].text
      operation.sinceMilliseconds = row[16].integer
      operation.lastSentMilliseconds = row[20].integer
      operation.isRevised = row[17].integer == 1
      operation.otherSenders = [row[18].text, row[19].text].compactMap(\.self)
      return operation
    }
  }

  /// At which level a run made a record; nil when another run did.
  package func level(creationID: Int64, run: String) throws -> Int? {
    try connection.integer(
      """
      SELECT max(o.level) FROM operation o JOIN edit e ON e.id = o.edit_id
      WHERE e.creation_id = \(creationID) AND o.run_id = \(run) AND o.state = \(OperationState.done)
      """
    ).map { Int($0) }
  }

  /// The record that a write made or changed.
  package func resultID(of operation: OperationRow) throws -> String? {
    try connection.text("SELECT result_id FROM operation WHERE id = \(operation.id)")
  }

  /// Says whether a record is known to be what a device made: such a one is nobody else's.
  ///
  /// That we have changed it says so where its device was given it before any create of unknown fate was sent;
  /// one that was given it later may have what that create had made. A device that syncs by itself may have a record
  /// that its bundle had not: the record must have been issued with the bundle, or what the device holds of it must be
  /// of a time before the bundle.
  package func isClaimed(recordID: String) throws -> Bool {
    let isMade = try connection.integer(
      """
      SELECT 1 FROM creation WHERE record_id = \(recordID) OR device_record_id = \(recordID)
      UNION ALL SELECT 1 FROM operation o WHERE o.result_id = \(recordID)
        AND o.state = \(OperationState.done) AND o.action IN ('create', 'upsert') LIMIT 1
      """)
    if isMade != nil { return true }
    let changes = try connection.all(
      """
      SELECT r.issued_ms, e.modification_date, e.base IS NOT NULL FROM operation o
      JOIN edit e ON e.id = o.edit_id JOIN returned r ON r.id = e.return_id
      WHERE o.result_id = \(recordID) AND o.state = \(OperationState.done) AND r.issued_ms < (
        SELECT min(coalesce(c.since_ms, c.sent_ms)) FROM operation c
        WHERE c.sobject = o.sobject AND c.action IN ('create', 'upsert') AND (
          c.state IN (\(OperationState.underWay))
          OR c.state = \(OperationState.dropped) AND c.is_doubted = 1))
      """)
    return changes.contains { change in
      if change[2].integer == 1 { return true }
      guard let issued = change[0].integer,
        let held = change[1].text.flatMap({ Dates.milliseconds(iso8601: $0) })
      else { return false }
      return held + Self.secondsOfDates <= issued
    }
  }

  /// An org's dates are of whole seconds, on either side of a comparison; in milliseconds.
  private static let secondsOfDates: Int64 = 2000

  /// Says whether a request to make a device's new record has left for another edit of its row.
  package func wasTried(_ creationID: Int64, besides edit: Int64) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM operation o JOIN edit e ON e.id = o.edit_id
      WHERE e.creation_id = \(creationID) AND e.id <> \(edit) AND o.action = 'create' AND o.attempt > 0 LIMIT 1
      """) != nil
  }

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
