import JSON
import SmartStore

/// One page of records on their way into soups: bytes as the org sent them.
struct SyncPage: Sendable {
  /// The records of one soup.
  struct Part: Sendable {
    var destination: SyncDestination
    /// JSON that holds the records.
    var bytes: [UInt8]
    /// Where in it they are.
    var container: RecordScanner.Container
    /// The only platform whose stores take the part; nil for all.
    ///
    /// A sync manager, which has one store, is given no part for another platform.
    var platform: Platform?

    init(
      _ destination: SyncDestination, bytes: [UInt8], container: RecordScanner.Container,
      platform: Platform? = nil
    ) {
      self.destination = destination
      self.bytes = bytes
      self.container = container
      self.platform = platform
    }
  }

  /// What goes into which soup; stored together or not at all.
  var parts: [Part]
  /// How many records of `totalSize` the page stands for; nil for as many as its parts hold.
  var records: Int?
}
