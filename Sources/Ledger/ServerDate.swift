import System

/// Modification dates as an org writes them: compared as moments, as text where they are none.
package enum ServerDate {
  /// Says whether one is earlier than the other.
  package static func isBefore(_ one: String, _ other: String) -> Bool {
    guard let left = Dates.milliseconds(iso8601: one),
      let right = Dates.milliseconds(iso8601: other)
    else { return one < other }
    return left < right
  }

  /// Says whether both are one moment.
  package static func isSame(_ one: String, _ other: String) -> Bool {
    one == other || (!isBefore(one, other) && !isBefore(other, one))
  }
}
