import JSON

/// One page of records on their way into soups: bytes as the org sent them.
package struct SyncPage: Sendable {
  /// The records of one soup.
  package struct Part: Sendable {
    /// Where the records go.
    package var destination: SyncDestination
    /// JSON that holds the records.
    package var bytes: [UInt8]
    /// Where in it they are.
    package var container: RecordScanner.Container

    /// A part.
    package init(
      _ destination: SyncDestination, bytes: [UInt8], container: RecordScanner.Container
    ) {
      self.destination = destination
      self.bytes = bytes
      self.container = container
    }
  }

  /// What goes into which soup; stored together or not at all.
  package var parts: [Part]
  /// How many records of `totalSize` the page stands for.
  package var records: Int

  /// A page.
  package init(parts: [Part], records: Int) {
    self.parts = parts
    self.records = records
  }
}
