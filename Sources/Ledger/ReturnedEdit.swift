import JSON
import SmartStore

/// Which of a snapshot's stores a row stands in.
package struct StoreKey: Sendable, Hashable {
  /// Whose it is.
  package var scope: StoreScope
  /// The store's name as the pipeline file has it.
  package var storeName: String

  /// A store.
  package init(scope: StoreScope, storeName: String) {
    self.scope = scope
    self.storeName = storeName
  }

  /// `user/default`: the form that the ledger keeps.
  package var text: String { scope.rawValue + "/" + storeName }

  /// Reads the ledger's form.
  package init(text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    scope = parts[0] == StoreScope.global.rawValue ? .global : .user
    storeName = parts.count > 1 ? String(parts[1]) : ""
  }
}

/// The place of a row in a device's store.
package struct RowKey: Sendable, Hashable {
  /// The store.
  package var store: StoreKey
  /// The soup.
  package var soup: String
  /// Its `_soupEntryId`.
  package var soupEntryID: Int64

  /// A place.
  package init(store: StoreKey, soup: String, soupEntryID: Int64) {
    self.store = store
    self.soup = soup
    self.soupEntryID = soupEntryID
  }

  /// The soup that it is in.
  package var inSoup: SoupKey { SoupKey(store: store, soup: soup) }

  /// Says whether the row is of a soup.
  package func isOfSoup(_ other: SoupKey) -> Bool { store == other.store && soup == other.soup }
}

/// What the flags of an element ask for (deleted before created before anything else).
package enum EditOperation: String, Sendable, Hashable, CaseIterable {
  /// A record that the device made.
  case create
  /// A record that the device changed.
  case update
  /// A record that the device deleted.
  case delete
  /// A record that the device made and deleted again.
  case dropped
  /// A clean row that says which Id the device's own sync gave to a record it made.
  case synced

  /// The operation of a dirty element's flags.
  package init(isCreated: Bool, isDeleted: Bool) {
    switch (isCreated, isDeleted) {
    case (true, true): self = .dropped
    case (false, true): self = .delete
    case (true, false): self = .create
    case (false, false): self = .update
    }
  }
}

/// The values that a device was given of a record.
package struct MergeBase: Sendable, Hashable {
  /// The server's modification date in them, as it stood in the element.
  package var modificationDate: String?
  /// The element's `_soupLastModifiedDate` when it was issued, if it is known.
  package var lastModified: Int64?
  /// The values by member name.
  package var fields: JSONObject
  /// Says whether a member that is not in `fields` is known to have been absent.
  package var isComplete: Bool

  /// A base.
  package init(
    modificationDate: String?, lastModified: Int64? = nil, fields: JSONObject,
    isComplete: Bool = false
  ) {
    self.modificationDate = modificationDate
    self.lastModified = lastModified
    self.fields = fields
    self.isComplete = isComplete
  }
}

/// One locally changed row of a return.
package struct ReturnedEdit: Sendable {
  /// Where it stands.
  package var row: RowKey
  /// The row's `created`, in ms.
  package var created: Int64
  /// The row's `lastModified`, in ms by the device's clock.
  package var lastModified: Int64
  /// The element's bytes as the device wrote them.
  package var element: [UInt8]
  /// What its flags ask for.
  package var operation: EditOperation
  /// `attributes.type`.
  package var sobject: String?
  /// The record's 18-character Id, if it has one.
  package var serverID: String?
  /// The local id of a record that the device made.
  package var localID: String?
  /// The server's modification date in the element.
  package var modificationDate: String?
  /// What the device was given, if it is kept.
  package var base: MergeBase?
  /// Why the row cannot be sent; such an edit becomes `failed`.
  package var finding: String?

  /// An edit.
  package init(
    row: RowKey, created: Int64, lastModified: Int64, element: [UInt8],
    operation: EditOperation, sobject: String? = nil, serverID: String? = nil,
    localID: String? = nil, modificationDate: String? = nil, base: MergeBase? = nil,
    finding: String? = nil
  ) {
    self.row = row
    self.created = created
    self.lastModified = lastModified
    self.element = element
    self.operation = operation
    self.sobject = sobject
    self.serverID = serverID
    self.localID = localID
    self.modificationDate = modificationDate
    self.base = base
    self.finding = finding
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
  package var edits: [ReturnedEdit]
  /// Its clean rows that were edits before.
  package var witnesses: [CleanRow]

  /// A part.
  package init(row: ReturnRow, edits: [ReturnedEdit], witnesses: [CleanRow]) {
    (self.row, self.edits, self.witnesses) = (row, edits, witnesses)
  }
}

/// A soup of a store.
package struct SoupKey: Sendable, Hashable {
  /// The store.
  package var store: StoreKey
  /// The soup's name.
  package var soup: String

  /// A soup.
  package init(store: StoreKey, soup: String) {
    self.store = store
    self.soup = soup
  }
}
