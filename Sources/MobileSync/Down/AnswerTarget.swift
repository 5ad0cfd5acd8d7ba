/// A target that brings all that it has in each run, so that no record has to be fetched again.
protocol WholeTarget: OneSoupTarget {}

extension WholeTarget {
  func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { SingleAnswer([], totalSize: 0) }
}

/// A target whose records are answers of the org, one element each: no record, so none is a ghost.
protocol AnswerTarget: WholeTarget {}

extension AnswerTarget {
  func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] { [] }

  func destination(_ soupName: String) -> SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: AnswerElement.idPath,
      modificationPath: fields.modificationDateFieldName)
  }
}
