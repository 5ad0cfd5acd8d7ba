import JSON
import SQLite

/// What supersedes an edit.
enum Replacement: Hashable {
  /// A later edit of the same device.
  case edit(Int64)
  /// A later return of the same device that no longer has the row as an edit.
  case handback
}

extension LedgerDatabase {
  /// Whether the outcome of an edit `e` is still unknown.
  static let isUnderWay: SQL = """
    EXISTS (SELECT 1 FROM operation o WHERE o.edit_id = e.id AND o.state IN (\(OperationState.underWay)))
    """

  /// Whether an edit `e` is still to be sent or needs review.
  package static let isUnsettledEdit: SQL = """
    (e.state <> 'closed' OR \(raw: LedgerSchema.isUnsettled("e.verdict")))
    """

  /// Whether an edit `e` is open because a request for it, or a deletion of its record, arrived
  /// late.
  ///
  /// It stays open until an operator decides, even if another edit supersedes it by then. If an
  /// operator chose one of a creation's records, that decides about its duplicate only.
  static let hasArrivedLate: SQL = """
    (\(isUnsettledEdit) AND EXISTS (SELECT 1 FROM operation o WHERE o.edit_id = e.id
      AND o.state = \(OperationState.done)
      AND (o.is_doubted = 1 OR e.verdict = \(Verdict.deletedOnServer)))
      AND NOT (\(isDuplicateOfCreation) AND EXISTS (
        SELECT 1 FROM creation c WHERE c.id = e.creation_id AND c.chosen_id IS NOT NULL)))
    """

  /// Whether a late request of an edit, or a late deletion over it, waits for an operator.
  func hasArrivedLate(_ edit: Int64) throws -> Bool {
    try connection.integer("SELECT 1 FROM edit e WHERE e.id = \(edit) AND \(Self.hasArrivedLate)")
      != nil
  }

  /// Whether an edit's own device has discarded it: a later return has the row, but not as an edit.
  package func isTakenBack(_ edit: Int64) throws -> Bool {
    try replacement(of: edit) == .handback
  }

  /// Whether a later return of the same device may close an edit `e`.
  ///
  /// A record with a duplicate is excluded, because an operator has to choose one of the two.
  static let mayBeClosed: SQL = "e.verdict IS NOT \(Verdict.duplicateCreated) AND \(isReplaceable)"

  /// Whether a later state of its record may supersede an edit `e`.
  static let isReplaceable: SQL = """
    \(isUnsettledEdit) AND NOT \(isUnderWay) AND NOT \(hasArrivedLate) AND NOT \(isDecidedFirst)
      AND NOT \(isNeededReport)
    """

  /// Whether a return has a row in a state from before a given time.
  ///
  /// Such a row comes from a backup and says nothing about an edit made at that time.
  ///
  /// A row that the device wrote since it was issued, in the lineage's next return, does not come
  /// from a backup: the device's clock was corrected.
  ///
  /// `place` is the alias in the statement that has the row's store and soup.
  static func hasOlderRow(
    _ returnID: SQL, of place: String, entry: SQL, than modified: SQL
  ) -> SQL {
    """
    EXISTS (SELECT 1 FROM witness w WHERE w.return_id = \(returnID)
      AND w.store = \(raw: place).store AND w.soup = \(raw: place).soup AND w.entry_id = \(entry)
      AND w.last_modified_ms < \(modified) AND NOT EXISTS (
        SELECT 1 FROM returned a JOIN returned b
          ON b.lineage_id = a.lineage_id AND b.handback = a.handback - 1
        WHERE a.id = w.return_id AND w.last_modified_ms > a.issued_ms))
    """
  }

  /// The edits of a record among the returns of a bundle.
  ///
  /// The edit that the bundle redelivered in the row is one of them.
  func versions(
    of edit: Edit, creation: Int64?, _ carried: CarriedRow?, _ entry: Ingest
  ) throws -> [SupersessionRule.Version] {
    if carried == nil, !entry.mayHold(edit, creation: creation) { return [] }
    // A row that could not be read is identified only by its location.
    let unread: SQL = """
      (v.store = \(edit.row.store.text) AND v.soup = \(edit.row.soup)
        AND v.entry_id = \(edit.row.soupEntryID) AND v.finding IS NOT NULL AND v.record_id IS NULL
        AND v.creation_id IS NULL)
      """
    let same: SQL
    if let creation {
      same = "(v.creation_id = \(creation) OR \(unread))"
    } else if let serverID = edit.serverID {
      same = "(v.record_id = \(serverID) OR \(unread))"
    } else {
      same = unread
    }
    // The plus sign disables a less selective index than that of the record; SQLite has no
    // statistics here.
    let rows = try connection.all(
      """
      SELECT e.id, e.element, (\(Self.isUnsettledEdit) AND NOT \(Self.isDecidedFirst)),
        \(Self.isUnderWay) OR \(Self.isOfThirdRecord)
          OR (\(Self.hasArrivedLate) AND NOT \(Self.isDuplicateOfCreation)),
        e.pruned
      FROM edit e WHERE e.id IN (
          SELECT v.id FROM edit v JOIN returned r ON r.id = v.return_id
          WHERE \(same) AND +r.stamp_id IN (\(list: entry.stampIDs))
          UNION ALL SELECT \(carried?.edit))
        AND +e.store = \(edit.row.store.text) AND +e.soup = \(edit.row.soup)
        AND e.operation <> 'synced' ORDER BY e.id
      """)
    return try rows.map { row in
      let id = row[0].integer ?? 0
      let isUnsettled = row[2].integer == 1
      let isCarried = id == carried?.edit
      return SupersessionRule.Version(
        editID: id,
        sightings: try sightings(of: id, stampIDs: isCarried ? entry.stampIDs : nil),
        value: isCarried
          ? carried?.value ?? "" : row[4].text ?? ElementContent.value(of: row[1].blob ?? []),
        standing: row[3].integer == 1 ? .underWay : isUnsettled ? .unsettled : .settled,
        carried: isCarried ? carried?.lastModified : nil)
    }
  }

  /// All returns that contained an edit, the earliest first.
  ///
  /// If `stampIDs` is given, only those with one of these stamps.
  func sightings(
    of edit: Int64, stampIDs: [SQLiteValue]? = nil
  ) throws -> [Sighting] {
    let isAsked: SQL = stampIDs.map { "r.stamp_id IN (\(list: $0))" } ?? "1"
    return try connection.all(
      """
      SELECT n.store, n.soup, n.entry_id, r.lineage_id, r.handback, n.last_modified_ms, n.content
      FROM seen n JOIN returned r ON r.id = n.return_id
      WHERE n.edit_id = \(edit) AND \(isAsked) ORDER BY r.id
      """
    ).map(sighting)
  }

  // MARK: superseding

  /// Closes an edit that another edit or a later return supersedes.
  func supersede(_ edit: Int64, by other: Int64?) throws {
    try withdrawDecision(of: edit)
    try connection.run(
      """
      UPDATE edit SET superseded_by = \(other), verdict = \(Verdict.superseded.rawValue),
        state = 'closed' WHERE id = \(edit)
      """)
  }

  /// Closes an edit that a later edit of its device replaced, with the verdict `superseded` in a
  /// run.
  func supersede(_ edit: Int64, by replacement: Replacement, run: String) throws {
    var detail = OutcomeDetail()
    if case .edit(let other) = replacement { detail.otherEdits = [other] }
    try supersede(edit, by: detail.otherEdits.first)
    try enterOutcomes([(edit, Settlement(.superseded, detail))], run: run)
    try tellWithdrawn(run: run)
  }

  /// The unresolved edits that resolved edits of the same record and device replaced, each with the
  /// first of these that replaced it.
  func replaced(by edits: [Int64]) throws -> [(earlier: Int64, edit: Int64)] {
    if edits.isEmpty { return [] }
    let rows = try connection.all(
      """
      SELECT l.id, e.id FROM edit l JOIN edit e ON (e.record_id = l.record_id
          OR e.creation_id = l.creation_id) AND e.store = l.store AND e.soup = l.soup
      WHERE l.id IN (\(each: edits)) AND e.id < l.id AND e.operation <> 'synced'
        AND \(Self.isReplaceable)
      """)
    var earlier: [Int64: [Int64]] = [:]
    for row in rows {
      guard let edit = row[0].integer, let id = row[1].integer else { continue }
      earlier[edit, default: []].append(id)
    }
    let lineages = try lineages(of: Set(earlier.keys).union(earlier.values.joined()))
    var replaced: [(earlier: Int64, edit: Int64)] = []
    var known: Set<Int64> = []
    for edit in edits {
      for id in earlier[edit] ?? [] where lineages.owns(edit, id) && known.insert(id).inserted {
        replaced.append((id, edit))
      }
    }
    return replaced
  }

  /// What replaced an unresolved edit: a later edit of the same record and device that is in a
  /// later return or is resolved, or a later return that has the soup but not the edit.
  ///
  /// A row that is an edit of another record is not the edit: the device's own sync has made that
  /// record, because the edit's was deleted.
  func replacement(of edit: Int64) throws -> Replacement? {
    let later = try connection.all(
      """
      SELECT l.id, l.lineage_id, r.handback,
        l.verdict IN (\(list: Verdict.closing))
      FROM edit e JOIN edit l ON (l.record_id = e.record_id OR l.creation_id = e.creation_id)
          AND l.store = e.store AND l.soup = e.soup JOIN returned r ON r.id = l.return_id
      WHERE e.id = \(edit) AND l.id > e.id AND l.operation <> 'synced'
        AND l.verdict IS NOT \(Verdict.superseded) ORDER BY l.id DESC
      """)
    let seen = try sightings(of: edit)
    let lineages = try lineages(of: Set(later.compactMap { $0[0].integer }))
    for row in later {
      let ancestry = lineages.ancestry(of: row[0].integer ?? 0)
      if ancestry.past.contains(where: { $0.edit == edit }) { return .edit(row[0].integer ?? 0) }
      let own = seen.filter { ancestry.owns(lineage: $0.lineage, handback: $0.handback) }
      let isOrdered = own.contains { sighting in
        guard let earlier = sighting.handback, let handback = row[2].integer else { return false }
        return earlier < handback
      }
      if !own.isEmpty, isOrdered || row[3].integer == 1 { return .edit(row[0].integer ?? 0) }
    }
    for sighting in seen where sighting == seen.last {
      guard let handback = sighting.handback else { continue }
      let isGone = try connection.integer(
        """
        SELECT 1 FROM edit e, returned r JOIN returned_soup s ON s.return_id = r.id
          AND s.store = \(sighting.row.store.text) AND s.soup = \(sighting.row.soup)
        WHERE e.id = \(edit) AND r.lineage_id = \(sighting.lineage) AND r.handback > \(handback)
          AND NOT EXISTS (SELECT 1 FROM seen n JOIN edit l ON l.id = n.edit_id
            WHERE n.return_id = r.id AND n.store = s.store AND n.soup = s.soup
              AND n.entry_id = \(sighting.row.soupEntryID)
              AND (l.record_id <> e.record_id) IS NOT TRUE)
          AND NOT \(Self.hasOlderRow(
            "r.id", of: "s", entry: "\(sighting.row.soupEntryID)", than: "\(sighting.lastModified)"))
          AND e.verdict <> \(Verdict.duplicateCreated) LIMIT 1
        """)
      if isGone != nil { return .handback }
    }
    return try isGivenUp(edit) ? .handback : nil
  }

  /// Closes edits that later edits of the same device have replaced.
  func supersedeReplaced() throws {
    let unsettled = try connection.all(
      "SELECT e.id FROM edit e WHERE e.state = 'closed' AND \(Self.isReplaceable)")
    for id in unsettled.compactMap({ $0[0].integer }) {
      switch try replacement(of: id) {
      case nil: break
      case .edit(let other)?: try supersede(id, by: other)
      case .handback?: try supersede(id, by: nil)
      }
    }
  }
}

extension Verdict {
  /// The resolved verdicts as a list for a statement.
  package static let settled = list(\.isSettled)

  /// The verdicts that close earlier edits, as a list for a statement.
  static let closing = list(\.closesEarlier)

  /// Some verdicts as a list for a statement.
  package static func list(_ isMeant: (Verdict) -> Bool) -> [SQLiteValue] {
    allCases.filter(isMeant).map { SQLiteValue.text($0.rawValue) }
  }
}
