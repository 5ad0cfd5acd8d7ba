/// A target that returns all its records in each run, so none has to be fetched again.
package protocol WholeTarget: OneSoupTarget {}

extension WholeTarget {
  package func pages(
    among ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { SingleAnswer([], totalSize: 0) }

  /// The pages with all of the target's records.
  package func pages(
    selectedOf ids: [String: IDList], _ context: SyncContext
  ) async throws(SyncError) -> any SyncDownPages { try await pages(since: nil, context) }
}

/// A target that stores each response of the org as one element.
///
/// The elements are not records, so they are never ghosts.
package protocol AnswerTarget: WholeTarget {
  /// The object type that is requested.
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
  /// The soup named by the definition; responses are not edited.
  func soups(soupName: String) -> [SoupUse] {
    [SoupUse(soupName: soupName, paths: [AnswerElement.idPath], isEdited: false)]
  }

  /// The object that is requested.
  func needs(
    _ sync: SyncDefinition, objects: (_ soupName: String) -> Set<String>
  ) -> [OrgNeed] {
    [OrgNeed(sobject: sobjectType, keys: ["target", "sobjectType"])]
  }
}
