import Salesforce

extension MetadataTarget: AnswerTarget {
  /// The soup in which the SDKs store descriptions.
  package static let soupName = "sfdcMetadata"

  package func pages(
    since: Int64?, _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages {
    let session = try await context.session()
    try context.checkStop()
    let answer = try await SyncError.inOrg { try await session.describeAnswer(sobjectType) }
    let part = SyncPage.Part(
      destination(context.soupName), bytes: AnswerElement.bytes(answer, id: sobjectType),
      container: .array)
    return SingleAnswer([part], totalSize: 1)
  }
}
