import MobileSync
import Salesforce
import SmartStore

/// A store file of a snapshot on one platform.
package struct PrimeFile: Sendable, Hashable {
  /// The published store to start from, which is only read; nil for a first prime.
  package var previous: String?
  /// The path of the new store; no file has this name until the store is complete.
  package var new: String

  package init(previous: String? = nil, new: String) {
    self.previous = previous
    self.new = new
  }
}

/// A store of a snapshot with its configuration.
package struct PrimeStore: Sendable {
  /// The store's name, as an app opens it.
  package var storeName: String
  package var config: StoreConfig
  /// The syncs in the order of their file.
  ///
  /// Syncs down are run; syncs up are only recorded.
  package var syncs: [SyncDefinition]
  /// The file of each platform.
  package var files: [Platform: PrimeFile]

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

/// The input of a prime: one snapshot, fetched once and written for every platform.
package struct PrimeInput: Sendable {
  /// The stores.
  ///
  /// The names of all their syncs must be distinct, or the stores do not share cursors.
  package var stores: [PrimeStore]
  /// The org's time in milliseconds, with which cursors are compared.
  package var now: Int64
  /// The date of the written rows in milliseconds; `now` by default.
  ///
  /// It is not later than the generation's own date: a row with a later date was written by a
  /// device.
  package var rowDate: Int64
  /// The overlap of an incremental sync with the previous one.
  package var overlapSeconds: Int
  /// The number of records above which a `soql` sync that fetches everything uses a bulk job.
  package var bulkAbove = SyncDefaults.bulkAbove
  /// The method by which a first prime writes its stores; the alternative to finished pages is
  /// slower and needs less memory.
  package var method = BulkLoader.Method.pages
  /// The greatest modification date seen in milliseconds, by store and sync (`PrimeInput.key`).
  package var cursors: [String: Int64]
  /// The previous generation's knowledge of a briefcase: by store and soup (`PrimeInput.key`), the
  /// stamp in milliseconds of every 18-character ID.
  package var knownStamps: [String: [String: Int64]]
  /// The org's time when they were last compared with the org; nil if it does not matter.
  ///
  /// A record may change twice in one second, or be committed late. For records that changed within
  /// the overlap before that time, an equal stamp shows nothing, so they are retrieved again.
  package var stampsRead: Int64?
  /// Whether the previous generation lacks records that the org could not return.
  package var wasIncomplete = false
  /// Whether to create a generation even if the org has no changes.
  package var isRenewed = false
  /// The syncs (`PrimeInput.key`) that list all IDs in this run; the others only query deletions.
  package var listIDs: Set<String> = []
  /// The records changed by the user's own edits since the last prime, by soup.
  package var changed: [String: Set<String>] = [:]
  /// The records of the user's unresolved edits, by soup.
  package var edited: [String: Set<String>] = [:]
  /// The limit on the records that are removed because the org no longer returns them.
  package var ghosts = DeletionGuard()
  /// The policy for a failed briefcase rule.
  package var onRuleErrors = RuleErrorPolicy.standard
  /// The SOQL literals for `:name` in queries.
  package var variables: [String: String] = [:]
  /// The syncs (`PrimeInput.key`) to fetch completely, because their definition has changed.
  package var changedDefinitions: Set<String> = []
  /// What is known about calls with several parts, by sync (`PrimeInput.key`).
  package var wide = WideCalls()
  /// The records that the users of a run fetch for each other; nil if this user fetches all.
  package var pool: RecordPool?
  /// Called with each new or changed store before it is closed.
  package var finish: @Sendable (Store, Platform) throws -> Void = { _, _ in }

  /// Creates the input of a first prime of these stores.
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

  /// The queries that the syncs will send if nothing has changed, as far as they are known before
  /// the stores are opened.
  package func queriesAhead() throws(SyncError) -> [AheadQuery] {
    var queries: [AheadQuery] = []
    for store in stores {
      for sync in store.syncs where sync.syncType == .syncDown {
        let key = Self.key(store.storeName, sync.syncName)
        let cursor = SyncCursor(highWaterMark: cursors[key], overlapSeconds: overlapSeconds)
        guard let since = cursor.since else { continue }
        let found = try sync.target.queriesAhead(
          since: since, asksDeletions: !listIDs.contains(key), variables: variables)
        queries += found.filter { !queries.contains($0) }
      }
    }
    return queries
  }

  /// The key of a sync or soup among all stores of a snapshot.
  package static func key(_ storeName: String, _ name: String) -> String { "\(storeName)/\(name)" }
}
