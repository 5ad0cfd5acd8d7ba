/// A fetch that is one answer: one page, or none where nothing came.
final class SingleAnswer: SyncDownPages {
  let totalSize: Int
  let isSorted = false
  let isCut: Bool
  let remoteIDs: [RemoteIDs]?
  private var page: SyncPage?

  /// An answer of `totalSize` records in these parts.
  init(
    _ parts: [SyncPage.Part], totalSize: Int, isCut: Bool = false, remoteIDs: [RemoteIDs]? = nil
  ) {
    self.totalSize = totalSize
    self.isCut = isCut
    self.remoteIDs = remoteIDs
    page = totalSize > 0 ? SyncPage(parts: parts, records: totalSize) : nil
  }

  func next() async throws(SyncError) -> SyncPage? {
    defer { page = nil }
    return page
  }
}
