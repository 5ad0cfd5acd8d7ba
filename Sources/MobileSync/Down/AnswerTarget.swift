/// A target whose records are answers of the org, one element each: no record, so none is a ghost.
protocol AnswerTarget: OneSoupTarget {}

extension AnswerTarget {
  /// None: each run brings the whole answer.
  nonisolated(nonsending) package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { SingleAnswer([], totalSize: 0) }

  /// None: what the org has are no records.
  nonisolated(nonsending) package func remoteIDs(
    _ context: SyncContext
  ) async throws(SyncError) -> [RemoteIDs] { [] }

  /// Where the elements go.
  func destination(_ soupName: String) -> SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: AnswerElement.idPath,
      modificationPath: fields.modificationDateFieldName)
  }
}
