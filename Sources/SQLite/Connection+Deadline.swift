import CSQLite

extension Connection {
  /// Ends statements, with an error that `isInterrupted`, once they have taken so many seconds from
  /// now or from the last `renewDeadline`.
  package func limitTime(seconds: Int) throws(SQLiteError) {
    guard let handle = database.handle else { throw database.failure(SQLITE_MISUSE) }
    let deadline = Deadline(seconds: seconds)
    database.attachments.append(deadline)
    sqlite3_progress_handler(
      handle, 1_000, stopWhenOver, Unmanaged.passUnretained(deadline).toOpaque())
  }

  /// Gives statements their whole time again.
  package func renewDeadline() {
    for case let deadline as Deadline in database.attachments { deadline.renew() }
  }
}

/// When the statements of a connection must be over.
private final class Deadline {
  private let allowance: Duration
  private var end: ContinuousClock.Instant

  init(seconds: Int) {
    allowance = .seconds(seconds)
    end = .now + allowance
  }

  func renew() { end = .now + allowance }
  var isOver: Bool { ContinuousClock.now >= end }
}

private func stopWhenOver(_ context: UnsafeMutableRawPointer?) -> Int32 {
  guard let context else { return 0 }
  return Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue().isOver ? 1 : 0
}
