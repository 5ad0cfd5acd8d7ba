import SQLite

/// What the ledger needs of the pipeline's directory.
package struct NeededFiles: Sendable {
  /// The unresolved edits.
  package var openEdits: Set<Int64> = []
  /// Those that came from stores of a generation, by snapshot.
  package var ofGeneration: [String: [Int: Set<Int64>]] = [:]
  /// Those that a return contained, by its digest.
  package var ofReturn: [String: Set<Int64>] = [:]
  /// Those that a run processed, by its ID.
  package var ofRun: [String: Set<Int64>] = [:]
  /// The newest generations that devices have returned, for each snapshot's users and platforms.
  package var lastReturned: [String: Set<Int>] = [:]
}

extension LedgerDatabase {
  /// The snapshot of the store that a return `r` is of; for a global store from a user's bundle,
  /// the global snapshot.
  private static let ownSnapshot: SQL = """
    CASE WHEN r.part_of IS NULL THEN r.snapshot_id ELSE \(SnapshotID.global) END
    """

  /// What is needed of the pipeline's directory.
  package func neededFiles() throws -> NeededFiles {
    var needed = NeededFiles()
    for row in try connection.all(
      """
      SELECT e.id, \(Self.ownSnapshot), r.generation, w.sha256
      FROM edit e JOIN seen n ON n.edit_id = e.id JOIN returned r ON r.id = n.return_id
        JOIN returned w ON w.id = coalesce(r.part_of, r.id)
      WHERE \(Self.isUnsettledEdit)
      """)
    {
      guard let edit = row[0].integer else { continue }
      needed.openEdits.insert(edit)
      needed.ofGeneration[row[1].text ?? "", default: [:]][
        Int(row[2].integer ?? 0), default: []
      ].insert(edit)
      needed.ofReturn[row[3].text ?? "", default: []].insert(edit)
    }
    for row in try connection.all(
      """
      SELECT x.run_id, e.id FROM edit e JOIN outcome x ON x.edit_id = e.id
      WHERE \(Self.isUnsettledEdit)
      """)
    {
      needed.ofRun[row[0].text ?? "", default: []].insert(row[1].integer ?? 0)
    }
    for row in try connection.all(
      """
      SELECT \(Self.ownSnapshot), max(r.generation) FROM returned r
      GROUP BY r.snapshot_id, r.part_of IS NULL, r.platform
      """)
    {
      needed.lastReturned[row[0].text ?? "", default: []].insert(Int(row[1].integer ?? 0))
    }
    return needed
  }

  /// The edits of a return, each with its latest verdict.
  package func verdicts(of row: ReturnRow) throws -> [(number: Int64, verdict: String)] {
    try connection.all(
      """
      SELECT e.id, e.verdict FROM returned r JOIN seen n ON n.return_id = r.id
        JOIN edit e ON e.id = n.edit_id
      WHERE coalesce(r.part_of, r.id) = \(row.id) ORDER BY e.id
      """
    ).map { ($0[0].integer ?? 0, $0[1].text ?? "not reconciled yet") }
  }

  // MARK: values

  /// What of the ledger can be pruned.
  package struct Prunable: Sendable {
    /// The edits, each with the generation of its store.
    package var edits: [(edit: Int64, snapshotID: String, generation: Int)]
    /// The runs that still have a summary.
    package var runs: [String]
  }

  /// What can be pruned: runs that have ended and started before a given time (in ms of the org's
  /// time), and edits that arrived before it, are resolved, were reported by runs before it, never
  /// had a decision, and the generation of whose store is known.
  ///
  /// An edit with a decision keeps its values, because the device's values are needed as long as
  /// the record is edited.
  package func prunable(before time: Int64) throws -> Prunable {
    let edits = try connection.all(
      """
      SELECT e.id, \(Self.ownSnapshot), r.generation
      FROM returned r CROSS JOIN edit e INDEXED BY edit_unpruned ON e.return_id = r.id
      WHERE r.arrived_ms < \(time) AND e.pruned IS NULL AND e.operation <> 'synced'
        AND NOT \(Self.isUnsettledEdit) AND NOT \(Self.isUnderWay)
        AND NOT EXISTS (SELECT 1 FROM decision d WHERE d.edit_id = e.id)
        AND EXISTS (SELECT 1 FROM outcome x WHERE x.edit_id = e.id)
        AND NOT EXISTS (SELECT 1 FROM outcome x JOIN run n ON n.id = x.run_id
          WHERE x.edit_id = e.id AND (n.now_ms >= \(time) OR x.reported_by IS NULL))
      ORDER BY e.id
      """)
    let runs = try connection.texts(
      """
      SELECT id FROM run WHERE now_ms < \(time) AND ended_ms IS NOT NULL AND summary IS NOT NULL
        AND summary <> \(RunRow.prunedSummary) ORDER BY number
      """)
    return Prunable(
      edits: edits.map { ($0[0].integer ?? 0, $0[1].text ?? "", Int($0[2].integer ?? 0)) },
      runs: runs)
  }

  /// Removes the values of resolved edits (elements, bases, the org's values, and the fields of
  /// verdicts), the summaries of runs, and the findings of these runs that are resolved and
  /// reported.
  ///
  /// The edit's return, user, verdict and record stay, and so do the values that were sent and the
  /// values that the write left in the org, because later edits of the device are compared with
  /// them.
  package func prune(edits: [Int64], runs: [String] = []) throws {
    for start in stride(from: 0, to: edits.count, by: 500) {
      try connection.transaction {
        for edit in edits[start..<min(start + 500, edits.count)] { try prune(edit: edit) }
      }
    }
    try connection.transaction {
      for run in runs { try prune(run: run) }
    }
  }

  private func prune(edit: Int64) throws {
    let row = try connection.first("SELECT element FROM edit WHERE id = \(edit) AND pruned IS NULL")
    guard let element = row?[0].blob else { return }
    try connection.run(
      """
      UPDATE edit SET pruned = \(ElementContent.value(of: element)), element = \(Array("{}".utf8)),
        base = NULL WHERE id = \(edit)
      """)
    // Later rules ask whether the record was missing, but not what it held.
    try connection.run(
      """
      UPDATE operation SET seen = CASE WHEN seen IS NULL OR seen IN ('null', '{}') THEN seen ELSE '{}' END,
        expected = json_remove(expected, '$.detail.fields', '$.detail.outside', '$.detail.kept')
      WHERE edit_id = \(edit)
      """)
    try connection.run(
      """
      UPDATE outcome SET detail = json_remove(detail, '$.fields', '$.outside', '$.kept')
      WHERE edit_id = \(edit)
      """)
  }

  private func prune(run: String) throws {
    try connection.run("UPDATE run SET summary = \(RunRow.prunedSummary) WHERE id = \(run)")
    try connection.run(
      """
      DELETE FROM finding WHERE run_id = \(run) AND reported_by IS NOT NULL
        AND (settled_by IS NOT NULL
          OR kind NOT IN (\(list: Finding.Kind.allCases.filter(\.wantsPerson).map { .text($0.rawValue) })))
      """)
  }
}

extension RunRow {
  /// The placeholder for the summary of a pruned run.
  package static let prunedSummary = #"{"pruned":true}"#
}
