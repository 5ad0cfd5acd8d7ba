import JSON
import Ledger
import MobileSync
import Salesforce
import System

/// The journal of a pipeline's sync up of one snapshot: the operations of the ledger.
///
/// An operation is planned before the first request, `sent` on the disk before its own leaves, and has
/// an outcome in the transaction in which its edit has a verdict.
package final class LedgerJournal: SyncUpJournal {
  package typealias Change = PlannedSend
  package typealias Intention = [OperationRow]

  let reconciler: Reconciler
  let access: RecordReader
  /// Writes that were done, and whose records are to be read.
  private var written: [OperationRow] = []
  /// Whether a request got no answer that nobody has looked for yet.
  var isDoubtful = false
  /// Why nothing leaves any more: the org knows the user no more.
  private(set) var refusal: OrgError?
  /// The ids of the parents that this snapshot's trees have made, by the trees' keys.
  private var parentIDs: [String: String] = [:]
  /// What the org refused as something that it refers to is deleted.
  private var bereft: [(send: PlannedSend, refusal: RowRefusal)] = []

  private var state: LedgerDatabase { reconciler.state }
  private var run: RunRow { reconciler.run }

  package init(_ reconciler: Reconciler, _ access: RecordReader) {
    self.reconciler = reconciler
    self.access = access
  }

  package var isEnded: Bool { refusal != nil }

  package nonisolated(nonsending) func end(_ error: OrgError) async throws -> Bool {
    try await reconciler.checkAlone(error, access)
    refusal = error
    return true
  }

  // MARK: before a request

  package nonisolated(nonsending) func prepare(
    _ batch: SyncUpRequest.Batch<PlannedSend>
  ) async throws -> [PlannedSend] {
    try reconciler.checkDeadline()
    let batch = try await recheck(try takeParents(batch.changes), inJob: batch.form == .job)
    return try await recheckBin(batch)
  }

  /// Puts the ids of the parents that were made meanwhile into the children; a child whose parent
  /// has none is blocked.
  private func takeParents(_ batch: [PlannedSend]) throws -> [PlannedSend] {
    let here = Set(batch.filter { $0.tree?.isParent == true }.compactMap { $0.tree?.key })
    return try batch.compactMap { send in
      var send = send
      for (name, record) in send.waiting.sorted(by: { $0.key < $1.key }) {
        guard let id = try id(of: record, named: send.payload[name]?.string ?? "", by: send) else {
          return try block(send, name)
        }
        send.payload[name] = .string(id)
        send.isCompleted = true
        // What is tried again has the Id already.
        send.waiting[name] = nil
      }
      if let tree = send.tree, let name = tree.field, tree.takesParentID, !here.contains(tree.key) {
        guard let id = parentIDs[tree.key] else { return try block(send, name) }
        send.payload[name] = .string(id)
        send.isCompleted = true
        send.tree?.takesParentID = false
      }
      return send
    }
  }

  /// The Id of a record that was to be made meanwhile, as a send names it; nil where it was not made.
  private func id(
    of record: NewRecord, named name: String, by send: PlannedSend
  ) throws -> String? {
    switch record {
    case .of: try state.creation(localID: name, of: send.edit)?.recordID
    case .inPlace(let old): try state.remade([old])[old]?.id
    }
  }

  private func block(_ send: PlannedSend, _ name: String) throws -> PlannedSend? {
    try state.move(send.operation(sender: ""), to: .dropped)
    try reconciler.settle([(send.edit, send.blocked(by: name))])
    return nil
  }

  package func questions(before batch: SyncUpRequest.Batch<PlannedSend>) -> [RecordReader.Inquiry] {
    // What is presumed of the org is looked at when it is needed.
    guard access.asksAhead else { return [] }
    // A job has more records than one question takes.
    let groups =
      batch.form == .job ? [:] : Dictionary(grouping: watched(batch.changes), by: \.sobject)
    return groups.sorted { $0.key < $1.key }.map { sobject, group in
      RecordReader.Inquiry(
        access,
        .records(sobject, ids: group.compactMap(\.recordID), fields: Self.dates(of: group)))
    }
  }

  /// Deletes whose records must not have moved; in a job, which bears no conditions, updates too.
  private func watched(_ batch: [PlannedSend], inJob: Bool = false) -> [PlannedSend] {
    batch.filter {
      $0.condition != nil && ($0.action == .delete || (inJob && $0.action == .update))
    }
  }

  private static func dates(of group: [PlannedSend]) -> [String] {
    ["Id"] + Set(group.map(\.modificationField)).sorted()
  }

  /// Reads dates once more, right before deletes and jobs under LEAVE_IF_CHANGED.
  ///
  /// A delete cannot carry a condition, and no row of a job can. What moved is decided anew; an update that
  /// was decided anew already is a conflict.
  private nonisolated(nonsending) func recheck(
    _ batch: [PlannedSend], inJob: Bool
  ) async throws -> [PlannedSend] {
    let watched = watched(batch, inJob: inJob)
    guard !watched.isEmpty else { return batch }
    let (seen, left) = try await look(at: watched) { sobject, group throws(OrgError) in
      try await access.records(
        sobject, ids: group.compactMap(\.recordID), fields: Self.dates(of: group))
    }
    var moved: Set<Int64> = []
    // A new record that is deleted takes with it what others put into it in the meantime.
    for (send, row) in seen
    where send.edit.isToBeUndone || send.action == .update
      || !reconciler.redone.contains(send.edit.id)
    {
      if row[send.modificationField]?.string != send.condition { moved.insert(send.edit.id) }
    }
    for send in batch where moved.contains(send.edit.id) {
      try state.move(send.operation(sender: ""), to: .dropped)
      if !reconciler.redone.insert(send.edit.id).inserted, send.action == .update {
        try settle(send, Settlement(.conflict, send.detailOfFailure))
      }
    }
    return batch.filter { !moved.contains($0.edit.id) && !left.contains($0.edit.id) }
  }

  /// Reads the records of changes once more, object by object: each with its row, empty where it has none, and the
  /// edits of those that are left because they cannot be looked at.
  private nonisolated(nonsending) func look(
    at sends: [PlannedSend],
    _ ask:
      nonisolated(nonsending) (String, [PlannedSend]) async throws(OrgError) -> [String: JSONObject]
  ) async throws -> (seen: [(send: PlannedSend, row: JSONObject)], left: Set<Int64>) {
    var seen: [(send: PlannedSend, row: JSONObject)] = []
    var left: Set<Int64> = []
    let groups = Dictionary(grouping: sends, by: \.sobject)
    try keep()
    for (sobject, group) in groups.sorted(by: { $0.key < $1.key }) {
      do {
        let found = try await ask(sobject, group)
        seen += group.map { send in (send, send.recordID.flatMap { found[$0] } ?? [:]) }
      } catch {
        try await leave(group, error)
        left.formUnion(group.map(\.edit.id))
      }
    }
    return (seen, left)
  }

  /// Leaves what cannot be looked at right before it is sent, with the reason: nobody else's waits for that.
  private nonisolated(nonsending) func leave(
    _ group: [PlannedSend], _ error: OrgError
  ) async throws {
    // Of a sender who is out nothing leaves any more.
    if error.isAboutTheUser { throw error }
    try await reconciler.checkAlone(error, access)
    for send in group {
      try state.move(send.operation(sender: ""), to: .dropped)
      var detail = send.detailOfFailure
      (detail.code, detail.message) = (error.code, error.message)
      try settle(send, Settlement(error.isAboutTheObject ? .failed : .notAttempted, detail))
    }
  }

  /// Looks into the recycle bin once more, right before records are taken out of it.
  ///
  /// What is back meanwhile, so a detail with its master, or was deleted once more, is decided anew.
  private nonisolated(nonsending) func recheckBin(
    _ batch: [PlannedSend]
  ) async throws -> [PlannedSend] {
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
      try state.move(send.operation(sender: ""), to: .dropped)
    }
    return batch.filter { !moved.contains($0.edit.id) && !left.contains($0.edit.id) }
  }

  package func intend(_ batch: [PlannedSend], job: String?) throws -> [OperationRow] {
    let identity = access.session.identity
    let now = access.session.serverDate ?? run.now
    let operations = batch.map { send in
      var operation = send.operation(sender: identity.username)
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

  // MARK: answers

  package func keep() throws {
    try state.connection.keepHeld()
    reconciler.tellProgress()
  }

  /// Enters what the org said of each row, in one transaction: that of the next intention, where one follows at once.
  package nonisolated(nonsending) func settle(
    _ answers: [(change: PlannedSend, answer: RowAnswer)], of intention: [OperationRow],
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
          // The org says of each child that its parent was not made.
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
      try state.finish(done: told.done)
      try state.settle(told.verdicts, run: run.id)
    }
    // Nobody is told of them before they are on the disk: who listens may keep us waiting.
    tellOfJob(answers.map(\.change), intention)
  }

  /// Tells for how long nobody saw what others changed: a job bears no conditions.
  private func tellOfJob(_ sends: [PlannedSend], _ intention: [OperationRow]) {
    guard let job = intention.first?.job, let sent = intention.first?.sentMilliseconds else {
      return
    }
    let count = watched(sends, inJob: true).count
    guard count > 0, let sobject = sends.first?.sobject else { return }
    let ended = access.session.serverDate ?? sent
    warn(
      """
      \(count) edits of \(sobject) went in the bulk job \(job): their records were looked at right before, at \
      \(Dates.utcSeconds(sent)); what somebody changed in them until the job was done, at \
      \(Dates.utcSeconds(ended)), was not seen and may be written over
      """)
  }

  package func warn(_ words: String) {
    if !reconciler.summary.warnings.contains(words) { reconciler.summary.warnings.append(words) }
  }

  /// The writes that were done and whose records nobody has read yet.
  func takeWritten() -> [OperationRow] {
    defer { written = [] }
    return written
  }

  /// What the org refused as something that it refers to is deleted, and of which nobody has asked what became of
  /// that yet.
  func takeBereft() -> [(send: PlannedSend, refusal: RowRefusal)] {
    defer { bereft = [] }
    return bereft
  }

  private enum Entered { case accepted, refused, unconfirmed, left }

  /// What the answers of a batch say of its writes and edits, to be entered together.
  private struct Told {
    var done: [(operation: OperationRow, recordID: String?)] = []
    var verdicts: [GivenVerdict] = []

    /// Gives an edit its verdict, and those of the details that go with it.
    mutating func settle(_ send: PlannedSend, _ settlement: Settlement) {
      verdicts.append(GivenVerdict(edit: send.edit.id, settlement, isAlone: send.isAlone))
      for follower in send.followers {
        verdicts.append(
          GivenVerdict(edit: follower.edit.id, follower.following(settlement.verdict)))
      }
    }
  }

  private func enter(
    _ send: PlannedSend, _ answer: RowAnswer, _ operation: OperationRow, isLast: Bool,
    _ told: inout Told
  ) throws -> Entered {
    switch answer {
    case .done(let id, let created):
      told.done.append((operation, id))
      told.settle(
        send, reconciler.outcome(of: operation, send.edit, id: id, created: created))
      if send.action == .delete {
        try state.noteGone(operation, by: access.session.serverDate ?? reconciler.run.now)
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
      // An earlier request has made it: it is looked up by the field that says so.
      try doubt(send, operation, "an earlier request has made it: \(refusal.message)", &told)
      return .unconfirmed
    case .refused(let refusal):
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      // It goes once more, without that.
      if send.isHindered(by: refusal), reconciler.redone.insert(send.edit.id).inserted {
        return .left
      }
      try refuse(send, refusal, &told)
      return .refused
    case .locked(let refusal), .unprocessed(let refusal):
      // The org has done nothing with it, and nobody has to mend anything.
      try state.finish(operation, .rejected(code: refusal.code, message: refusal.message))
      var detail = send.detailOfFailure
      (detail.code, detail.message) = (refusal.code, refusal.message)
      told.settle(send, Settlement(.notAttempted, detail))
      return .refused
    case .unknown(let words):
      // The last attempt left when the wait for its answer began.
      let session = access.session
      try state.noteLastAttempt(
        of: operation, session.estimatedServerDate - session.timeoutMilliseconds)
      try doubt(send, operation, words, &told)
      return .unconfirmed
    }
  }

  private func doubt(
    _ send: PlannedSend, _ operation: OperationRow, _ words: String, _ told: inout Told
  ) throws {
    try state.finish(operation, .doubt)
    reconciler.followers[send.edit.id] = send.followers.map(\.edit.id)
    told.settle(send, Settlement(.unconfirmed, .because(words)))
  }

  /// Says whether the org refuses a create because the record of its identity is there.
  private static func isRepeated(_ send: PlannedSend, _ refusal: RowRefusal) -> Bool {
    guard send.action == .create, refusal.code == ErrorCodes.duplicate,
      let field = send.externalField?.lowercased()
    else { return false }
    return refusal.fields.contains { $0.lowercased() == field }
      || refusal.message.lowercased().contains(field)
  }

  /// Enters that the org has refused an edit, unless another sync up of the soup may send it.
  private func refuse(
    _ send: PlannedSend, _ refusal: RowRefusal, _ told: inout Told
  ) throws {
    // What the next one does not send would be gone with it, and why it was refused.
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
      ? UndoRule.remedy(refusal.message, try state.instance) : words(of: refusal, send)
    detail.errorFields = refusal.fields
    told.settle(send, Settlement(.failed, detail))
    if Self.blamesReference(refusal, send) { bereft.append((send, refusal)) }
  }

  /// Says whether the org refuses something as a record is gone that it refers to.
  private static func blamesReference(_ refusal: RowRefusal, _ send: PlannedSend) -> Bool {
    guard refusal.code == ErrorCodes.deleted else { return false }
    return switch send.action {
    case .create, .upsert: true
    case .update: !refusal.fields.isEmpty
    case .delete, .undelete: false
    }
  }

  /// The org's words, with what a person can do where a record is gone that the edit refers to.
  private func words(of refusal: RowRefusal, _ send: PlannedSend) -> String {
    guard Self.blamesReference(refusal, send) else { return refusal.message }
    let isOfFamily = send.tree?.isParent == false && reconciler.rules[send.sync].mode == .overwrite
    return refusal.message
      + ": it refers to a record that was deleted in the org; restore that one, or enter another"
      + (isOfFamily ? ", or change that one's own row on the device, which makes it anew" : "")
  }

  /// Gives an edit its verdict at once, and those of the details that go with it.
  private func settle(_ send: PlannedSend, _ settlement: Settlement) throws {
    var told = Told()
    told.settle(send, settlement)
    try state.settle(told.verdicts, run: run.id)
  }
}

extension PlannedSend {
  /// What is told beside the verdict where the org does not do it: of an undoing the org holds what was sent
  /// still, and not the values that were to be put back.
  fileprivate var detailOfFailure: OutcomeDetail {
    var detail = expected.detail
    if edit.isToBeUndone {
      for place in detail.fields.indices {
        detail.fields[place].server = detail.fields[place].sent
      }
    }
    return detail
  }
}
