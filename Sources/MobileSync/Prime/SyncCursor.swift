/// The arithmetic of the incremental cursor.
///
/// The cursor is the greatest modification date seen. What is asked for, and what a device
/// continues from, lies an overlap before it, because a transaction may commit a record with an
/// older date than one that was already read.
package struct SyncCursor: Sendable, Hashable {
  /// The greatest modification date seen, in milliseconds; nil before a full run.
  package private(set) var greatest: Int64?
  /// How far before it to look, in milliseconds.
  package let overlap: Int64

  /// A cursor as the last run left it.
  package init(greatest: Int64?, overlapSeconds: Int) {
    self.greatest = greatest.flatMap { $0 > 0 ? $0 : nil }
    overlap = Int64(max(0, overlapSeconds)) * 1000
  }

  /// What an incremental run asks for: records modified after this; nil for all.
  package var since: Int64? { greatest.map { max(1, $0 - overlap) } }

  /// What `syncs_soup` says, so that a device asks for the same.
  package var maxTimeStamp: Int64 { since ?? -1 }

  /// True when the org's clock stands before the cursor: it was restored or refreshed.
  package func isAhead(of now: Int64) -> Bool { greatest.map { $0 > now } ?? false }

  /// Stays before something that is still to be read, modified at `limit`, in milliseconds.
  package mutating func hold(before limit: Int64) {
    guard let greatest, greatest >= limit else { return }
    self.greatest = limit > 1 ? limit - 1 : nil
  }

  /// Takes a modification date into account; `now` bounds it.
  package mutating func advance(to date: Int64?, now: Int64) {
    guard let date, date > 0 else { return }
    greatest = max(greatest ?? 0, min(date, now))
  }
}
