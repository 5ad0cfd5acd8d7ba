/// A target whose records are answers of the org, one element each: no record, so none is a ghost.
protocol AnswerTarget: SyncDownTarget {
  /// The field names that all targets have.
  var fields: TargetFields { get }
}

extension AnswerTarget {
  /// The sync's soup.
  package func destinations(soupName: String) -> [SyncDestination] { [destination(soupName)] }

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
