import MobileSync

/// What became of one soup of one sync.
package struct SoupCount: Sendable, Hashable {
  /// The store's name.
  package var store: String
  /// The sync's name.
  package var sync: String
  /// The soup's name.
  package var soup: String
  /// Records that arrived.
  package var fetched = 0
  /// Elements that were inserted or replaced.
  package var written = 0
  /// Records that the store had already, to the byte.
  package var unchanged = 0
  /// Elements that were removed because the org no longer gives them.
  package var ghosts = 0
  /// Records whose locally changed element was left.
  package var skipped = 0
  /// Ids that the org listed and would not give; an element that is there is kept.
  package var unreadable: [String] = []
  /// Records that came twice.
  package var doubles = 0
  /// The elements of the soup in the end.
  package var total = 0
}

extension SoupCount {
  mutating func add(_ other: SoupCount) {
    fetched += other.fetched
    written += other.written
    unchanged += other.unchanged
    skipped += other.skipped
    doubles += other.doubles
  }
}

/// What a prime did.
package struct PrimeOutcome: Sendable {
  /// False: no file was written at all.
  package var changed = false
  /// What became of each soup, in the order of the syncs.
  package var soups: [SoupCount] = []
  /// The cursors for the next run, by store and sync.
  package var cursors: [String: Int64] = [:]
  /// The stamps for the next run, by store and soup.
  package var stamps: [String: [String: Int64]] = [:]
  /// What a person should know of.
  package var warnings: [String] = []
  /// True when more records would have been removed than the guard allows; they are still there.
  package var guardTripped = false
  /// True when a briefcase rule failed in the org: records may be missing.
  package var hadRuleErrors = false
  /// True when records are missing, or stand as they were before, that the org could not give: a device
  /// that goes on from the stores' cursors asks for them.
  package var isIncomplete: Bool { hadRuleErrors || soups.contains { !$0.unreadable.isEmpty } }
  /// The syncs (`PrimeInput.key`) whose ids were listed whole in this run.
  package var listed: Set<String> = []
  /// The syncs (`PrimeInput.key`) of which the guard kept records that the org no longer gives: a list of
  /// all ids tells them again, and the question for what was deleted lately does not.
  package var refused: Set<String> = []
  /// The states in each store's `syncs_soup`, by the store's name.
  package var syncStates: [String: [SyncState]] = [:]

  /// Nothing done yet.
  package init() {}

  /// Adds to what became of a soup of a sync.
  mutating func add(_ count: SoupCount) {
    let place = soups.firstIndex {
      $0.store == count.store && $0.sync == count.sync && $0.soup == count.soup
    }
    if let place { soups[place].add(count) }
  }

  mutating func add(_ other: PrimeOutcome) {
    changed = changed || other.changed
    soups += other.soups
    cursors.merge(other.cursors) { $1 }
    stamps.merge(other.stamps) { $1 }
    warnings += other.warnings
    guardTripped = guardTripped || other.guardTripped
    hadRuleErrors = hadRuleErrors || other.hadRuleErrors
    listed.formUnion(other.listed)
    refused.formUnion(other.refused)
    syncStates.merge(other.syncStates) { $1 }
  }
}
