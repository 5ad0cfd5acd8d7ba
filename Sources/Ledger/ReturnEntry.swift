import SQLite

/// What the edits of one return have in common while they are entered.
struct ReturnEntry {
  let row: ReturnRow
  let ancestry: Ancestry
  let returnID: Int64
  /// The stamp of the bundle that it came in, for a part: the ledger's second version knew the rows
  /// of a part by it.
  let wholeStampID: String?
  /// The soups of which the lineage has a later hand-back.
  let laterSoups: Set<SoupKey>
  /// What the ledger has of its stamps already.
  let known: KnownOfStamps

  /// The stamps by which its rows may be known, its own first.
  var stampIDs: [SQLiteValue] { Self.stampIDs(row, wholeStampID) }

  private static func stampIDs(_ row: ReturnRow, _ whole: String?) -> [SQLiteValue] {
    ([row.stampID] + [whole].compactMap(\.self)).map { .text($0) }
  }

  /// Asks a ledger that has the return itself already, and none of its edits.
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

/// What the ledger has of the stamps of a return: most devices come back once with a bundle, and then nothing need be
/// looked for.
final class KnownOfStamps {
  /// Whether it has records that a device with one of the stamps made.
  var hasCreations: Bool
  /// Whether it has another return with one of them.
  let hasReturns: Bool
  // Of what this return has entered.
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

  /// Notes an edit that was entered.
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
  /// The soups that hand-backs of a lineage brought which are later than one; none where it has no number.
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
