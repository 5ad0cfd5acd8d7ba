import JSON
import SmartStore

/// One page of records on their way into soups: bytes as the org sent them.
package struct SyncPage: Sendable {
  /// The records of one soup.
  package struct Part: Sendable {
    /// The soup.
    package var destination: SyncDestination
    /// JSON that holds the records.
    package var bytes: [UInt8]
    /// Where in it they are.
    package var container: RecordScanner.Container
    /// The only platform whose stores take the part; nil for all.
    ///
    /// A sync manager, which has one store, is given no part for another platform.
    package var platform: Platform?

    package init(
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
  package var parts: [Part]
  /// How many records of `totalSize` the page stands for; nil for as many as its parts hold.
  var records: Int?

  package init(parts: [Part], records: Int? = nil) {
    self.parts = parts
    self.records = records
  }
}
