import JSON
import Ledger
import MobileSync
import SQLite
import Salesforce
import System

// The ledger's queries for the watch.
extension LedgerDatabase {
  /// The earliest time of a request that a run still looks for, in ms of the org's time.
  ///
  /// Requests may arrive for a time after they were sent. The first run after that looks for them
  /// again, however late it is: its requests are those that the last run that reconciled
  /// before it still watched.
  func watchStart(_ run: RunRow) throws -> Int64 {
    let last = try connection.integer(
      """
      SELECT now_ms FROM run WHERE number < \(run.number) AND ',' || finished || ',' LIKE '%,reconcile,%'
      ORDER BY number DESC LIMIT 1
      """)
    return min(run.now, last ?? run.now) - Reconciler.watchMilliseconds
  }

  /// The last known state of a record before a watched request can have changed it: its values in
  /// the fields that the request sent, and its date.
  ///
  /// Later states replace earlier ones field by field: what was read before the request, what later
  /// writes of attache left, and what the last run saw. A field that no one has read is missing.
  /// `writes` are all writes to the record, with the IDs of their parents. The values
  /// after a write may have been read after the request had arrived. With `asSent`, a write of
  /// another value has left that value instead of the request's.
  func lastKnown(
    _ recordID: String, before operation: OperationRow, _ writes: [OperationRow],
    asSent: Bool = false
  ) throws -> JSONObject {
    var known: JSONObject = [:]
    func add(_ state: JSONObject) {
      for (name, value) in state { known[name] = value }
    }
    if let seen = operation.seen?.object,
      seen["Id"]?.string?.recordID18.map({ $0 == recordID.recordID18 }) ?? true
    {
      add(seen)
    }
    let sight = try sight(of: recordID, for: operation)
    let sightDate = sight?[OperationRow.dateKey]?.string
    var isAdded = sight == nil
    for write in writes where write.id >= operation.id {
      let date = write.serverDate
      if !isAdded, let sight, let date, let sightDate, ServerDate.isBefore(sightDate, date) {
        add(sight)
        isAdded = true
      }
      // If its result was not read, or another user wrote right after it, it left what it sent.
      var left = write.leftOfSent ?? write.payload
      for (name, value) in write.payload where asSent {
        guard let late = operation.payload[name], !WriteEvidence.derives(value, from: late),
          WriteEvidence.derives(left[name], from: late)
        else { continue }
        left[name] = value
      }
      add(left)
      if let date { known[OperationRow.dateKey] = .string(date) }
    }
    if !isAdded, let sight { add(sight) }
    return known
  }

  /// What a run last saw of a record of a watched request; empty if it was deleted, nil if no run
  /// looked.
  func sight(of recordID: String, for operation: OperationRow) throws -> JSONObject? {
    try sights(of: operation)[recordID]?.object
  }

  /// Records what a run saw of a record of a watched request: its values in the fields that the
  /// request sent, and its date.
  func noteSight(
    of record: JSONObject, _ recordID: String, at date: String?, for operation: OperationRow
  ) throws {
    var seen: JSONObject = [:]
    for name in operation.payload.names { seen[name] = record[name] }
    seen[OperationRow.dateKey] = date.map(JSONValue.string)
    var sights = try sights(of: operation)
    if sights[recordID] == .object(seen) { return }
    sights[recordID] = .object(seen)
    try connection.run(
      """
      UPDATE operation SET sights = \(JSONValue.object(sights).text) WHERE id = \(operation.id)
      """)
  }

  /// What runs saw of the records of a watched request, by record ID.
  private func sights(of operation: OperationRow) throws -> JSONObject {
    let text = try connection.text("SELECT sights FROM operation WHERE id = \(operation.id)")
    return try text.flatMap { try JSONValue(parsing: $0).object } ?? [:]
  }

  /// The latest time at which attache last deleted a record, in ms of the org's time; nil if it
  /// never did.
  func lastDeletion(of recordID: String) throws -> Int64? {
    try connection.all(
      """
      SELECT server_date, coalesce(last_ms, sent_ms) FROM operation
      WHERE state = \(OperationState.done) AND action = 'delete' AND result_id = \(recordID)
      """
    ).compactMap { row in
      row[0].text.flatMap { Dates.milliseconds(iso8601: $0) }
        ?? row[1].integer.map { $0 + OperationRow.writeMilliseconds }
    }.max()
  }

  /// The last run that saw that the org has the values of an edit, with the latest time of that, in
  /// ms of the org's time; nil if the edit has none of these verdicts.
  func noticed(_ edit: Int64, as verdicts: [Verdict]) throws -> (run: String, time: Int64)? {
    let row = try connection.first(
      """
      SELECT n.id, n.now_ms FROM edit e JOIN outcome x ON x.edit_id = e.id AND x.verdict = e.verdict
        JOIN run n ON n.id = x.run_id
      WHERE e.id = \(edit) AND e.verdict IN (\(list: verdicts.map { .text($0.rawValue) }))
      ORDER BY n.number DESC LIMIT 1
      """)
    return row.map { ($0[0].text ?? "", ($0[1].integer ?? 0) + OperationRow.writeMilliseconds) }
  }

  /// The record that an edit was found or declared to have created.
  func doneRecordID(of edit: Int64) throws -> String? {
    try connection.text(
      """
      SELECT result_id FROM operation WHERE edit_id = \(edit) AND state = \(OperationState.done)
        AND action IN ('create', 'upsert') ORDER BY id DESC LIMIT 1
      """)
  }

  /// The verdict of an edit; nil before its first one.
  func verdict(of edit: Int64) throws -> Verdict? {
    try connection.text("SELECT verdict FROM edit WHERE id = \(edit)")
      .flatMap(Verdict.init(rawValue:))
  }
}
