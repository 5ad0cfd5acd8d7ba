/// How many deletions of one soup go through without being confirmed, here or in the org.
package struct DeletionGuard: Sendable, Hashable {
  /// The share of the soup, in percent, that may go at once.
  package var maxDeletesPercent: Int
  /// What may always go, however small the soup.
  package var minimumDeletes: Int

  /// The share where nobody says otherwise.
  package static let standardPercent = 10
  /// What may always go, where nobody says otherwise.
  package static let standardMinimum = 10

  /// What a person does about deletions that it did not let through.
  package static let fix = "look why, then allow the deletions once"
  /// The same for whoever has a command line.
  package static let fixByOption = fix + " with --max-deletes"

  /// A guard.
  package init(
    maxDeletesPercent: Int = Self.standardPercent,
    minimumDeletes: Int = Self.standardMinimum
  ) {
    self.maxDeletesPercent = maxDeletesPercent
    self.minimumDeletes = minimumDeletes
  }

  /// True when this many of a soup's records may be deleted at once.
  package func allows(deleting count: Int, of records: Int) -> Bool {
    count <= max(minimumDeletes, records * maxDeletesPercent / 100)
  }
}
