/// A return: one device's stores of one bundle at one time; or those of its stores that have another
/// stamp.
package struct ReturnRow: Sendable {
  /// Its number in the ledger; 0 until it is recorded.
  package internal(set) var id: Int64 = 0
  /// The lineage that it was assigned to; 0 until it is recorded.
  package internal(set) var lineage: Int64 = 0
  /// The digest of the returned file; for a part, followed by the stamp ID.
  package var sha256: String
  /// The file's name in the inbox.
  package var sourceName: String
  /// The stamp ID.
  package var stampID: String
  /// The snapshot: a user's 18-character Id, or `global`.
  package var snapshotID: String
  /// The generation that the stamp names.
  package var generation: Int64
  /// `ios` or `android`.
  package var platform: String
  /// The installation named in the stamp by the app.
  package var install: String?
  /// The app's count of returns.
  package var handback: Int64?
  /// The start of the run that took it from the inbox, in ms.
  package var arrived: Int64
  /// The epoch of the key that signed the stamp; 0 before the first recovery.
  package var epoch: Int64 = 0
  /// When the bundle was made, in ms; nil if unknown.
  package var issued: Int64?
  /// The number of rows of each soup, which determines the share of deletions.
  package var soupTotals: [SoupKey: Int]
  /// The run that redelivered open edits in a store, by store.
  package var marks: [StoreKey: String] = [:]
  /// The mark of a store of the same user that is missing from the return; no run has this ID.
  package static let absent = "absent"
  /// The stores whose mark was inferred from their content, because the stamp does not have it.
  var presumed: Set<StoreKey> = []
  /// The soups in which edits without flags were looked for.
  package var compared: Set<SoupKey> = []
  package var edits: [Edit] = []
  /// Its unchanged rows: clean rows that were edits before.
  package var witnesses: [CleanRow] = []

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

/// A row that an earlier return of the same bundle had as an edit, dirty or clean.
///
/// It is evidence that two returns come from one device.
package struct CleanRow: Sendable, Hashable {
  package var row: RowKey
  /// The row's `created`, in ms.
  package var created: Int64
  /// The row's `lastModified`, in ms.
  package var lastModified: Int64
  /// The record's ID, if it has one.
  package var serverID: String?

  package init(row: RowKey, created: Int64, lastModified: Int64, serverID: String? = nil) {
    self.row = row
    self.created = created
    self.lastModified = lastModified
    self.serverID = serverID
  }
}
