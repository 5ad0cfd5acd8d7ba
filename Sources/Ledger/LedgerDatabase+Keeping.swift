import SQLite

/// An edit that is not settled, and a place that it was seen in.
package struct OpenEditPlace: Sendable, Hashable {
  /// The edit.
  package var edit: Int64
  /// The snapshot of the store that it stood in.
  package var snapshotID: String
  /// The generation of that store.
  package var generation: Int
  /// The digest of the return.
  package var sha256: String
}

/// What the ledger knows of a return.
package struct ReturnStory: Sendable {
  /// The user whose it is, by name where that is known.
  package var owner: String
  /// The generation of its stores.
  package var generation: Int
  /// `ios` or `android`.
  package var platform: String
  /// Its edits, each with what became of it last.
  package var edits: [(number: Int64, verdict: String)]
}

extension LedgerDatabase {
  /// The snapshot of the store that a return `r` is of: one that came in a bundle of a user's is the global one.
  private static let ownSnapshot: SQL = """
    CASE WHEN r.part_of IS NULL THEN r.snapshot_id ELSE \(SnapshotID.global) END
    """

  /// The time of the newest run that was asked for one of these stages, in ms; nil where there is none.
  package func lastRunTime(ofStages stages: Set<String>) throws -> Int64? {
    try runs(limit: 400).first { !$0.wanted.isDisjoint(with: stages) }?.now
  }

  /// The edits that are not settled, with every return that held them.
  package func openEditPlaces() throws -> [OpenEditPlace] {
    try connection.all(
      """
      SELECT e.id, \(Self.ownSnapshot), r.generation, w.sha256
      FROM edit e JOIN seen n ON n.edit_id = e.id JOIN returned r ON r.id = n.return_id
        JOIN returned w ON w.id = coalesce(r.part_of, r.id)
      WHERE \(Self.isUnsettledEdit)
      """
    ).map { row in
      OpenEditPlace(
        edit: row[0].integer ?? 0, snapshotID: row[1].text ?? "",
        generation: Int(row[2].integer ?? 0), sha256: row[3].text ?? "")
    }
  }

  /// The newest generations that devices handed back from, of each snapshot's users and platforms.
  package func lastReturned() throws -> [String: Set<Int>] {
    try connection.all(
      """
      SELECT \(Self.ownSnapshot), max(r.generation) FROM returned r
      GROUP BY r.snapshot_id, r.part_of IS NULL, r.platform
      """
    ).reduce(into: [:]) { $0[$1[0].text ?? "", default: []].insert(Int($1[1].integer ?? 0)) }
  }

  /// When a return of a digest arrived, in ms of the org's time; nil where the ledger does not have it.
  package func arrival(ofReturn sha256: String) throws -> Int64? {
    try connection.integer("SELECT arrived_ms FROM returned WHERE sha256 = \(sha256)")
  }

  /// What the ledger knows of a return of a digest: whose it is, what of, and its edits with what became of them
  /// last; nil where it does not have it.
  package func returnStory(sha256: String) throws -> ReturnStory? {
    let row = try connection.first(
      """
      SELECT r.id, coalesce(s.username, r.snapshot_id), r.generation, r.platform
      FROM returned r LEFT JOIN snapshot s ON s.id = r.snapshot_id WHERE r.sha256 = \(sha256)
      """)
    guard let row, let id = row[0].integer else { return nil }
    let edits = try connection.all(
      """
      SELECT e.id, e.verdict FROM returned r JOIN seen n ON n.return_id = r.id
        JOIN edit e ON e.id = n.edit_id
      WHERE coalesce(r.part_of, r.id) = \(id) ORDER BY e.id
      """)
    return ReturnStory(
      owner: row[1].text ?? "", generation: Int(row[2].integer ?? 0), platform: row[3].text ?? "",
      edits: edits.map { ($0[0].integer ?? 0, $0[1].text ?? "not reconciled yet") })
  }

  /// The runs that have met edits which are not settled, with those.
  package func runsOfOpenEdits() throws -> [String: Set<Int64>] {
    try connection.all(
      """
      SELECT x.run_id, e.id FROM edit e JOIN outcome x ON x.edit_id = e.id
      WHERE \(Self.isUnsettledEdit)
      """
    ).reduce(into: [:]) { $0[$1[0].text ?? "", default: []].insert($1[1].integer ?? 0) }
  }

  // MARK: values

  /// The edits that came before a moment, in ms of the org's time, and need nothing more: told in reports of runs
  /// before it, never decided about by a person, and with the generation whose store brought them.
  ///
  /// An edit about which somebody decided keeps its values: what the device held is asked for as long as
  /// the record is edited.
  package func settledEdits(
    before time: Int64
  ) throws -> [(edit: Int64, snapshotID: String, generation: Int)] {
    try connection.all(
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
      """
    ).map { ($0[0].integer ?? 0, $0[1].text ?? "", Int($0[2].integer ?? 0)) }
  }

  /// The runs that ended, began before a moment, and whose summaries are there.
  package func summarizedRuns(before time: Int64) throws -> [String] {
    try connection.texts(
      """
      SELECT id FROM run WHERE now_ms < \(time) AND ended_ms IS NOT NULL AND summary IS NOT NULL
        AND summary <> \(RunRow.prunedSummary) ORDER BY number
      """)
  }

  /// Removes the values of settled edits: elements, bases, what stood in the org, and the fields of
  /// verdicts.
  ///
  /// What came, from whom, what became of it and which record it made stays, and what was sent and what
  /// that left in the org: a later edit of the device is compared with it.
  package func prune(edits: [Int64]) throws {
    for start in stride(from: 0, to: edits.count, by: 500) {
      try connection.transaction {
        for edit in edits[start..<min(start + 500, edits.count)] { try prune(edit: edit) }
      }
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
    // That a record was not there is asked for; what it held is not.
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

  /// Removes the summaries of runs, and what they found that is settled and told.
  package func prune(runs: [String]) throws {
    try connection.transaction {
      for run in runs {
        try connection.run("UPDATE run SET summary = \(RunRow.prunedSummary) WHERE id = \(run)")
        try connection.run(
          """
          DELETE FROM finding WHERE run_id = \(run) AND reported_by IS NOT NULL
            AND (settled_by IS NOT NULL
              OR kind NOT IN (\(list: Finding.Kind.allCases.filter(\.wantsPerson).map { .text($0.rawValue) })))
          """)
      }
    }
  }

  /// How many of the edits that a run gave verdicts to have no values any more.
  package func prunedEdits(of run: String) throws -> Int {
    Int(
      try connection.integer(
        """
        SELECT count(*) FROM outcome x JOIN edit e ON e.id = x.edit_id
        WHERE x.run_id = \(run) AND e.pruned IS NOT NULL
        """) ?? 0)
  }

  /// Says whether the values of an edit are gone.
  package func isPruned(_ edit: Int64) throws -> Bool {
    try connection.integer("SELECT 1 FROM edit WHERE id = \(edit) AND pruned IS NOT NULL") != nil
  }
}

extension RunRow {
  /// What stands for the summary of a run that is pruned.
  package static let prunedSummary = #"{"pruned":true}"#
}
