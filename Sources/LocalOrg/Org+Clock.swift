/// The org's clock, for tests and the demo.
extension Org {
  /// Sets the clock to a future or past time, in milliseconds since 1970.
  package func setClock(_ milliseconds: Int64) throws(OrgError) {
    try locked { store in try store.adjustClock { $0.set(milliseconds) } }
  }

  /// Moves the clock; a negative number moves it back.
  package func moveClock(by milliseconds: Int64) throws(OrgError) {
    try locked { store in try store.adjustClock { $0.set($0.now() + milliseconds) } }
  }

  /// Sets how far the clock moves with each record written; it does not move otherwise.
  ///
  /// With 0 it stands still, and all records get the same date.
  package func setClockStep(_ milliseconds: Int64) throws(OrgError) {
    try locked { store in
      try store.adjustClock {
        $0.stepped = $0.now() / 1000 * 1000
        $0.step = milliseconds
      }
    }
  }

  /// Dates the writes of `body` back by the given number of milliseconds, like a transaction that
  /// started then and is committed only now.
  ///
  /// No record gets an earlier date than it already has.
  package func committingLate<T>(by milliseconds: Int64, _ body: () throws -> T) rethrows -> T {
    try OrgClock.$lag.withValue(milliseconds, operation: body)
  }
}
