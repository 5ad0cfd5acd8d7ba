import CSQLite

extension Connection {
  /// The work of the statements that a closure runs, in thousands of steps of SQLite's virtual
  /// machine: the same number on every computer and under any load.
  package func work(of body: () throws -> Void) throws -> Int {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    let counter = Counter()
    try withExtendedLifetime(counter) {
      sqlite3_progress_handler(
        handle, 1_000, countStep, Unmanaged.passUnretained(counter).toOpaque())
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      try body()
    }
    return counter.thousands
  }
}

private final class Counter {
  var thousands = 0
}

private func countStep(_ context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context else { return 0 }
  Unmanaged<Counter>.fromOpaque(context).takeUnretainedValue().thousands += 1
  return 0
}
