/// A fetch with one response: one page, or none if it is empty.
final class SingleAnswer: SyncDownPages {
  let totalSize: Int
  let isSorted = false
  let isCut: Bool
  let remoteIDs: [RemoteIDs]?
  private var page: SyncPage?

  /// Creates a response of `totalSize` records in these parts.
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
