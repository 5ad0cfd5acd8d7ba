import SQLite

/// The state of an edit, for `status` and checks.
package struct EditStatus: Sendable, Hashable {
  package var id: Int64
  package var lineage: Int64
  /// The file that contained it.
  package var source: String
  /// The row's `lastModified`.
  package var lastModified: Int64
  /// `open`, `waiting` or `closed`.
  package var state: String
  /// The latest verdict.
  package var verdict: String?
  /// The edit that supersedes it; nil if none does.
  package var supersededBy: Int64?
}

extension LedgerDatabase {
  /// All edits of the ledger, in order of arrival.
  package func editStates() throws -> [EditStatus] {
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

  /// The number of ingested edits that have no verdict yet.
  package func unjudgedEdits() throws -> Int {
    Int(
      try connection.integer(
        "SELECT count(*) FROM edit WHERE verdict IS NULL AND state <> 'closed'") ?? 0)
  }

  /// The number of records in the ledger that devices created.
  package func creationCount() throws -> Int {
    Int(try connection.integer("SELECT count(*) FROM creation") ?? 0)
  }

  /// The number of edits with an unresolved latest verdict, by verdict; `status` shows them as
  /// open.
  package func unsettledEdits() throws -> [Verdict: Int] {
    var counts: [Verdict: Int] = [:]
    for row in try connection.all(
      "SELECT verdict, count(*) FROM edit e WHERE \(Self.isUnsettledEdit) GROUP BY verdict")
    {
      guard let verdict = row[0].text.flatMap(Verdict.init(rawValue:)), !verdict.isSettled else {
        continue
      }
      counts[verdict] = Int(row[1].integer ?? 0)
    }
    return counts
  }
}
