/// Moving a stepping clock by hand; the wall's clock takes no orders.
extension Org {
  /// Lets a stepping clock stand still, or step again: records written meanwhile have equal dates.
  package func holdClock(_ isHeld: Bool) throws(OrgError) {
    try locked { $0.holdClock(isHeld) }
  }

  /// Moves a stepping clock ahead.
  package func advanceClock(byMilliseconds milliseconds: Int64) throws(OrgError) {
    try locked { store in try store.transaction { store.advanceClock(by: milliseconds) } }
  }
}
