import SQLite

/// What the edits of one return have in common while they are recorded.
struct ReturnEntry {
  let row: ReturnRow
  let ancestry: Ancestry
  let returnID: Int64
  /// For a part, the stamp of the bundle that contained it.
  ///
  /// A ledger of the second version identified the rows of a part by it.
  let wholeStampID: String?
  /// The soups for which the lineage has a later return.
  let laterSoups: Set<SoupKey>
  /// What the ledger already has for the return's stamps.
  let known: KnownOfStamps

  /// The stamps that may identify its rows, its own first.
  var stampIDs: [SQLiteValue] { Self.stampIDs(row, wholeStampID) }

  private static func stampIDs(_ row: ReturnRow, _ whole: String?) -> [SQLiteValue] {
    ([row.stampID] + [whole].compactMap(\.self)).map { .text($0) }
  }

  /// Queries a ledger that already has the return itself, but none of its edits.
  init(
    _ row: ReturnRow, _ ancestry: Ancestry, returnID: Int64, wholeStampID: String?,
    in ledger: LedgerDatabase
  ) throws {
    (self.row, self.ancestry, self.returnID) = (row, ancestry, returnID)
    self.wholeStampID = wholeStampID
    laterSoups = try ledger.soupsHandedBack(after: row.handback, lineage: ancestry.lineage)
    known = try KnownOfStamps(Self.stampIDs(row, wholeStampID), besides: returnID, in: ledger)
  }
}

/// What the ledger already has for the stamps of a return.
///
/// Most devices return each bundle once, and then nothing has to be looked up.
final class KnownOfStamps {
  /// Whether it has records created by a device with one of the stamps.
  var hasCreations: Bool
  /// Whether it has another return with one of the stamps.
  let hasReturns: Bool
  // The record IDs that this return has added.
  private var recordIDs: Set<String> = []
  private var creations: Set<Int64> = []
  private var hasUnread = false

  init(
    _ stampIDs: [SQLiteValue], besides returnID: Int64, in ledger: LedgerDatabase
  ) throws {
    hasCreations =
      try ledger.connection.integer(
        "SELECT 1 FROM creation WHERE stamp_id IN (\(list: stampIDs)) LIMIT 1") != nil
    hasReturns =
      try ledger.connection.integer(
        """
        SELECT 1 FROM returned WHERE stamp_id IN (\(list: stampIDs)) AND id <> \(returnID) LIMIT 1
        """) != nil
  }

  /// Adds an edit that was recorded.
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
