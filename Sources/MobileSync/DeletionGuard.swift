/// How many deletions of one soup go through without being confirmed, here or in the org.
package struct DeletionGuard: Sendable, Hashable {
  /// The share of the soup, in percent, that may go at once.
  package var maxDeletesPercent: Int
  /// What may always go, however small the soup.
  package var minimumDeletes: Int

  /// A guard.
  package init(
    maxDeletesPercent: Int = SyncDefaults.maxDeletesPercent,
    minimumDeletes: Int = SyncDefaults.minimumDeletes
  ) {
    self.maxDeletesPercent = maxDeletesPercent
    self.minimumDeletes = minimumDeletes
  }

  /// True when this many of a soup's records may be deleted at once.
  package func allows(deleting count: Int, of records: Int) -> Bool {
    count <= max(minimumDeletes, records * maxDeletesPercent / 100)
  }
}
