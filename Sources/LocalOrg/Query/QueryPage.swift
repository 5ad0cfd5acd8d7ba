import JSON

/// One page of a query's result.
package struct QueryPage: Sendable {
  /// The total number of matching records.
  package let totalSize: Int
  /// The locator of the next page; nil on the last one.
  package let locator: String?
  /// The records as a JSON array.
  package let records: [UInt8]
  package let count: Int
  /// Whether the records have no field other than `Id` and `SystemModstamp`.
  package var isOfIDs = false

  package var done: Bool { locator == nil }

  /// Returns the response body; `address` returns the URL of the next page.
  ///
  /// The envelope has this URL before the records, so that a client can request the next page while
  /// this one arrives. The records are copied in as the engine wrote them.
  package func answer(next address: (_ locator: String) -> String) -> [UInt8] {
    var writer = JSONWriter(reserving: records.count + 160)
    writer.beginObject()
    writer.name("totalSize")
    writer.number(totalSize)
    writer.name("done")
    writer.bool(done)
    if let locator {
      writer.name("nextRecordsUrl")
      writer.string(address(locator))
    }
    writer.name("records")
    writer.raw(records)
    writer.endObject()
    return writer.bytes
  }
}
