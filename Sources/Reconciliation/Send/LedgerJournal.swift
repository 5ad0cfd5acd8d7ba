import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// The journal of a pipeline's sync up of one snapshot, backed by the ledger's operations.
///
/// An operation is planned before the first request, is on disk as `sent` before its own request is
/// sent, and gets an outcome in the transaction in which its edit gets a verdict.
package final class LedgerJournal: SyncUpJournal {
  package typealias Change = Write
  package typealias Intention = [OperationRow]

  let reconciler: Reconciler
  let access: RecordReader
  let snapshotID: String
  /// The writes of each level; deletions come last.
  let levels: [[Write]]
  let carrier: SyncUpEngine<LedgerJournal>.Carrier
  /// The completed writes whose records are to be read.
  private var written: [OperationRow] = []
  /// Whether a request has had no answer and has not been looked for yet.
  var isDoubtful = false
  /// The error after which nothing more is sent, because the session is no longer valid.
  private(set) var refusal: OrgError?
  /// The IDs of the parents that this snapshot's trees have created, by tree key.
  private var parentIDs: [String: String] = [:]
  package var mostChanges = Int.max
  /// The edits that the org refused because a record that they refer to is deleted.
  private var orphans: [(send: Write, refusal: RowRefusal)] = []

  private var state: LedgerDatabase { reconciler.state }
  private var run: RunRow { reconciler.run }

  /// Creates the journal; by default, its writes are sent to the org.
  package init(
    _ reconciler: Reconciler, _ access: RecordReader, _ snapshotID: String = "",
    levels: [[Write]] = [], carrier: SyncUpEngine<LedgerJournal>.Carrier? = nil
  ) {
    self.reconciler = reconciler
    self.access = access
    self.snapshotID = snapshotID
    self.levels = levels
    self.carrier = carrier ?? .org(access.session)
  }

  /// The number of levels before that of the first deletions.
  var writeLevels: Int {
    (levels.lastIndex { !$0.allSatisfy { $0.action == .delete } } ?? -1) + 1
  }

  package var isEnded: Bool { refusal != nil }

  package nonisolated(nonsending) func end(_ error: OrgError) async throws -> Bool {
    try await reconciler.checkAlone(error, access)
    refusal = error
    return true
  }

  // MARK: before a request

  package nonisolated(nonsending) func prepare(
    _ batch: SyncUpRequest.Batch<Write>
  ) async throws -> [Write] {
    try reconciler.checkDeadline()
    let batch = try await recheck(try takeParents(batch.changes), inJob: batch.form == .job)
    return try await recheckBin(batch)
  }

  /// Puts the IDs of parents created in the meantime into the children; a child whose parent has
  /// none is blocked, and so is a deletion if a record was not moved away from below its record.
  private func takeParents(_ batch: [Write]) throws -> [Write] {
    let here = Set(batch.filter { $0.tree?.isParent == true }.compactMap { $0.tree?.key })
    return try batch.compactMap { send in
      var send = send
      let left = try send.leaving.filter { try state.isUnsettled($0) }
      if !left.isEmpty { return try block(send, send.blocked(byLeaving: left)) }
      for (name, record) in send.waiting.sorted(by: { $0.key < $1.key }) {
        guard let id = try id(of: record, named: send.payload[name]?.string ?? "", by: send) else {
          return try block(send, send.blocked(by: name))
        }
        send.payload[name] = .string(id)
        send.isCompleted = true
        // A retry already has the ID.
        send.waiting[name] = nil
      }
      if let tree = send.tree, let name = tree.field, tree.takesParentID, !here.contains(tree.key) {
        guard let id = parentIDs[tree.key] else {
          return try block(send, send.blocked(by: name))
        }
        send.payload[name] = .string(id)
        send.isCompleted = true
        send.tree?.takesParentID = false
      }
      return send
    }
  }

  /// The ID of a record created in the meantime, as a send refers to it; nil if it was not created.
  private func id(
    of record: NewRecord, named name: String, by send: Write
  ) throws -> String? {
    switch record {
    case .of: try state.creation(localID: name, of: send.edit)?.recordID
    case .inPlace(let old): try state.remade([old])[old]?.id
    }
  }

  private func block(_ send: Write, _ settlement: Settlement) throws -> Write? {
    try state.finish(send.operation, .dropped)
    try settle(send, settlement)
    return nil
  }

  package func questions(before batch: SyncUpRequest.Batch<Write>) -> [RecordReader.Inquiry] {
    // The presumed state of the org is read when it is needed.
    guard access.asksAhead else { return [] }
    // A job has more records than one query takes.
    let groups =
      batch.form == .job ? [:] : Dictionary(grouping: watched(batch.changes), by: \.sobject)
    return groups.sorted { $0.key < $1.key }.map { sobject, group in
      RecordReader.Inquiry(
        access,
        .records(sobject, ids: group.compactMap(\.targetID), fields: Self.dates(of: group)))
    }
  }

  /// The deletes whose records must not have changed; in a job, which has no conditions, also the
  /// updates and upserts.
  private func watched(_ batch: [Write], inJob: Bool = false) -> [Write] {
    batch.filter { $0.condition != nil && (inJob || $0.action == .delete) }
  }

  private static func dates(of group: [Write]) -> [String] {
    ["Id"] + Set(group.compactMap(\.modificationField)).sorted()
  }

  /// Reads dates again right before deletes and jobs under LEAVE_IF_CHANGED.
  ///
  /// Neither a delete nor a row of a job can have a condition. Changed records are decided again;
  /// an update or upsert that has already been decided again is a conflict.
  private nonisolated(nonsending) func recheck(
    _ batch: [Write], inJob: Bool
  ) async throws -> [Write] {
    let watched = watched(batch, inJob: inJob)
    guard !watched.isEmpty else { return batch }
    let (seen, left) = try await look(at: watched) { sobject, group throws(OrgError) in
      try await access.records(
        sobject, ids: group.compactMap(\.targetID), fields: Self.dates(of: group))
    }
    var moved: Set<Int64> = []
    // Deleting a new record also deletes what others added to it in the meantime.
    for (send, row) in seen
    where send.edit.isToBeUndone || send.action != .delete
      || !reconciler.redone.contains(send.edit.id)
    {
      let date = send.modificationField.flatMap { row[$0]?.string }
      if date != send.condition { moved.insert(send.edit.id) }
    }
    for send in batch where moved.contains(send.edit.id) {
      try state.finish(send.operation, .dropped)
      if !reconciler.redone.insert(send.edit.id).inserted, send.action != .delete {
        try settle(send, Settlement(.conflict, send.detailOfFailure))
      }
    }
    return batch.filter { !moved.contains($0.edit.id) && !left.contains($0.edit.id) }
  }

  /// Reads the records of changes again, by object.
  ///
  /// Returns each with its row, empty if it has none, and the edits that are left because their
  /// records cannot be read.
  private nonisolated(nonsending) func look(
    at sends: [Write],
    _ ask:
      nonisolated(nonsending) (String, [Write]) async throws(OrgError) -> [String: JSONObject]
  ) async throws -> (seen: [(send: Write, row: JSONObject)], left: Set<Int64>) {
    var seen: [(send: Write, row: JSONObject)] = []
    var left: Set<Int64> = []
    let groups = Dictionary(grouping: sends, by: \.sobject)
    try keep()
    for (sobject, group) in groups.sorted(by: { $0.key < $1.key }) {
      do {
        let found = try await ask(sobject, group)
        seen += group.map { send in (send, send.targetID.flatMap { found[$0] } ?? [:]) }
      } catch {
        try await leave(group, error)
        left.formUnion(group.map(\.edit.id))
      }
    }
    return (seen, left)
  }

  /// Leaves edits whose records cannot be read right before sending, with the reason; other edits
  /// continue.
  private nonisolated(nonsending) func leave(
    _ group: [Write], _ error: OrgError
  ) async throws {
    // If the sender's session is invalid, nothing more is sent.
    if error.isAboutTheUser { throw error }
    try await reconciler.checkAlone(error, access)
    for send in group {
      try state.finish(send.operation, .dropped)
      var detail = send.detailOfFailure
      (detail.code, detail.message) = (error.code, error.message)
      try settle(send, Settlement(error.isAboutTheObject ? .failed : .notAttempted, detail))
    }
  }

  /// Checks the recycle bin again right before records are restored from it.
  ///
  /// A record that is back already, such as a detail restored with its master, or that was deleted
  /// again, is decided again.
  private nonisolated(nonsending) func recheckBin(
    _ batch: [Write]
  ) async throws -> [Write] {
    let undeletes = batch.filter { $0.action == .undelete }
    if undeletes.isEmpty { return batch }
    let (seen, left) = try await look(at: undeletes) { sobject, group throws(OrgError) in
      try await access.withBin(
        sobject, ids: group.compactMap(\.recordID), fields: UndoRule.binDates)
    }
    var moved: Set<Int64> = []
    for (send, row) in seen {
      if row["IsDeleted"]?.bool != true || UndoRule.date(inBin: row) != send.condition {
        moved.insert(send.edit.id)
      }
    }
    for send in batch where moved.contains(send.edit.id) {
      try state.finish(send.operation, .dropped)
    }
    return batch.filter { !moved.contains($0.edit.id) && !left.contains($0.edit.id) }
  }

  package func intend(_ batch: [Write], job: String?) throws -> [OperationRow] {
    let identity = access.session.identity
    let now = access.session.serverDate ?? run.now
    let operations = batch.map { send in
      var operation = send.operation
      operation.senderID = identity.userID
      operation.sentMilliseconds = now
      operation.job = job
      return operation
    }
    try state.markSent(
      operations, now: now, latest: max(now, access.session.estimatedServerDate), job: job)
    reconciler.tellProgress()
    return operations
  }

  package func withdraw(_ intention: [OperationRow]) throws {
    try state.connection.transaction {
      for operation in intention { try state.finish(operation, .again) }
    }
  }

  package func separate(_ intention: [OperationRow]) throws -> [OperationRow]? {
    try state.note(.isSeparate, of: intention)
    return intention
  }

  // MARK: answers

  package func keep() throws {
    try state.connection.keepHeld()
    reconciler.tellProgress()
  }

  /// Records the org's answer for each row, in one transaction, together with the next intention if
  /// one follows at once.
  package nonisolated(nonsending) func settle(
    _ answers: [(change: Write, answer: RowAnswer)], of intention: [OperationRow],
    read: CompositeResult?, isLast: Bool
  ) async throws {
    var told = Told()
    try state.connection.hold {
      for (send, answer) in answers {
        guard let tree = send.tree, tree.isParent, case .done(let id?, _) = answer else { continue }
        parentIDs[tree.key] = id
      }
      for ((send, answer), operation) in zip(answers, intention) {
        if case .refused(let refusal) = answer, let tree = send.tree, let name = tree.field,
          tree.takesParentID, parentIDs[tree.key] == nil
        {
          // The org reports for each child that its parent was not created.
          try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
          told.settle(send, send.blocked(by: name))
          continue
        }
        switch try enter(send, answer, operation, isLast: isLast, &told) {
        case .accepted: reconciler.summary.writes += 1
        case .unconfirmed: isDoubtful = true
        case .refused, .left: break
        }
      }
      try state.settle(told.verdicts, done: told.done, run: run.id)
    }
    // Listeners are notified after the commit, because they may block.
    tellOfJob(answers.map(\.change), intention)
  }

  /// Reports for how long changes by others could go unnoticed, because a job has no conditions.
  private func tellOfJob(_ sends: [Write], _ intention: [OperationRow]) {
    guard let job = intention.first?.job, let sent = intention.first?.sentMilliseconds else {
      return
    }
    let count = watched(sends, inJob: true).count
    guard count > 0, let sobject = sends.first?.sobject else { return }
    let ended = access.session.serverDate ?? sent
    let edits = "\(CountText.of(count, "edit")) of \(sobject) \(count == 1 ? "was" : "were")"
    warn(
      """
      \(edits) sent in the bulk job \(job): the records were read right before, at \
      \(Dates.utcSeconds(sent)); changes to them until the job was done, at \
      \(Dates.utcSeconds(ended)), were not seen and may have been overwritten
      """)
  }

  package func warn(_ words: String) {
    if !reconciler.summary.warnings.contains(words) { reconciler.summary.warnings.append(words) }
  }

  /// The completed writes whose records have not been read yet.
  func takeWritten() -> [OperationRow] {
    defer { written = [] }
    return written
  }

  /// The edits that the org refused because a record that they refer to is deleted, as far as they
  /// have not been looked into.
  func takeOrphans() -> [(send: Write, refusal: RowRefusal)] {
    defer { orphans = [] }
    return orphans
  }

  private enum Entered { case accepted, refused, unconfirmed, left }

  /// What the answers to a batch say about its writes and edits, to be recorded together.
  private struct Told {
    var done: [(operation: OperationRow, recordID: String?)] = []
    var verdicts: [LedgerDatabase.Given] = []

    /// Gives an edit its verdict, and the details deleted with it theirs.
    ///
    /// If what a late request overwrote was not restored, its edit stays open for review.
    mutating func settle(_ send: Write, _ settlement: Settlement) {
      var settlement = settlement
      if send.operation.isRestoring, settlement.verdict == .notAttempted {
        settlement = send.expected
      }
      verdicts.append((send.edit.id, settlement))
      for follower in send.followers {
        let following = follower.following(send.edit.id, settlement.verdict)
        verdicts.append((follower.edit.id, following))
      }
    }
  }

  private func enter(
    _ send: Write, _ answer: RowAnswer, _ operation: OperationRow, isLast: Bool,
    _ told: inout Told
  ) throws -> Entered {
    switch answer {
    case .done(let id, let created):
      told.done.append((operation, id))
      told.settle(
        send, reconciler.outcome(of: operation, send.edit, id: id, created: created))
      if send.action == .delete {
        try state.note(
          .gone(by: access.session.serverDate ?? reconciler.run.now), of: [operation])
      } else {
        var done = operation
        done.recordID = id ?? send.recordID
        try reconciler.noteEnd(ofJobOf: &done, access)
        written.append(done)
      }
      return .accepted
    case .changed:
      try state.finish(operation, .conflict)
      if reconciler.redone.insert(send.edit.id).inserted { return .left }
      told.settle(send, Settlement(.conflict, send.detailOfFailure))
      return .refused
    case .absent(let refusal):
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      if reconciler.redone.insert(send.edit.id).inserted { return .left }
      try refuse(send, refusal, &told)
      return .refused
    case _ where !isLast && RetryPolicy.repeats(answer):
      try state.finish(operation, .again)
      return .left
    case .refused(let refusal) where Self.isRepeated(send, refusal):
      // An earlier request created the record; it is looked up by the correlation field.
      try doubt(send, operation, "an earlier request created it: \(refusal.message)", &told)
      return .unconfirmed
    case .refused(let refusal):
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      // It is sent again without that reference.
      if send.isHindered(by: refusal), reconciler.redone.insert(send.edit.id).inserted {
        return .left
      }
      try refuse(send, refusal, &told)
      return .refused
    case .locked(let refusal), .unprocessed(let refusal):
      // The org did nothing, and no user has to fix anything.
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      var detail = send.detailOfFailure
      (detail.code, detail.message) = (refusal.code, refusal.message)
      told.settle(send, Settlement(.notAttempted, detail))
      return .refused
    case .unknown(let words):
      // The last attempt was sent when the wait for its answer started.
      let session = access.session
      try state.note(
        .lastAttempt(session.estimatedServerDate - session.timeoutMilliseconds), of: [operation])
      try doubt(send, operation, words, &told)
      return .unconfirmed
    }
  }

  private func doubt(
    _ send: Write, _ operation: OperationRow, _ words: String, _ told: inout Told
  ) throws {
    try state.finish(operation, .doubt)
    reconciler.followers[send.edit.id] = send.followers.map(\.edit.id)
    told.settle(send, Settlement(.unconfirmed, .because(words)))
  }

  /// Whether the org refuses a create because a record with its identity exists.
  private static func isRepeated(_ send: Write, _ refusal: RowRefusal) -> Bool {
    guard send.action == .create, refusal.code == ErrorCodes.duplicate,
      let field = send.externalField?.lowercased()
    else { return false }
    return refusal.fields.contains { $0.lowercased() == field }
      || refusal.message.lowercased().contains(field)
  }

  /// Records that the org refused an edit, unless another sync up of the soup may send it.
  private func refuse(
    _ send: Write, _ refusal: RowRefusal, _ told: inout Told
  ) throws {
    // Fields that the next sync up does not send would be lost, and with them the reason for the
    // refusal.
    let sent = reconciler.edited(by: send)
    let next = reconciler.rules.following(send.sync, of: send.edit.soup) { next in
      let isOfOneKey =
        send.action != .upsert || next.target.externalIdFieldName == send.externalField
      return isOfOneKey && sent.isSubset(of: next.sentFields(of: send.edit.syncOperation))
    }
    if let next {
      reconciler.firstSync[send.edit.id] = next
      return
    }
    var detail = send.detailOfFailure
    detail.code = refusal.code
    detail.message =
      send.action == .undelete
      ? UndoRule.remedy(refusal.message, try state.noted(.instance)) : words(of: refusal, send)
    detail.errorFields = refusal.fields
    told.settle(send, Settlement(.failed, detail))
    if Self.blamesReference(refusal, send) { orphans.append((send, refusal)) }
  }

  /// Whether the org refuses something because a record that it refers to is deleted.
  private static func blamesReference(_ refusal: RowRefusal, _ send: Write) -> Bool {
    guard refusal.code == ErrorCodes.deleted else { return false }
    return switch send.action {
    case .create, .upsert: true
    case .update: !refusal.fields.isEmpty
    case .delete, .undelete: false
    }
  }

  /// The org's message, with a remedy if a record that the edit refers to is deleted.
  private func words(of refusal: RowRefusal, _ send: Write) -> String {
    guard Self.blamesReference(refusal, send) else { return refusal.message }
    let isOfFamily = send.tree?.isParent == false && reconciler.rules[send.sync].mode == .overwrite
    return refusal.message
      + ": it refers to a record that was deleted in the org; restore that record, or enter another one"
      + (isOfFamily ? ", or edit that record's own row on the device, which recreates it" : "")
  }

  /// Gives an edit its verdict at once, and the details deleted with it theirs.
  private func settle(_ send: Write, _ settlement: Settlement) throws {
    var told = Told()
    told.settle(send, settlement)
    try state.settle(told.verdicts, run: run.id)
  }
}
