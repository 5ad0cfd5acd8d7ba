import SQLite

/// One return, or one part of it, while its edits are recorded: what the ledger has for its stamps,
/// and the result so far.
///
/// Most devices return each bundle once, and then nothing has to be looked up.
final class Ingest {
  let row: ReturnRow
  let ancestry: Ancestry
  /// The stamps that may identify its rows, its own first; for a part also that of its bundle, by
  /// which a ledger of the second version identified them.
  let stampIDs: [SQLiteValue]
  /// The soups for which the lineage has a later return.
  let laterSoups: Set<SoupKey>
  /// Whether the ledger has another return with one of the stamps.
  let hasReturns: Bool
  /// Whether it has records created by a device with one of the stamps.
  var hasCreations: Bool
  var result = IngestResult()
  // What this return has added.
  private var recordIDs: Set<String> = []
  private var creations: Set<Int64> = []
  private var hasUnread = false

  /// Queries a ledger that already has the return itself, but none of its edits.
  init(
    _ row: ReturnRow, _ ancestry: Ancestry, wholeStampID: String?, in ledger: LedgerDatabase
  ) throws {
    (self.row, self.ancestry) = (row, ancestry)
    let stampIDs = [row.stampID, wholeStampID].compactMap { $0.map { SQLiteValue.text($0) } }
    self.stampIDs = stampIDs
    laterSoups = try ledger.soupsHandedBack(after: row.handback, lineage: row.lineage)
    hasCreations =
      try ledger.connection.integer(
        "SELECT 1 FROM creation WHERE stamp_id IN (\(list: stampIDs)) LIMIT 1") != nil
    hasReturns =
      try ledger.connection.integer(
        """
        SELECT 1 FROM returned WHERE stamp_id IN (\(list: stampIDs)) AND id <> \(row.id) LIMIT 1
        """) != nil
  }

  /// Notes an edit that was recorded.
  func note(_ edit: Edit, creation: Int64?) {
    if let id = edit.serverID { recordIDs.insert(id) }
    if let creation { creations.insert(creation) }
    if edit.serverID == nil, creation == nil { hasUnread = true }
  }

  /// Whether the ledger may have another edit of a record.
  func mayHold(_ edit: Edit, creation: Int64?) -> Bool {
    if hasReturns || hasUnread { return true }
    if let creation { return creations.contains(creation) }
    return edit.serverID.map(recordIDs.contains) ?? false
  }
}

extension LedgerDatabase {
  /// The soups in a lineage's returns after `handback`; empty if the return has no counter.
  fileprivate func soupsHandedBack(after handback: Int64?, lineage: Int64) throws -> Set<SoupKey> {
    guard let handback else { return [] }
    return try Set(
      connection.all(
        """
        SELECT DISTINCT s.store, s.soup FROM returned r JOIN returned_soup s ON s.return_id = r.id
        WHERE r.lineage_id = \(lineage) AND r.handback > \(handback)
        """
      ).map { SoupKey(store: StoreKey(text: $0[0].text ?? ""), soup: $0[1].text ?? "") })
  }
}
