import System

/// The org's clock: the wall clock, or one that moves with each record written.
struct OrgClock {
  /// How far back the writes of this task are dated, in milliseconds, to simulate a long
  /// transaction that is committed only now.
  @TaskLocal static var lag: Int64 = 0

  /// The time of a stepping clock; nil if the wall clock is used.
  var stepped: Int64?
  /// How far a stepping clock moves with each record written.
  var step: Int64 = 1000
  /// The offset added to the wall clock.
  var shift: Int64 = 0

  init(stepped: Int64?) { self.stepped = stepped }

  /// Milliseconds since 1970.
  func now() -> Int64 { stepped ?? System.Clock.wallMilliseconds() + shift }

  /// Returns the time of the next record written, in whole seconds.
  mutating func tick() -> Int64 {
    guard let value = stepped else { return now() / 1000 * 1000 - Self.lag }
    stepped = value + step
    return value + step - Self.lag
  }

  /// Sets the time; a wall clock continues from there.
  mutating func set(_ milliseconds: Int64) {
    if stepped != nil {
      stepped = milliseconds
    } else {
      shift = milliseconds - System.Clock.wallMilliseconds()
    }
  }
}
