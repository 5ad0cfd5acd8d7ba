import JSON

/// A page on its way into stores: its bytes and the positions of its records.
struct LoadedPage {
  private var bytes: [UInt8] = []
  private var batch = RecordBatch()

  /// The number of records in the page.
  var count: Int { batch.count }
  /// The content of the page.
  var content: BulkLoader.PageLoad {
    BulkLoader.PageLoad(
      records: batch.count, nulls: batch.nulls, latestModification: batch.latestModificationText)
  }

  /// Parses a page.
  ///
  /// The previous content is discarded and its memory reused.
  mutating func read(
    _ page: [UInt8], in container: RecordScanner.Container, plan: RecordPlan
  ) throws {
    bytes = page
    try page.withUnsafeBytes { try batch.read($0, in: container, plan: plan) }
  }

  /// Releases the bytes, which the caller may overwrite afterwards.
  mutating func forgetBytes() { bytes = [] }

  /// Calls `body` with the records; their bytes stay in place meanwhile.
  func withRecords<T>(_ body: (RecordBatch) throws -> T) rethrows -> T {
    try bytes.withUnsafeBytes { try body(batch.of($0)) }
  }
}
