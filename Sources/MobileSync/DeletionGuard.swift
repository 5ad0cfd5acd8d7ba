/// The number of deletions of one soup that are applied without confirmation, in the store or in
/// the org.
package struct DeletionGuard: Sendable, Hashable {
  /// The share of the soup, in percent, that may be deleted at once.
  package var maxDeletesPercent: Int
  /// The number of records that may always be deleted, however small the soup.
  package var minimumDeletes: Int

  /// The share unless configured otherwise.
  package static let standardPercent = 10
  /// The number always allowed unless configured otherwise.
  package static let standardMinimum = 10

  /// How an operator resolves refused deletions.
  package static let fix = "check the reason, then allow the deletions once"
  /// The same, for messages of the command line.
  package static let fixByOption = fix + " with --max-deletes"

  package init(
    maxDeletesPercent: Int = Self.standardPercent,
    minimumDeletes: Int = Self.standardMinimum
  ) {
    self.maxDeletesPercent = maxDeletesPercent
    self.minimumDeletes = minimumDeletes
  }

  /// Whether this many of a soup's records may be deleted at once.
  package func allows(deleting count: Int, of records: Int) -> Bool {
    count <= max(minimumDeletes, records * maxDeletesPercent / 100)
  }
}
