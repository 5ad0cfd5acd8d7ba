import MobileSync

/// Modification dates as an org writes them: compared as moments, as text where they are none.
package enum ServerDate {
  /// Says whether one is earlier than the other.
  package static func isBefore(_ one: String, _ other: String) -> Bool {
    !ModificationDate(one).isAtLeast(ModificationDate(other))
  }

  /// Says whether both are one moment.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    one == other || (!isBefore(one, other) && !isBefore(other, one))
  }
}
