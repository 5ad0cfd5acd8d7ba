import CSQLite

extension Connection {
  /// Limits the total time of statements; at the deadline they end with an error that
  /// `isInterrupted`.
  package func limitTime(seconds: Int) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    let deadline = Deadline(seconds: seconds)
    database.attachments.append(deadline)
    sqlite3_progress_handler(
      handle, 1_000, stopWhenOver, Unmanaged.passUnretained(deadline).toOpaque())
  }
}

/// The time at which the statements of a connection must end.
private final class Deadline {
  private let end: ContinuousClock.Instant

  init(seconds: Int) { end = .now + .seconds(seconds) }

  var isOver: Bool { ContinuousClock.now >= end }
}

private func stopWhenOver(_ context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context else { return 0 }
  return Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
}
