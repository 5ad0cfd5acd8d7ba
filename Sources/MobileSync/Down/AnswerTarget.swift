/// A target that brings all that it has in each run, so that no record has to be fetched again.
package protocol WholeTarget: OneSoupTarget {}

extension WholeTarget {
  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { SingleAnswer([], totalSize: 0) }

  /// All that the target has.
  package func pages(
    selectedOf ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { try await pages(since: nil, context) }
}

/// A target whose records are answers of the org, one element each: no record, so none is a ghost.
package protocol AnswerTarget: WholeTarget {
  /// The object type that is asked about.
  var sobjectType: String { get }
}

extension AnswerTarget {
  package func remoteIDs(_ context: SyncContext) async throws(SyncError) -> [RemoteIDs] { [] }

  package var selects: Bool { false }

  package func destination(_ soupName: String) -> SyncDestination {
    SyncDestination(
      soupName: soupName, idPath: AnswerElement.idPath,
      modificationPath: fields.modificationDateFieldName)
  }
}

extension SyncTargetKind where Self: AnswerTarget {
  /// The soup that the definition names; nobody edits an answer.
  func soups(soupName: String) -> [SoupUse] {
    [SoupUse(soupName: soupName, paths: [AnswerElement.idPath], isEdited: false)]
  }

  /// The object that is asked about.
  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    [OrgNeed(sobject: sobjectType, keys: ["target", "sobjectType"])]
  }
}
