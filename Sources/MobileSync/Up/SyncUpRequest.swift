import JSON
import Salesforce

/// Writes that go to the org in one request.
package struct SyncUpRequest: Sendable {
  /// The resource that carries the writes.
  package enum Form: Sendable, Hashable {
    /// A collection of one operation.
    case collection
    /// A composite of any operations; the only one that carries conditions and references.
    case composite
    /// A request for one row.
    case row
    /// A bulk job of one action and object.
    case job
  }

  private static let parentReference = "parent"

  let form: Form
  /// The writes, in their order on the wire.
  let writes: [SyncUpWrite]
  /// What a composite reads after its writes: nobody comes between.
  let read: CompositeRequest?
  /// The job that was opened for them.
  let job: String?
  /// Whether there is time to wait for a job.
  let mayWait: @Sendable () -> Bool

  init(
    _ form: Form, _ writes: [SyncUpWrite], read: CompositeRequest? = nil, job: String? = nil,
    while mayWait: @escaping @Sendable () -> Bool = { true }
  ) {
    self.form = form
    self.writes = writes
    self.read = read
    self.job = job
    self.mayWait = mayWait
  }

  /// How a query in the same composite names the id of the parent that it makes.
  static let parentID = "\(parentReference).id"

  // MARK: sending

  /// Sends it; one answer for each write, in their order, and what was read.
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

/// A local change on its way to the org.
package protocol SyncUpChange {
  /// What is asked of the org.
  var action: SyncUpAction { get }
  /// The sObject type.
  var objectType: String { get }
  /// Whether it holds only while its record was not modified.
  var isConditional: Bool { get }
  /// What is sent of it.
  var write: SyncUpWrite { get }
}

extension SyncUpChange {
  /// That of what is sent.
  package var action: SyncUpAction { write.action }
  /// That of what is sent.
  package var objectType: String { write.objectType }
  /// Whether what is sent bears a condition.
  package var isConditional: Bool { write.unmodifiedSince != nil }
}
