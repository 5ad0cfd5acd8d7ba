/// The arithmetic of the incremental cursor.
///
/// The cursor is the greatest modification date seen. What is asked for, and what a device
/// continues from, lies an overlap before it, because a transaction may commit a record with an
/// older date than one that was already read.
package struct SyncCursor: Sendable, Hashable {
  /// The greatest modification date seen, in milliseconds; nil before a full run.
  package private(set) var highWaterMark: Int64?
  /// How far before it to look, in milliseconds.
  let overlap: Int64

  /// A cursor as the last run left it; nil to read everything.
  package init(highWaterMark: Int64?, overlapSeconds: Int) {
    self.highWaterMark = highWaterMark.flatMap { $0 > 0 ? $0 : nil }
    overlap = Int64(max(0, overlapSeconds)) * 1000
  }

  /// A cursor as a store's `syncs_soup` has it: what is asked for next is modified after it.
  package init(maxTimeStamp: Int64, overlapSeconds: Int) {
    let overlap = Int64(max(0, overlapSeconds)) * 1000
    self.init(
      highWaterMark: maxTimeStamp > 0 ? maxTimeStamp + overlap : nil,
      overlapSeconds: overlapSeconds)
  }

  /// What an incremental run asks for: records modified after this; nil for all.
  package var since: Int64? { highWaterMark.map { max(1, $0 - overlap) } }

  /// What `syncs_soup` says, so that a device asks for the same.
  package var maxTimeStamp: Int64 { since ?? -1 }

  /// True when the org's clock stands before the cursor: it was restored or refreshed.
  package func isAhead(of now: Int64) -> Bool { highWaterMark.map { $0 > now } ?? false }

  /// Forgets how far it came: everything is read again.
  mutating func reset() { highWaterMark = nil }

  /// Keeps asking for what was modified after `limit`, in milliseconds: it is still to be read.
  package mutating func hold(at limit: Int64) {
    guard let mark = highWaterMark else { return }
    highWaterMark = limit > 0 ? min(mark, limit + overlap) : nil
  }

  /// Takes a modification date into account; `now` bounds it where it is given.
  package mutating func advance(to date: Int64?, now: Int64? = nil) {
    guard let date, date > 0 else { return }
    highWaterMark = max(highWaterMark ?? 0, min(date, now ?? date))
  }
}
