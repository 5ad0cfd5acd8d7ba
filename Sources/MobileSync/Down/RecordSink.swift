import SmartStore

/// The destination of a sync down's records: a live store, or the files of a snapshot.
///
/// Everything that differs between the two is here; `SyncDownEngine` implements the sync down.
package protocol RecordSink: AnyObject {
  /// The stores to fill, one per platform; existing elements are read from the first.
  var stores: [Store] { get }
  /// Whether the stores were empty when the load started, so there are no ghosts and no local
  /// changes.
  var isInitialLoad: Bool { get }
  /// Whether the soups may contain elements that no sync fetched: a device created them, and no
  /// sync down has fetched them since they were sent.
  var mayHoldOrphans: Bool { get }
  /// The greatest modification date of all loaded records, in milliseconds.
  var latestModification: Int64? { get }

  /// Stores all parts of a page in one transaction and returns the number of their records;
  /// `expected` returns the number of records still to come into a soup.
  func load(_ page: SyncPage, expected: (_ soupName: String) -> Int) throws(SyncError) -> Int
  /// Completes the load so far; more pages may follow.
  func finish() throws(SyncError)
  /// Completes an interrupted load; returns false if the records that it stored are lost.
  func end(after error: SyncError) -> Bool
  /// Makes the stores writable.
  func makeWritable() throws(SyncError)
}
