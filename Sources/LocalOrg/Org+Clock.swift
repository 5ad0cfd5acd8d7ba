/// The org's time, for tests and the demo.
extension Org {
  /// Sets the clock, to the future or to the past, in milliseconds since 1970.
  package func setClock(_ milliseconds: Int64) throws(OrgError) {
    try locked { store in try store.adjustClock { $0.set(milliseconds) } }
  }

  /// Moves the clock; backwards, when the number is negative.
  package func moveClock(by milliseconds: Int64) throws(OrgError) {
    try locked { store in try store.adjustClock { $0.set($0.now() + milliseconds) } }
  }

  /// How far the clock moves with each record written, and not otherwise; with 0 it stands, and
  /// what is written has one date.
  package func setClockStep(_ milliseconds: Int64) throws(OrgError) {
    try locked { store in
      try store.adjustClock {
        $0.stepped = $0.now() / 1000 * 1000
        $0.step = milliseconds
      }
    }
  }

  /// Dates what `body` writes so many milliseconds back, as a transaction does that began then and
  /// is seen only now.
  ///
  /// No record gets a date before the one that it has.
  package func committingLate<T>(by milliseconds: Int64, _ body: () throws -> T) rethrows -> T {
    try OrgClock.$lag.withValue(milliseconds, operation: body)
  }
}
