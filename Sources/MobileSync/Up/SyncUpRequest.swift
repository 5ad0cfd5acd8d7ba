import JSON
import Salesforce
import System

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
    let results: [SaveResult] =
      switch first.action {
      case .create: try await session.create(writes.map(\.collectionRecord))
      case .update: try await session.update(writes.map(\.collectionRecord))
      case .upsert:
        try await session.upsert(
          first.objectType, externalIDField: first.externalKey?.field ?? "",
          writes.map(\.collectionRecord))
      case .delete: try await session.delete(writes.map { $0.recordID ?? "" })
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

extension SyncUpRequest {
  /// Changes that go in one request.
  package struct Batch<Change: SyncUpChange> {
    package var form: Form
    package var changes: [Change]

    /// Changes for a resource.
    package init(form: Form, changes: [Change]) {
      self.form = form
      self.changes = changes
    }
  }

  /// The batches that carry changes, by the kind of target.
  ///
  /// A batch takes as many changes as the target says, in their order. A collection is of one
  /// operation, in the SDK's order; it bears no condition, so that changes with one go in composites.
  /// A tree is one composite, with a place for what is read in it. Of more than `bulkAbove` changes of one
  /// action and object the org makes jobs, whatever the target.
  package static func batches<Change: SyncUpChange>(
    _ changes: [Change], kind: SyncUpTarget.Kind, maxBatchSize: Int, reads: Bool = false,
    bulkAbove: Int? = nil
  ) -> [Batch<Change>] {
    if let bulkAbove, kind != .custom, kind != .parentChildren {
      let (jobs, rest) = jobs(changes, above: bulkAbove)
      return jobs
        + batches(rest, kind: kind, maxBatchSize: maxBatchSize, reads: reads)
    }
    switch kind {
    case .single, .custom:
      return changes.map { Batch(form: .row, changes: [$0]) }
    case .batch, .parentChildren:
      let most = kind == .batch ? maxBatchSize : RequestLimits.composite - (reads ? 1 : 0)
      return changes.parts(of: min(most, RequestLimits.composite)).map {
        Batch(form: .composite, changes: $0)
      }
    case .collection:
      return changes.parts(of: min(maxBatchSize, RequestLimits.collection)).flatMap { window in
        SyncUpAction.allCases.flatMap { action in
          collections(window.filter { $0.action == action }, action)
        }
      }
    }
  }

  /// Batches in steps: those of a step may go beside each other.
  ///
  /// A record has one change at most, so that only operations have an order, the SDK's: of collections
  /// that of their actions, of rows their own. The requests of a tree need each other's answers.
  package static func steps<Change: SyncUpChange>(
    _ batches: [Batch<Change>], kind: SyncUpTarget.Kind
  ) -> [[Batch<Change>]] {
    switch kind {
    case .parentChildren: return batches.map { [$0] }
    case .batch: return batches.isEmpty ? [] : [batches]
    case .collection:
      return SyncUpAction.allCases.map { action in
        batches.filter { $0.changes.first?.action == action }
      }.filter { !$0.isEmpty }
    case .single, .custom:
      return batches.reduce(into: []) { steps, batch in
        if let last = steps.last?.first?.changes.first, last.action == batch.changes.first?.action {
          steps[steps.count - 1].append(batch)
        } else {
          steps.append([batch])
        }
      }
    }
  }

  private static func collections<Change: SyncUpChange>(
    _ changes: [Change], _ action: SyncUpAction
  ) -> [Batch<Change>] {
    let plain = changes.filter { !$0.isConditional }
    let conditional = changes.filter { $0.isConditional }
    return runs(plain, action).map { Batch(form: .collection, changes: $0) }
      + conditional.parts(of: RequestLimits.composite).map { Batch(form: .composite, changes: $0) }
  }

  /// Records of one type follow each other.
  ///
  /// An upsert names its type in the address; a delete does not mind.
  private static func runs<Change: SyncUpChange>(
    _ changes: [Change], _ action: SyncUpAction
  ) -> [[Change]] {
    if changes.isEmpty { return [] }
    if action == .delete { return [changes] }
    var types: [String] = []
    for change in changes where !types.contains(change.objectType) {
      types.append(change.objectType)
    }
    return types.parts(of: action == .upsert ? 1 : RequestLimits.typesOfCollection).map { part in
      part.flatMap { type in changes.filter { $0.objectType == type } }
    }
  }
}
