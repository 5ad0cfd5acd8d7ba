import JSON
import SQLite

extension LedgerDatabase {
  /// The events of a record's edits, edit by edit in order of arrival.
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

  /// All events of one edit; empty if no edit has the number.
  private func events(
    ofEdit id: Int64, changes: (JSONObject, MergeBase?) -> [FieldDifference]
  ) throws -> [RecordEvent] {
    guard
      let row = try connection.first(
        """
        SELECT e.store, e.soup, e.entry_id, e.created_ms, e.last_modified_ms, e.element, e.operation,
          e.sobject, coalesce(c.record_id, e.record_id), coalesce(e.local_id, c.local_id),
          e.modification_date, e.base, e.finding, s.username, e.pruned IS NOT NULL
        FROM edit e JOIN returned r ON r.id = e.return_id LEFT JOIN snapshot s
          ON s.id = r.snapshot_id LEFT JOIN creation c ON c.id = e.creation_id WHERE e.id = \(id)
        """)
    else { return [] }
    let element = row[5].blob ?? []
    let edit = Edit(
      row: rowKey(row), created: row[3].integer ?? 0, lastModified: row[4].integer ?? 0,
      element: element,
      operation: row[6].text.flatMap(EditOperation.init(rawValue:)) ?? .update,
      sobject: row[7].text, serverID: row[8].text, localID: row[9].text,
      modificationDate: row[10].text, base: row[11].text.flatMap(MergeBaseText.base),
      finding: row[12].text)
    let username = row[13].text
    func event(
      _ time: Int64?, _ kind: RecordEvent.Kind, began: Int64? = nil
    ) -> RecordEvent {
      var event = RecordEvent(time: time, username: username, edit: id, kind: kind)
      event.began = began
      return event
    }
    let object = (try? JSONValue(parsing: element))?.object
    var events = [
      event(
        edit.lastModified,
        .edited(
          edit, element: object, fields: changes(object ?? [:], edit.base),
          isPruned: row[14].integer == 1))
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
    return events
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
