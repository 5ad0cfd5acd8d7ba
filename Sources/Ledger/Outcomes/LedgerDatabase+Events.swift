import JSON
import SQLite

/// An edit with everything that the ledger knows about it.
package struct EditEvents: Sendable {
  package var id: Int64
  /// The sObject.
  package var sobject: String?
  /// The record's ID in the org; nil if it has none yet.
  package var recordID: String?
  /// The local ID of a record that the device created.
  package var localID: String?
  /// The element as returned.
  package var element: [UInt8]
  /// The edit's store and soup.
  package var soup: SoupKey
  /// The events in the order in which they happened.
  package var events: [RecordEvent]
}

extension LedgerDatabase {
  /// The edits of a record with all of their events, in order of arrival.
  ///
  /// `name` is the record's ID, its local ID, or the number of one of its edits. `changes` returns
  /// the fields that an element changed, given the element and the values that its device was
  /// issued.
  package func events(
    named name: String, changes: (JSONObject, MergeBase?) -> [FieldDifference]
  ) throws -> [RecordEvent] {
    try edits(named: name).flatMap { try events(ofEdit: $0, changes: changes) }
  }

  private func edits(named name: String) throws -> [Int64] {
    if let number = Int64(name) {
      guard
        let row = try connection.first(
          """
          SELECT coalesce(c.record_id, e.record_id), e.creation_id
          FROM edit e LEFT JOIN creation c ON c.id = e.creation_id WHERE e.id = \(number)
          """)
      else { return [] }
      if let record = row[0].text { return try sorted(Self.edits(of: record, formerID: nil)) }
      if let creation = row[1].integer {
        return try sorted("SELECT id FROM edit WHERE creation_id = \(creation)")
      }
      return [number]
    }
    return try sorted(
      """
      \(Self.edits(of: name, formerID: nil))
      UNION SELECT id FROM edit WHERE local_id = \(name)
      UNION SELECT e.id FROM edit e JOIN creation c ON c.id = e.creation_id
        WHERE c.local_id = \(name)
      """)
  }

  private func sorted(_ selection: SQL) throws -> [Int64] {
    try connection.all("\(selection) ORDER BY 1").compactMap { $0[0].integer }
  }

  /// All events of one edit; nil if no edit has the number.
  private func events(
    ofEdit id: Int64, changes: (JSONObject, MergeBase?) -> [FieldDifference]
  ) throws -> EditEvents? {
    guard
      let row = try connection.first(
        """
        SELECT e.operation, e.store, e.soup, e.sobject, coalesce(c.record_id, e.record_id),
          coalesce(e.local_id, c.local_id), e.last_modified_ms, e.element, e.base, e.finding,
          s.username, e.pruned IS NOT NULL
        FROM edit e JOIN returned r ON r.id = e.return_id LEFT JOIN snapshot s
          ON s.id = r.snapshot_id LEFT JOIN creation c ON c.id = e.creation_id WHERE e.id = \(id)
        """)
    else { return nil }
    let element = row[7].blob ?? []
    let username = row[10].text
    func event(
      _ time: Int64?, _ kind: RecordEvent.Kind, began: Int64? = nil
    ) -> RecordEvent {
      var event = RecordEvent(time: time, username: username, edit: id, kind: kind)
      event.began = began
      return event
    }
    let object = (try? JSONValue(parsing: element))?.object ?? [:]
    let operation = EditOperation(rawValue: row[0].text ?? "") ?? .update
    let fields = changes(object, row[8].text.flatMap(MergeBaseText.base))
    var events = [
      event(
        row[6].integer,
        .edited(
          operation: operation, fields: fields, reason: row[9].text,
          isPruned: row[11].integer == 1))
    ]
    let returns = try returns("JOIN seen n ON n.return_id = r.id WHERE n.edit_id = \(id)")
    events += returns.enumerated().map { index, row in
      event(row.arrived, .returned(row, isAgain: index > 0))
    }
    let writes = try operations(.ofEdits([id]))
    events += writes.map { event($0.sentMilliseconds, .written($0), began: $0.run?.began) }
    events += try decisions(of: id).map { event($0.time, .decided($0.value)) }
    events += try verdicts(of: id).map { verdict in
      // A run has one clock, which is set at its start; a verdict comes after its requests.
      let sent = writes.filter { $0.run?.id == verdict.run }.compactMap(\.sentMilliseconds).max()
      return event(
        max(verdict.time, sent ?? verdict.time),
        .settled(verdict: verdict.value.verdict, detail: verdict.value.detail, run: verdict.run),
        began: verdict.time)
    }
    return EditEvents(
      id: id, sobject: row[3].text, recordID: row[4].text, localID: row[5].text, element: element,
      soup: SoupKey(store: StoreKey(text: row[1].text ?? ""), soup: row[2].text ?? ""),
      events: events)
  }

  private func decisions(
    of edit: Int64
  ) throws -> [(time: Int64?, value: RecordEvent.Deciding)] {
    let rows = try connection.all(
      """
      SELECT decided_ms, kind, detail, decided_by, state, run_id FROM decision
      WHERE edit_id = \(edit) ORDER BY id
      """)
    return try rows.compactMap { row in
      guard let kind = row[1].text.flatMap(Decision.Kind.init(rawValue:)) else { return nil }
      return (
        row[0].integer,
        RecordEvent.Deciding(
          kind: kind, values: try parse(row[2].text, "a decision").object ?? [:],
          by: row[3].text ?? "", fate: row[4].text ?? "", run: row[5].text)
      )
    }
  }

  private func verdicts(
    of edit: Int64
  ) throws -> [(time: Int64, run: String, value: Settlement)] {
    let rows = try connection.all(
      """
      SELECT n.now_ms, x.run_id, x.verdict, x.detail FROM outcome x JOIN run n ON n.id = x.run_id
      WHERE x.edit_id = \(edit) ORDER BY n.number
      """)
    return try rows.compactMap { row in
      guard let verdict = row[2].text.flatMap(Verdict.init(rawValue:)) else { return nil }
      let detail = OutcomeDetail(json: try parse(row[3].text, "an outcome"))
      return (row[0].integer ?? 0, row[1].text ?? "", Settlement(verdict, detail))
    }
  }
}
