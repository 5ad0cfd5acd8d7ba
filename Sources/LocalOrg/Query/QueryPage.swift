import JSON

/// One page of a query's answer.
package struct QueryPage: Sendable {
  /// How many records match in all.
  package let totalSize: Int
  /// The locator of the next page; nil when this is the last.
  package let locator: String?
  /// The records as a JSON array.
  package let records: [UInt8]
  /// How many records the page holds.
  package let count: Int

  /// Whether this is the last page.
  package var done: Bool { locator == nil }

  /// The answer to a request for it; `address` is that of the next page.
  ///
  /// The envelope says where that is before the records begin, so that a client can ask for it while this one
  /// arrives; the records are spliced in as the engine made them.
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
