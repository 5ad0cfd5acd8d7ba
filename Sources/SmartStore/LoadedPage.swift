import JSON

/// A page on its way into stores: its bytes, and where its records are in them.
struct LoadedPage {
  private var bytes: [UInt8] = []
  private var batch = RecordBatch()

  /// The records of the page.
  var count: Int { batch.count }
  /// What the page holds.
  var content: BulkLoader.PageLoad {
    BulkLoader.PageLoad(
      records: batch.count, nulls: batch.nulls, latestModification: batch.latestModificationText)
  }

  /// Reads a page; what was there before is forgotten, its room is used again.
  mutating func read(
    _ page: [UInt8], in container: RecordScanner.Container, plan: RecordPlan
  ) throws {
    bytes = page
    try page.withUnsafeBytes { try batch.read($0, in: container, plan: plan) }
  }

  /// Lets go of the bytes: whoever gave them may write over them.
  mutating func forgetBytes() { bytes = [] }

  /// Hands over the records, whose bytes stay in their place as long as `body` runs.
  func withRecords<T>(_ body: (RecordBatch) throws -> T) rethrows -> T {
    try bytes.withUnsafeBytes { try body(batch.of($0)) }
  }
}
