/// How records that the org no longer gives are removed from a snapshot.
package struct GhostPolicy: Sendable, Hashable {
  /// The syncs, by store and name, whose ids are listed whole in this run; the others only ask for
  /// what was deleted.
  package var listIDs: Set<String>
  /// The share of a soup, in percent, that may go in one run.
  package var maxDeletesPercent: Int
  /// What may always go, however small the soup.
  package var minimumDeletes: Int

  /// A policy.
  package init(
    listIDs: Set<String> = [], maxDeletesPercent: Int = SyncDefaults.maxDeletesPercent,
    minimumDeletes: Int = SyncDefaults.minimumDeletes
  ) {
    self.listIDs = listIDs
    self.maxDeletesPercent = maxDeletesPercent
    self.minimumDeletes = minimumDeletes
  }

  /// True when this many of a soup's records may be removed at once.
  package func allows(deleting ghosts: Int, of records: Int) -> Bool {
    ghosts <= max(minimumDeletes, records * maxDeletesPercent / 100)
  }
}

/// What to do when a briefcase rule failed in the org.
package enum RuleErrorPolicy: String, Sendable, Hashable, CaseIterable {
  /// Keep every record that is there, and warn.
  case keepAndWarn
  /// Fail the run.
  case fail
}
