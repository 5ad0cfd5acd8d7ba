import MobileSync
import SmartStore

/// One store file of a snapshot on one platform.
package struct PrimeFile: Sendable, Hashable {
  /// The published store to go on from, which is only read; nil for a first prime.
  package var previous: String?
  /// Where the new store is written; nothing is there before a store is whole.
  package var new: String

  /// A file.
  package init(previous: String? = nil, new: String) {
    self.previous = previous
    self.new = new
  }
}

/// One store of a snapshot with its configuration.
package struct PrimeStore: Sendable {
  /// The store's name, as an app opens it.
  package var storeName: String
  /// The soups.
  package var config: StoreConfig
  /// The syncs in the order of their file: downs are run, ups are only written down.
  package var syncs: [SyncDefinition]
  /// The file of each platform.
  package var files: [Platform: PrimeFile]

  /// A store.
  package init(
    storeName: String, config: StoreConfig, syncs: [SyncDefinition],
    files: [Platform: PrimeFile]
  ) {
    self.storeName = storeName
    self.config = config
    self.syncs = syncs
    self.files = files
  }
}

/// What to prime: one snapshot, fetched once and written for every platform.
package struct PrimeInput: Sendable {
  /// The stores; the names of all their syncs are distinct, or the stores do not share cursors.
  package var stores: [PrimeStore]
  /// The org's time, which cursors are compared with, in milliseconds.
  package var now: Int64
  /// The date of the rows that are written, in milliseconds; `now` unless somebody says otherwise.
  ///
  /// It is no later than the generation's own: a row with a later one was written by its device.
  package var rowDate: Int64
  /// How far an incremental sync looks back.
  package var overlapSeconds: Int
  /// Above how many records a `soql` sync that fetches everything goes by a bulk job.
  package var bulkAbove = SyncDefaults.bulkAbove
  /// How a first prime writes its stores; another way than finished pages is slower and takes less memory.
  package var method = BulkLoader.Method.pages
  /// The greatest modification date seen, in milliseconds, by store and sync (`PrimeInput.key`).
  package var cursors: [String: Int64]
  /// What the previous generation knows of a briefcase: by store and soup (`PrimeInput.key`), the
  /// stamp in milliseconds of every id of 18 characters.
  package var knownStamps: [String: [String: Int64]]
  /// When they were last held against the org, by its clock; nil where that does not matter.
  ///
  /// A record may change twice in one second, or be committed late: of what changed less than the overlap before,
  /// the same stamp proves nothing, and it is retrieved once more.
  package var stampsRead: Int64?
  /// True where the previous generation lacks records that the org could not give.
  package var wasIncomplete = false
  /// True where there is to be another generation although the org may have nothing new.
  package var isRenewed = false
  /// The syncs (`PrimeInput.key`) whose ids are listed whole in this run; the others only ask for
  /// what was deleted.
  package var listIDs: Set<String> = []
  /// The records that the user's own edits have changed since the last prime.
  package var changed: Set<String> = []
  /// How many records that the org no longer gives may go.
  package var ghosts = DeletionGuard()
  /// What to do when a briefcase rule failed.
  package var onRuleErrors = RuleErrorPolicy.standard
  /// SOQL literals for `:name` in queries.
  package var variables: [String: String] = [:]
  /// Syncs (`PrimeInput.key`) that are to be fetched whole, because their definition changed.
  package var changedDefinitions: Set<String> = []
  /// Called with each new or changed store before it is closed.
  package var finish: @Sendable (Store, Platform) throws -> Void = { _, _ in }

  /// A first prime of these stores.
  package init(
    stores: [PrimeStore], now: Int64, overlapSeconds: Int = SyncDefaults.overlapSeconds,
    cursors: [String: Int64] = [:],
    knownStamps: [String: [String: Int64]] = [:]
  ) {
    self.stores = stores
    (self.now, rowDate) = (now, now)
    self.overlapSeconds = overlapSeconds
    self.cursors = cursors
    self.knownStamps = knownStamps
  }

  /// The name of a sync or soup among all stores of a snapshot.
  package static func key(_ storeName: String, _ name: String) -> String { "\(storeName)/\(name)" }
}
