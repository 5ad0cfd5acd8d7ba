/// What came back: one device's stores of one bundle at one moment.
package struct ReturnRow: Sendable {
  /// The digest of what came back.
  package var sha256: String
  /// The file's name in the inbox.
  package var sourceName: String
  /// The stamp's id.
  package var stampID: String
  /// The snapshot: a user's 18-character Id, or `global`.
  package var snapshotID: String
  /// The generation that the stamp names.
  package var generation: Int64
  /// `ios` or `android`.
  package var platform: String
  /// The installation that the app named in the stamp.
  package var install: String?
  /// The app's count of hand-backs.
  package var handback: Int64?
  /// When the run began that took it from the inbox, in ms.
  package var arrived: Int64
  /// The epoch whose key its stamp was made with; 0 before the first recovery.
  package var epoch: Int64 = 0
  /// When the bundle was made, in ms; nil when that is not known.
  package var issued: Int64?
  /// How many rows each soup has, by store and soup; the share of deletions is measured by it.
  package var soupTotals: [SoupKey: Int]
  /// The run that put open edits into a store, by store, where one did.
  package var marks: [StoreKey: String] = [:]
  /// The mark of a store of the same user that did not come with it; no run has such a name.
  package static let absent = "absent"
  /// The stores of which the stamp does not say it, and what they hold does.
  var presumed: Set<StoreKey> = []
  /// The soups in which edits without flags were looked for.
  package var compared: Set<SoupKey> = []

  /// A return.
  package init(
    sha256: String, sourceName: String, stampID: String, snapshotID: String, generation: Int64,
    platform: String, install: String? = nil, handback: Int64? = nil, arrived: Int64,
    issued: Int64? = nil, soupTotals: [SoupKey: Int] = [:]
  ) {
    self.sha256 = sha256
    self.sourceName = sourceName
    self.stampID = stampID
    self.snapshotID = snapshotID
    self.generation = generation
    self.platform = platform
    self.install = install
    self.handback = handback
    self.arrived = arrived
    self.issued = issued
    self.soupTotals = soupTotals
  }
}

/// A store of a return that has a stamp of its own, with what it brings.
package struct ReturnPart: Sendable {
  /// What the ledger keeps of it; its digest is the whole's with the stamp's id behind it.
  package var row: ReturnRow
  /// Its edits.
  package var edits: [Edit]
  /// Its clean rows that were edits before.
  package var witnesses: [CleanRow]

  /// A part.
  package init(row: ReturnRow, edits: [Edit], witnesses: [CleanRow]) {
    (self.row, self.edits, self.witnesses) = (row, edits, witnesses)
  }
}

/// A row of a return that an earlier return of the same bundle had as an edit, dirty or clean: the
/// evidence that two returns are of one device.
package struct CleanRow: Sendable, Hashable {
  /// Where it stands.
  package var row: RowKey
  /// The row's `created`, in ms.
  package var created: Int64
  /// The row's `lastModified`, in ms.
  package var lastModified: Int64
  /// The record's Id, if it has one.
  package var serverID: String?

  /// A witness.
  package init(row: RowKey, created: Int64, lastModified: Int64, serverID: String? = nil) {
    self.row = row
    self.created = created
    self.lastModified = lastModified
    self.serverID = serverID
  }
}
