import Ledger
import SQLite

/// The state of an edit in a ledger.
struct EditStatus {
  var id: Int64
  var lineage: Int64
  /// The file that contained it.
  var source: String
  /// The row's `lastModified`.
  var lastModified: Int64
  /// `open`, `waiting` or `closed`.
  var state: String
  /// The latest verdict.
  var verdict: String?
  /// The edit that supersedes it; nil if none does.
  var supersededBy: Int64?
}

extension LedgerDatabase {
  /// All edits, in order of arrival.
  func editStates() throws -> [EditStatus] {
    let rows = try connection.all(
      """
      SELECT e.id, e.lineage_id, r.source_name, e.last_modified_ms, e.state, e.verdict,
        e.superseded_by
      FROM edit e JOIN returned r ON r.id = e.return_id ORDER BY e.id
      """)
    return rows.map { row in
      EditStatus(
        id: row[0].integer ?? 0, lineage: row[1].integer ?? 0, source: row[2].text ?? "",
        lastModified: row[3].integer ?? 0, state: row[4].text ?? "", verdict: row[5].text,
        supersededBy: row[6].integer)
    }
  }

  /// The number of records that devices created.
  func creationCount() throws -> Int64? {
    try connection.integer("SELECT count(*) FROM creation")
  }
}
