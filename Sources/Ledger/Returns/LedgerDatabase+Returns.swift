import Crypto
import JSON
import SQLite
import SmartStore

/// The result of ingesting a return.
package struct IngestResult: Sendable, Hashable {
  /// Whether the same file was ingested before, so that nothing was done.
  package var isKnown = false
  /// The number of edits to reconcile.
  package var new = 0
  /// The number of unresolved edits that the ledger already had; they stay the same edits.
  package var known = 0
  /// The number of edits that the ledger already had as resolved, or in a later state.
  package var superseded = 0
  /// The number of edits that could not be ordered relative to known edits of the same device.
  package var unordered = 0

  /// Adds the counts of a part to those of the whole.
  static func += (whole: inout IngestResult, part: IngestResult) {
    whole.new += part.new
    whole.known += part.known
    whole.superseded += part.superseded
    whole.unordered += part.unordered
  }
}

/// A return whose edits are in a bundle.
package struct IncludedReturn: Sendable, Hashable {
  /// The stamp ID.
  package var stampID: String
  /// The app's ID of the installation.
  package var install: String
  /// The return counter of the installation's latest resolved return.
  package var handback: Int64

  package var json: JSONValue {
    [
      "stampId": .string(stampID), "install": .string(install),
      "handback": .number(String(handback)),
    ]
  }

  package init(stampID: String, install: String, handback: Int64) {
    (self.stampID, self.install, self.handback) = (stampID, install, handback)
  }

  package init?(json: JSONValue) {
    guard let stampID = json["stampId"]?.string, let install = json["install"]?.string,
      let handback = json["handback"]?.int
    else { return nil }
    self.init(stampID: stampID, install: install, handback: handback)
  }
}

extension LedgerDatabase {
  /// The return with a digest; nil if it has not been ingested.
  package func returned(sha256: String) throws -> ReturnRow? {
    try returns("WHERE r.sha256 = \(sha256)").first
  }

  /// The returns that a condition selects, in order of arrival, without their rows and soups.
  func returns(_ condition: SQL) throws -> [ReturnRow] {
    try connection.all(
      """
      SELECT r.id, r.lineage_id, r.sha256, r.source_name, r.stamp_id, r.snapshot_id, r.generation,
        r.platform, r.install, r.handback, r.arrived_ms FROM returned r \(condition) ORDER BY r.id
      """
    ).map { found in
      var row = ReturnRow(
        sha256: found[2].text ?? "", sourceName: found[3].text ?? "", stampID: found[4].text ?? "",
        snapshotID: found[5].text ?? "", generation: found[6].integer ?? 0,
        platform: found[7].text ?? "", install: found[8].text, handback: found[9].integer,
        arrived: found[10].integer ?? 0)
      (row.id, row.lineage) = (found[0].integer ?? 0, found[1].integer ?? 0)
      return row
    }
  }

  /// The rows that the bundle's earlier returns had as edits, or that were issued as edits.
  ///
  /// A later return shows their outcome.
  package func rowsToWitness(stampIDs: [String]) throws -> [RowKey] {
    let rows = try connection.all(
      """
      SELECT n.store, n.soup, n.entry_id FROM seen n JOIN returned r
        ON r.id = n.return_id
      WHERE r.stamp_id IN (\(list: stampIDs.map { .text($0) }))
      UNION SELECT store, soup, entry_id FROM carried
      WHERE stamp_id IN (\(list: stampIDs.map { .text($0) })) ORDER BY 1, 2, 3
      """)
    return rows.map(rowKey)
  }

  /// Records a return and its edits, in one transaction.
  ///
  /// Identity, lineage, forks and supersession are decided here; recording the same return again
  /// changes nothing. `parts` are the stores in the return that have their own stamps: a device's
  /// global store is returned in the bundles of all its users and by itself, and its rows are the
  /// same rows each time. The fact that `run` accepted the return is recorded in the same
  /// transaction, so it is reported even if the run is interrupted right after.
  package func record(
    return row: ReturnRow, parts: [ReturnRow] = [], run: String? = nil
  ) throws -> IngestResult {
    if try returned(sha256: row.sha256) != nil { return IngestResult(isKnown: true) }
    return try connection.transaction {
      let whole = try enter(row, partOf: nil)
      for part in parts { whole.result += try enter(part, partOf: whole.row).result }
      let count = parts.reduce(row.edits.count) { $0 + $1.edits.count }
      if let run { try noteAccepted(row, edits: count, new: whole.result.new, run: run) }
      return whole.result
    }
  }

  private func enter(_ row: ReturnRow, partOf whole: ReturnRow?) throws -> Ingest {
    var row = row
    let (edits, witnesses) = (row.edits, row.witnesses)
    let presumed = try presumedMarks(row)
    row.marks.merge(presumed) { known, _ in known }
    row.presumed = Set(presumed.keys)
    let contents = edits.map { $0.content ?? ElementContent.digest(of: $0.element) }
    var changed: [(edit: Edit, content: String)] = []
    var asIssued: [(edit: Edit, content: String)] = []
    for (edit, content) in zip(edits, contents).sorted(by: { Self.comesFirst($0.0.row, $1.0.row) })
    {
      if try isAsIssued(edit, in: row) {
        asIssued.append((edit, content))
      } else {
        changed.append((edit, content))
      }
    }
    // The content that a row has had since it was issued is not evidence of the device.
    let facts = LineageEvidence(
      install: row.install, handback: row.handback,
      edits: Dictionary(
        changed.map {
          ($0.row, LineageEvidence.DirtyRow(lastModified: $0.lastModified, content: $1))
        }, uniquingKeysWith: { first, _ in first }),
      cleanRows: Dictionary(
        witnesses.map { ($0.row, $0.lastModified) }, uniquingKeysWith: { first, _ in first }),
      stores: Set(row.soupTotals.keys.map(\.store)))
    let ancestry = try lineage(of: facts, stampID: row.stampID)
    row.lineage = ancestry.lineage
    row.id = try insert(row, partOf: whole?.id)
    let entry = try Ingest(row, ancestry, wholeStampID: whole?.stampID, in: self)
    for (edit, content) in asIssued { try noteAsIssued(edit, content: content, entry) }
    for (edit, content) in changed { try enter(edit, content: content, entry) }
    try closeEarlierHandbacks(entry, edits)
    try closeGivenUp(entry, edits: Set(edits.map(\.row)))
    for witness in witnesses { try noteOwnSync(witness, entry) }
    for edit in edits {
      if let witness = try sentBefore(edit, entry) {
        try noteOwnSync(witness, isOfOther: true, entry)
      }
    }
    return entry
  }

  private func noteAccepted(_ row: ReturnRow, edits: Int, new: Int, run: String) throws {
    let detail: JSONObject = [
      "name": .string(row.sourceName), "sha256": .string(row.sha256),
      "snapshot": .string(row.snapshotID), "generation": JSONValue(row.generation),
      "platform": .string(row.platform), "edits": JSONValue(edits), "new": JSONValue(new),
    ]
    try note(.returnAccepted, row.sha256, detail, run: run)
  }

  /// The resolved returns of a snapshot's bundles, over which a device may install.
  ///
  /// For each installation, this is the latest return up to which all edits are resolved, including
  /// those of forks and of stores returned separately. A later return of the lineage supersedes the
  /// earlier ones for each soup that it has. An app that does not count its returns could not find
  /// itself in the list and is left out. If a user has several stores that are returned separately,
  /// a return counts when the last of them has arrived. The edits in `carried` count as resolved,
  /// because the device finds them in what it installs.
  package func includes(
    snapshotID: String, carried: Set<Int64> = []
  ) throws -> [IncludedReturn] {
    let carried = carried.sorted().map { SQLiteValue.integer($0) }
    // A part counts with the bundle that it came in.
    let rows = try connection.all(
      """
      WITH handed AS MATERIALIZED (
        SELECT p.id, p.lineage_id, w.stamp_id, w.install, w.handback
        FROM returned w CROSS JOIN returned p ON coalesce(p.part_of, p.id) = +w.id
        WHERE w.stamp_id IN (SELECT stamp_id FROM returned WHERE snapshot_id = \(snapshotID)))
      SELECT r.stamp_id, r.install, max(r.handback) FROM returned r
      WHERE r.snapshot_id = \(snapshotID) AND r.install IS NOT NULL AND r.handback IS NOT NULL
        AND r.part_of IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM returned_mark a WHERE a.return_id = r.id AND a.mark = \(ReturnRow.absent)
            AND NOT EXISTS (
              SELECT 1 FROM returned q WHERE q.stamp_id = r.stamp_id AND q.install = r.install
                AND q.handback = r.handback AND NOT EXISTS (
                  SELECT 1 FROM returned_mark b WHERE b.return_id = q.id AND b.store = a.store
                    AND b.mark = \(ReturnRow.absent))))
        AND NOT EXISTS (
          SELECT 1 FROM handed q JOIN seen n ON n.return_id = q.id
            JOIN edit f ON f.id = n.edit_id
          WHERE q.stamp_id = r.stamp_id AND q.install = r.install
            AND coalesce(q.handback, r.handback) <= r.handback
            AND NOT EXISTS (
              SELECT 1 FROM handed l JOIN returned_soup s ON s.return_id = l.id
              WHERE l.lineage_id = q.lineage_id AND l.stamp_id = q.stamp_id
                AND l.install = q.install AND l.handback > q.handback
                AND l.handback <= r.handback AND s.store = n.store AND s.soup = n.soup)
            AND EXISTS (
              WITH RECURSIVE holder(id, next, verdict) AS (
                SELECT f.id, f.superseded_by, f.verdict
                UNION
                SELECT e.id, e.superseded_by, e.verdict FROM edit e JOIN holder h ON e.id = h.next)
              SELECT 1 FROM holder WHERE id NOT IN (\(list: carried))
                AND (verdict IS NULL OR verdict NOT IN (\(list: Verdict.settled)))))
      GROUP BY r.stamp_id, r.install ORDER BY r.stamp_id, r.install
      """)
    return rows.map {
      IncludedReturn(
        stampID: $0[0].text ?? "", install: $0[1].text ?? "", handback: $0[2].integer ?? 0)
    }
  }

  private static func comesFirst(_ one: RowKey, _ other: RowKey) -> Bool {
    (one.store.text, one.soup, one.soupEntryID) < (other.store.text, other.soup, other.soupEntryID)
  }

  /// The row key in a statement's first columns: store, soup and entry.
  func rowKey(_ row: [SQLiteValue]) -> RowKey {
    RowKey(
      store: StoreKey(text: row[0].text ?? ""), soup: row[1].text ?? "",
      soupEntryID: row[2].integer ?? 0)
  }

  /// Inserts a return with its soups and unchanged rows, and returns its number.
  private func insert(_ row: ReturnRow, partOf whole: Int64?) throws -> Int64 {
    try connection.run(
      """
      INSERT INTO returned (sha256, source_name, stamp_id, snapshot_id, generation, platform,
        install, handback, arrived_ms, issued_ms, lineage_id, part_of, epoch) VALUES
      (\(row.sha256), \(row.sourceName), \(row.stampID), \(row.snapshotID), \(row.generation),
        \(row.platform), \(row.install), \(row.handback), \(row.arrived), \(row.issued),
        \(row.lineage), \(whole), \(row.epoch))
      """)
    let id = connection.lastInsertRowID
    for (store, mark) in row.marks {
      try connection.run("INSERT INTO returned_mark VALUES (\(id), \(store.text), \(mark))")
    }
    for (soup, total) in row.soupTotals {
      try connection.run(
        """
        INSERT INTO returned_soup VALUES (\(id), \(soup.store.text), \(soup.soup), \(total))
        """)
    }
    for witness in row.witnesses {
      try connection.run(
        """
        INSERT OR IGNORE INTO witness
          (return_id, store, soup, entry_id, last_modified_ms, created_ms, server_id)
        VALUES (\(id), \(witness.row.store.text), \(witness.row.soup),
          \(witness.row.soupEntryID), \(witness.lastModified), \(witness.created),
          \(witness.serverID))
        """)
    }
    return id
  }

  private func lineage(of facts: LineageEvidence, stampID: String) throws -> Ancestry {
    switch LineageRule.choose(for: facts, among: try lineageEvidence(stampID: stampID)) {
    case .known(let lineage): return try ancestry(of: lineage)
    case .new: return try newLineage(stampID, facts.install, trunk: nil, at: nil)
    case .fork(let trunk, let handback):
      return try newLineage(stampID, facts.install, trunk: trunk, at: handback)
    }
  }

  private func newLineage(
    _ stampID: String, _ install: String?, trunk: Int64?, at handback: Int64?
  ) throws -> Ancestry {
    try connection.run(
      """
      INSERT INTO lineage (stamp_id, install, trunk, fork_handback)
      VALUES (\(stampID), \(install), \(trunk), \(handback))
      """)
    return try ancestry(of: connection.lastInsertRowID)
  }

  /// A lineage with the trunks below it.
  private func ancestry(of lineage: Int64) throws -> Ancestry {
    Ancestry(lineage: lineage, in: try trunks(of: [lineage]))
  }

  private func lineageEvidence(stampID: String) throws -> [LineageEvidence] {
    try returns("WHERE r.stamp_id = \(stampID)").map { row in
      var edits: [RowKey: LineageEvidence.DirtyRow] = [:]
      for edit in try connection.all(
        """
        SELECT n.store, n.soup, n.entry_id, n.last_modified_ms, n.content
        FROM seen n JOIN edit e ON e.id = n.edit_id
        WHERE n.return_id = \(row.id) AND e.operation <> 'synced' AND n.content <> '' AND NOT EXISTS (
          SELECT 1 FROM carried_in c WHERE c.return_id = n.return_id AND c.store = n.store
            AND c.soup = n.soup AND c.entry_id = n.entry_id
            AND c.last_modified_ms = n.last_modified_ms)
        """)
      {
        edits[rowKey(edit)] = LineageEvidence.DirtyRow(
          lastModified: edit[3].integer ?? 0, content: edit[4].text ?? "")
      }
      var clean: [RowKey: Int64] = [:]
      for witness in try connection.all(
        "SELECT store, soup, entry_id, last_modified_ms FROM witness WHERE return_id = \(row.id)")
      {
        clean[rowKey(witness)] = witness[3].integer ?? 0
      }
      let stores = try connection.all(
        "SELECT DISTINCT store FROM returned_soup WHERE return_id = \(row.id)")
      return LineageEvidence(
        lineage: row.lineage, install: row.install, handback: row.handback, edits: edits,
        cleanRows: clean, stores: Set(stores.map { StoreKey(text: $0[0].text ?? "") }))
    }
  }
}
