import SmartStore

/// Where the records of a sync down go: a live store, or the files of a snapshot.
///
/// All that differs between the two is here; what a sync down is stands in `SyncDownEngine`.
package protocol RecordSink: AnyObject {
  /// The stores that are filled, one a platform; read from the first what is there.
  var stores: [Store] { get }
  /// Whether nothing was there when the load began: no ghost, and no local change to leave.
  var isInitialLoad: Bool { get }
  /// Whether elements that no sync brought may be in the soups: a device made them, and since they
  /// were sent no sync down has seen them.
  var mayHoldOrphans: Bool { get }
  /// The greatest modification date of all that was loaded, in milliseconds.
  var latestModification: Int64? { get }

  /// Stores the parts of a page, all or none, and answers how many records they held; `expected` tells
  /// how many are to come into a soup.
  func load(_ page: SyncPage, expected: (_ soupName: String) -> Int) throws(SyncError) -> Int
  /// Ends what was loaded so far; more may follow.
  func finish() throws(SyncError)
  /// Ends a load that broke off; false where what it had stored is gone.
  func end(after error: SyncError) -> Bool
  /// Makes the stores such that they can be changed.
  func makeWritable() throws(SyncError)
}
