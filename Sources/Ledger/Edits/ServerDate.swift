import MobileSync

/// Modification dates in the org's format, compared as times, or as text if they are not valid.
package enum ServerDate {
  /// Whether one date is before the other.
  package static func isBefore(_ one: String, _ other: String) -> Bool {
    !ModificationDate(one).isAtLeast(ModificationDate(other))
  }

  /// Whether both dates are the same time.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    one == other || (!isBefore(one, other) && !isBefore(other, one))
  }
}
