import System

/// The org's clock: the wall's, or one that moves a second with each record written.
struct OrgClock {
  /// The time of a stepping clock; nil when the wall's counts.
  var stepped: Int64?

  /// Milliseconds since 1970.
  func now() -> Int64 { stepped ?? System.Clock.wallMilliseconds() }

  /// The moment of the next record written, to the second.
  mutating func tick() -> Int64 {
    guard let value = stepped else { return now() / 1000 * 1000 }
    stepped = value + 1000
    return value + 1000
  }
}
