import JSON
import SmartStore

/// One page of records, as the bytes that the org sent.
package struct SyncPage: Sendable {
  /// The records for one soup.
  package struct Part: Sendable {
    package var destination: SyncDestination
    /// The JSON that contains the records.
    package var bytes: [UInt8]
    /// The location of the records in it.
    package var container: RecordScanner.Container
    /// The only platform whose stores get the part; nil for all.
    ///
    /// A sync manager has one store and gets no part for another platform.
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

  /// The parts, which are stored in one transaction.
  package var parts: [Part]
  /// The number of records of `totalSize` that the page covers; nil for the number in its parts.
  var records: Int?

  package init(parts: [Part], records: Int? = nil) {
    self.parts = parts
    self.records = records
  }
}
