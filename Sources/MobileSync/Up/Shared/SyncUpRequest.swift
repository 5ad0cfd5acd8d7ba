import JSON
import Salesforce

/// Writes that are sent to the org in one request.
package struct SyncUpRequest: Sendable {
  /// The resource for the writes.
  package enum Form: Sendable, Hashable {
    /// A collection of one operation.
    case collection
    /// A composite of any operations; only this one supports conditions and references.
    case composite
    case row
    /// A bulk job of one action and object.
    case job
  }

  private static let parentReference = "parent"

  let form: Form
  /// The writes, in the order in which they are sent.
  let writes: [SyncUpWrite]
  /// The query that a composite runs after its writes, so that no other change comes between.
  let read: CompositeRequest?
  let job: String?
  /// Whether there is time to wait for a job.
  let mayWait: @Sendable () -> Bool

  /// The reference to the ID of the parent that the same composite creates.
  static let parentID = "\(parentReference).id"

  // MARK: Sending

  /// Sends the request and returns a response for each write, in order, and the result of the
  /// query.
  func send(
    _ session: Session
  ) async throws(OrgError) -> (answers: [RowAnswer], read: CompositeResult?) {
    switch form {
    case .collection: (try await sendCollection(session), nil)
    case .composite: try await sendComposite(session)
    case .row: ([try await writes[0].sendRow(session)], nil)
    case .job: (try await sendJob(job ?? "", session, while: mayWait), nil)
    }
  }

  private func sendCollection(_ session: Session) async throws(OrgError) -> [RowAnswer] {
    let first = writes[0]
    let results: [SaveResult]
    switch first.action {
    case .create: results = try await session.create(writes.map(\.collectionRecord))
    case .update: results = try await session.update(writes.map(\.collectionRecord))
    case .upsert:
      results = try await session.upsert(
        first.objectType, externalIDField: first.externalKey?.field ?? "",
        writes.map(\.collectionRecord))
    case .delete: results = try await session.delete(writes.map { $0.recordID ?? "" })
    case .undelete: return try await session.undelete(writes.map { $0.recordID ?? "" })
    }
    return zip(writes, results).map { RowAnswer($1, recordID: $0.recordID) }
  }

  private func sendComposite(
    _ session: Session
  ) async throws(OrgError) -> (answers: [RowAnswer], read: CompositeResult?) {
    var requests = writes.enumerated().map { index, write in
      var write = write
      if let field = write.parentField { write.set(field, "@{\(Self.parentID)}") }
      return write.compositeRequest(
        session, referenceId: write.isParent ? Self.parentReference : "row\(index)")
    }
    if let read { requests.append(read) }
    let results = try await session.composite(requests)
    return (
      zip(writes, results).map { RowAnswer($1, recordID: $0.recordID) },
      read == nil ? nil : results.last
    )
  }
}

/// A local change to send to the org.
package protocol SyncUpChange {
  var action: SyncUpAction { get }
  var objectType: String { get }
  /// Whether it applies only while its record is unmodified.
  var isConditional: Bool { get }
  var goesAlone: Bool { get }
  var write: SyncUpWrite { get }
}

extension SyncUpChange {
  package var action: SyncUpAction { write.action }
  package var objectType: String { write.objectType }
  package var isConditional: Bool { write.unmodifiedSince != nil }
  package var goesAlone: Bool { write.goesAlone }
}
