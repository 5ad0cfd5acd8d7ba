import SQLite

/// Where an edit stands, for status and checks.
package struct EditStatus: Sendable, Hashable {
  /// Its number.
  package var id: Int64
  /// Its lineage.
  package var lineage: Int64
  /// The file that it came in.
  package var source: String
  /// The row's date.
  package var lastModified: Int64
  /// `open`, `waiting` or `closed`.
  package var state: String
  /// What became of it last.
  package var verdict: String?
  /// The edit that holds it, if it is superseded by one.
  package var supersededBy: Int64?
}

extension LedgerDatabase {
  /// Every edit of the ledger, in order of arrival.
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

  /// How many edits were taken in and no run has judged yet.
  package func unjudgedEdits() throws -> Int {
    Int(
      try connection.integer(
        "SELECT count(*) FROM edit WHERE verdict IS NULL AND state <> 'closed'") ?? 0)
  }

  /// How many records devices have made, as far as the ledger knows.
  package func creationCount() throws -> Int {
    Int(try connection.integer("SELECT count(*) FROM creation") ?? 0)
  }

  /// The edits whose last verdict is not settled, by verdict: what `status` shows as open.
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
