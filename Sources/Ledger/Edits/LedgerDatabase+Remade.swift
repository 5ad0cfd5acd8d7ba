import JSON
import MobileSync
import SQLite

/// A record recreated in place of a deleted one.
package struct RemadeRecord: Sendable, Hashable {
  package var id: String
  package var sobject: String
}

// References to recreated records.
extension LedgerDatabase {
  /// The records recreated in place of the given records, by the IDs of the latter.
  ///
  /// A record that is the latest one of its edits has no entry.
  ///
  /// Whether the deleted record is still deleted has to be looked up, because users can undelete
  /// it.
  package func remade(_ ids: Set<String>) throws -> [String: RemadeRecord] {
    if ids.isEmpty { return [:] }
    let asked = JSONValue.array(ids.sorted().map(JSONValue.string)).text
    // The edits of a record are those with its ID, those of the creation that it was made for, and
    // all others of the creation's row.
    let rows = try connection.all(
      """
      WITH asked(id) AS MATERIALIZED (SELECT value FROM json_each(\(asked))),
      maker(id, record_id, creation_id) AS MATERIALIZED (
        SELECT a.id, f.record_id, f.creation_id FROM asked a
          CROSS JOIN operation m ON m.result_id = a.id CROSS JOIN edit f ON f.id = m.edit_id
        WHERE m.state = \(OperationState.done) AND m.action IN ('create', 'upsert')),
      held(id, edit_id) AS (
        SELECT a.id, f.id FROM asked a CROSS JOIN edit f ON f.record_id = a.id
        UNION SELECT a.id, f.id FROM asked a CROSS JOIN creation c ON c.record_id = a.id
          CROSS JOIN edit f ON f.creation_id = c.id
        UNION SELECT m.id, f.id FROM maker m CROSS JOIN edit f ON f.record_id = m.record_id
        UNION SELECT m.id, f.id FROM maker m CROSS JOIN edit f ON f.creation_id = m.creation_id)
      SELECT h.id, o.result_id, o.sobject, max(o.id) FROM held h CROSS JOIN operation o ON o.edit_id = h.edit_id
      WHERE o.state = \(OperationState.done) AND o.action IN ('create', 'upsert') AND o.result_id IS NOT NULL
      GROUP BY h.id
      """)
    var found: [String: RemadeRecord] = [:]
    for row in rows {
      guard let old = row[0].text, let new = row[1].text, new != old else { continue }
      found[old] = RemadeRecord(id: new, sobject: row[2].text ?? "")
    }
    return found
  }
}
