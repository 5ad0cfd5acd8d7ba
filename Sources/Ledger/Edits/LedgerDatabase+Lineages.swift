import SQLite

extension LedgerDatabase {
  /// The ancestries of some edits, each with the returns that contained the edit.
  ///
  /// They are read in four statements, and in one more for each generation in a row that
  /// redelivered an edit.
  package func lineages(of edits: Set<Int64>) throws -> [Int64: Ancestry] {
    var found: [Int64: Ancestry] = [:]
    if edits.isEmpty { return found }
    var pasts: [Int64: [Int64]] = [:]
    var next = edits
    while !next.isEmpty {
      for edit in next { pasts[edit] = [] }
      let rows = try connection.all(
        """
        SELECT m.id, c.edit_id FROM edit m CROSS JOIN carried_in c ON c.return_id = m.return_id
          JOIN edit f ON f.id = c.edit_id
        WHERE m.id IN (\(each: next.sorted())) AND c.edit_id < m.id AND c.store = m.store AND (
          (c.soup = m.soup AND c.entry_id = m.entry_id) OR c.record_id = m.record_id
          OR f.record_id = m.record_id OR f.creation_id = m.creation_id)
        """)
      next = []
      for row in rows {
        guard let edit = row[0].integer, let past = row[1].integer else { continue }
        pasts[edit, default: []].append(past)
        if pasts[past] == nil { next.insert(past) }
      }
    }
    let own = try connection.all(
      "SELECT id, lineage_id FROM edit WHERE id IN (\(each: pasts.keys.sorted())) ORDER BY id")
    let trunks = try trunks(of: Set(own.compactMap { $0[1].integer }))
    // An edit's past is earlier, so its ancestry is already known.
    for row in own {
      guard let edit = row[0].integer, let lineage = row[1].integer else { continue }
      var ancestry = Ancestry(lineage: lineage, in: trunks)
      for past in pasts[edit] ?? [] {
        ancestry.past.append(Ancestry.Past(edit: past, ancestry: found.ancestry(of: past)))
      }
      found[edit] = ancestry
    }
    let asked = edits.sorted()
    // SQLite would read all of `seen` for a list of edits.
    for row in try connection.all(
      """
      SELECT n.store, n.soup, n.entry_id, r.lineage_id, r.handback, n.last_modified_ms, n.content,
        n.edit_id
      FROM (SELECT return_id, store, soup, entry_id, last_modified_ms, content, id AS edit_id
          FROM edit WHERE id IN (\(each: asked))
        UNION ALL SELECT return_id, store, soup, entry_id, last_modified_ms, content, edit_id
          FROM sighting WHERE edit_id IN (\(each: asked))) n
        JOIN returned r ON r.id = n.return_id ORDER BY r.id
      """)
    {
      found[row[7].integer ?? 0, default: Ancestry(lineage: 0)].sightings.append(sighting(row))
    }
    return found
  }

  /// The forks below which some lineages are: of each lineage, its trunk and the counter of the
  /// return at which it left that.
  func trunks(of lineages: Set<Int64>) throws -> [Int64: Ancestry.Fork] {
    let rows = try connection.all(
      """
      WITH RECURSIVE below(id) AS (\(each: lineages.sorted())
        UNION SELECT l.trunk FROM below b JOIN lineage l ON l.id = b.id WHERE l.trunk IS NOT NULL)
      SELECT l.id, l.trunk, l.fork_handback FROM below b JOIN lineage l ON l.id = b.id
      WHERE l.trunk IS NOT NULL AND l.fork_handback IS NOT NULL
      """)
    return rows.reduce(into: [:]) { forks, row in
      guard let id = row[0].integer, let trunk = row[1].integer, let handback = row[2].integer
      else { return }
      forks[id] = Ancestry.Fork(trunk: trunk, handback: handback)
    }
  }

  /// The first seven columns of a row of `seen` with its return.
  func sighting(_ row: [SQLiteValue]) -> Sighting {
    Sighting(
      lineage: row[3].integer ?? 0, handback: row[4].integer, row: rowKey(row),
      lastModified: row[5].integer ?? 0, content: row[6].text ?? "")
  }
}
