import JSON

/// A page on its way into stores: its bytes, where its records are in them, and their elements.
struct LoadedPage {
  private var bytes: [UInt8] = []
  private var batch = RecordBatch()
  private var composed = ComposedChunk()

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

  /// Makes the elements of the records from an id on.
  mutating func compose(_ composer: ElementComposer, firstID: Int64) {
    let bytes = self.bytes
    bytes.withUnsafeBytes { composed.compose(batch.of($0), composer, firstID: firstID) }
  }

  /// Lets go of the bytes: whoever gave them may write over them.
  mutating func forgetBytes() { bytes = [] }

  /// Hands over the records and their elements, whose bytes stay in their place as long as `body` runs.
  func withRecords<T>(_ body: (RecordBatch, ComposedChunk) throws -> T) rethrows -> T {
    try bytes.withUnsafeBytes { try body(batch.of($0), composed) }
  }
}
