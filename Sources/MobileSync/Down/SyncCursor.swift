/// The incremental cursor.
///
/// The cursor is the greatest modification date seen. Requests, and the cursor for a device, start
/// an overlap before it, because a transaction may commit a record with an older date than one that
/// was already read.
package struct SyncCursor: Sendable, Hashable {
  /// The greatest modification date seen, in milliseconds; nil before a full run.
  package private(set) var highWaterMark: Int64?
  /// How far to look back, in milliseconds.
  let overlap: Int64

  /// Creates a cursor from the last run's; nil reads everything.
  package init(highWaterMark: Int64?, overlapSeconds: Int) {
    self.highWaterMark = highWaterMark.flatMap { $0 > 0 ? $0 : nil }
    overlap = Int64(max(0, overlapSeconds)) * 1000
  }

  /// Creates a cursor from the store's `syncs_soup`; the next request fetches what was modified
  /// after it.
  package init(maxTimeStamp: Int64, overlapSeconds: Int) {
    let overlap = Int64(max(0, overlapSeconds)) * 1000
    self.init(
      highWaterMark: maxTimeStamp > 0 ? maxTimeStamp + overlap : nil,
      overlapSeconds: overlapSeconds)
  }

  /// An incremental run fetches records modified after this; nil fetches all.
  package var since: Int64? { highWaterMark.map { max(1, $0 - overlap) } }

  /// The value for `syncs_soup`, so that a device requests the same records.
  package var maxTimeStamp: Int64 { since ?? -1 }

  /// Whether the org's clock is before the cursor, because the org was restored or refreshed.
  package func isAhead(of now: Int64) -> Bool { highWaterMark.map { $0 > now } ?? false }

  /// Resets the cursor, so that everything is read again.
  mutating func reset() { highWaterMark = nil }

  /// Keeps the cursor at `limit`, in milliseconds, because changes after it are still to be read.
  package mutating func hold(at limit: Int64) {
    guard let mark = highWaterMark else { return }
    highWaterMark = limit > 0 ? min(mark, limit + overlap) : nil
  }

  /// Advances the cursor to a modification date; `now`, if given, is its upper bound.
  package mutating func advance(to date: Int64?, now: Int64? = nil) {
    guard let date, date > 0 else { return }
    highWaterMark = max(highWaterMark ?? 0, min(date, now ?? date))
  }
}
