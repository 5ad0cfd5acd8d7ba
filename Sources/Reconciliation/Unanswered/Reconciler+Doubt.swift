import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension Reconciler {
  /// Determines the outcome of writes that were sent and not answered, including those of an
  /// interrupted run.
  ///
  /// Nothing is sent here; writes that did not arrive are planned again.
  nonisolated(nonsending) func settleDoubts(of snapshots: Set<String>? = nil) async throws {
    let doubtful = try await settleNamed(try takeDoubtful(of: snapshots))
    if snapshots == nil { try await readUnread() }
    var rest = doubtful
    while !rest.isEmpty {
      // The ID of a child's parent is known when the parent's outcome is.
      var waiting = try rest.filter { try waits($0, for: rest) }
      if waiting.count == rest.count { waiting = [] }
      let later = Set(waiting.map(\.operation.id))
      for (key, group) in try await askable(rest.filter { !later.contains($0.operation.id) }) {
        // For its prior writes this run has already waited.
        try await settle(group.writes, key.sobject, group.access, waits: snapshots == nil)
      }
      rest = waiting
    }
  }

  /// Whether a write refers to a record by its local ID that another unanswered write may have
  /// created.
  private func waits(
    _ write: Write, for others: [Write]
  ) throws -> Bool {
    for (_, local) in parents(of: write.operation, write.edit) where RecordID(local) == nil {
      guard let parent = try state.creation(localID: local, of: write.edit), parent.recordID == nil
      else { continue }
      if others.contains(where: { $0.edit.creation?.id == parent.id }) { return true }
    }
    return false
  }

  /// A write with the IDs of parents created or recreated since it was planned.
  ///
  /// A child sent in one request with its parent refers to it by the local ID, but its record in
  /// the org does so by the ID.
  func resolved(_ operation: OperationRow) throws -> OperationRow {
    try resolved(operation, isWatched: false)
  }

  /// If the parent has, or may have, another record than the known one, a watched child may belong to
  /// that, so the reference is left out.
  func resolved(_ operation: OperationRow, isWatched: Bool) throws -> OperationRow {
    guard rules.contains(where: { $0.parentField != nil }),
      let edit = try state.openEdit(id: operation.editID)
    else { return operation }
    var operation = operation
    for (name, parent) in parents(of: operation, edit) {
      let creation = try parent.recordID18 == nil ? state.creation(localID: parent, of: edit) : nil
      if isWatched, let creation, creation.records.contains(where: { $0 != creation.recordID }) {
        operation.payload[name] = nil
        continue
      }
      guard let known = parent.recordID18 ?? creation?.recordID else { continue }
      operation.payload[name] = .string(try state.remade([known])[known]?.id ?? known)
    }
    return operation
  }

  /// The parent references of a write, with their values.
  func parents(
    of operation: OperationRow, _ edit: OpenEdit
  ) -> [(name: String, parent: String)] {
    Set(rules.filter { $0.soup == edit.soup }.compactMap(\.parentField)).sorted().compactMap {
      guard let parent = operation.payload[$0]?.string, !parent.isEmpty else { return nil }
      return ($0, parent)
    }
  }

  /// The writes with an unknown outcome; the plans of an interrupted run are discarded.
  private func takeDoubtful(of snapshots: Set<String>?) throws -> [Write] {
    var doubtful: [Write] = []
    for operation in try state.operations(.unfinished) {
      guard let edit = try state.openEdit(id: operation.editID) else { continue }
      if let snapshots, !snapshots.contains(edit.snapshotID) { continue }
      if operation.state == .planned || operation.state == .sent {
        guard snapshots == nil else { continue }
        try state.finish(operation, operation.state == .sent ? .doubt : .dropped)
        if operation.state == .planned { continue }
      }
      doubtful.append(Write(edit: edit, operation: operation))
    }
    return doubtful
  }

  struct DoubtKey: Hashable {
    var sobject: String
    /// The snapshot whose session is used; empty for the integration user, who can look up all.
    var snapshotID: String
  }

  struct DoubtGroup {
    var access: RecordReader
    var writes: [Write] = []
  }

  /// Groups writes by the query that looks them up, and by the user who can run it.
  nonisolated(nonsending) func askable(
    _ doubtful: [Write]
  ) async throws -> [(DoubtKey, DoubtGroup)] {
    var groups: [DoubtKey: DoubtGroup] = [:]
    for write in doubtful {
      guard let access = try await asker(of: write.edit.snapshotID) else { continue }
      let key = DoubtKey(
        sobject: write.operation.sobject,
        snapshotID: access.provesDeletions ? "" : write.edit.snapshotID)
      groups[key, default: DoubtGroup(access: access)].writes.append(write)
    }
    return groups.sorted {
      ($0.key.sobject, $0.key.snapshotID) < ($1.key.sobject, $1.key.snapshotID)
    }
  }

  /// The reader for a snapshot's writes: the integration user or, if there is none, the snapshot's
  /// user; nil if neither can log in.
  nonisolated(nonsending) func asker(of snapshotID: String) async throws -> RecordReader? {
    if let integration = try await integration() { return integration }
    return try await sender(of: snapshotID)
  }

  /// The reader of a snapshot's user; nil if the user cannot log in, which does not stop the edits
  /// of others.
  nonisolated(nonsending) func sender(of snapshotID: String) async throws -> RecordReader? {
    do {
      return try await access(to: snapshotID)
    } catch let error as OrgError where error.kind == .authentication || error.kind == .permission {
      return nil
    }
  }

  /// Reads the records of writes that were answered but not read back, by this run or an
  /// interrupted one.
  private nonisolated(nonsending) func readUnread() async throws {
    var groups: [String: [OperationRow]] = [:]
    for operation in try state.operations(.unread(since: state.watchStart(run))) {
      guard let edit = try state.openEdit(id: operation.editID) else { continue }
      var operation = operation
      operation.recordID = operation.resultID ?? operation.recordID
      groups[edit.snapshotID, default: []].append(operation)
    }
    var unread: [(operations: [OperationRow], access: RecordReader)] = []
    for (snapshotID, operations) in groups.sorted(by: { $0.key < $1.key }) {
      guard let access = try await asker(of: snapshotID) else { continue }
      unread.append((operations, access))
    }
    try await recordServerState(after: unread)
  }

  private nonisolated(nonsending) func settle(
    _ writes: [Write], _ sobject: String, _ access: RecordReader,
    waits: Bool
  ) async throws {
    var resolver = resolver(access)
    if waits { resolver.mayWait = options.mayWait }
    let noted = try writes.map { try pending($0.operation, access) }
    if noted.contains(where: { $0.action == .create || $0.job != nil }) {
      resolver.senders = try await senders(of: writes)
    }
    if noted.contains(where: { $0.action == .create }) {
      let asked = Set(writes.map(\.operation.id))
      // Other creates without an answer from the same sender, of any snapshot.
      resolver.rivals = try state.operations(.unfinished).filter {
        $0.action == .create && $0.externalField == nil && $0.sentMilliseconds != nil
          && $0.state != .planned && !asked.contains($0.id)
      }.map { try pending($0, access) }
    }
    var findings: [InDoubtResolver.Resolution]
    do {
      findings = try await resolver.resolve(noted, of: sobject)
    } catch let error as OrgError {
      try await checkAlone(error, access)
      // If the user's session is invalid, the writes stay unconfirmed and the other users continue.
      if error.isAboutTheUser {
        return tellInDoubt(writes.count, of: writes[0].edit.snapshotID, error)
      }
      findings = writes.map { _ in .unclear("the search failed: \(error.message)") }
    }
    let atWork = zip(writes, findings).compactMap { write, finding -> Write? in
      if case .atWork = finding { write } else { nil }
    }
    try await noteBefore(atWork, sobject, access)
    var done: [OperationRow] = []
    try state.connection.transaction {
      for (write, finding) in zip(writes, findings) {
        let isOver = resolver.unacknowledged(try pending(write.operation, access)).isOver
        let now = access.session.serverDate ?? run.now
        if var operation = try enter(finding, of: write, isOver: isOver, now: now) {
          try noteEnd(ofJobOf: &operation, access)
          done.append(operation)
        }
      }
    }
    try await recordServerState(after: [(done, access)])
  }

  /// Reports that a user's unconfirmed writes cannot be looked up, because the session is invalid.
  func tellInDoubt(_ count: Int, of snapshotID: String, _ error: OrgError) {
    if count == 0 { return }
    let username = (try? state.snapshotRow(id: snapshotID))?.username ?? snapshotID
    let verb = count == 1 ? "stays" : "stay"
    summary.warnings.append(
      "\(CountText.of(count, "edit")) of \(username) \(verb) unconfirmed: \(Self.words(error))")
  }

  /// Records when a bulk job had finished a write; the record may have any date until then.
  func noteEnd(ofJobOf operation: inout OperationRow, _ access: RecordReader) throws {
    guard operation.job != nil else { return }
    let end = max(operation.sentMilliseconds ?? 0, access.session.serverDate ?? run.now)
    operation.sentMilliseconds = end
    try state.note(.end(end), of: [operation])
  }

  /// The resolver for this ledger's unconfirmed writes.
  func resolver(_ access: RecordReader) -> InDoubtResolver {
    let state = state
    var resolver = InDoubtResolver(
      reader: access, unansweredWaitSeconds: options.unansweredWaitSeconds
    ) {
      try state.isClaimed(recordID: $0, orReported: true)
    }
    resolver.inFlight = options.inFlight
    return resolver
  }

  /// A write of the ledger in the resolver's form.
  func pending(_ operation: OperationRow, _ access: RecordReader) throws -> PendingWrite {
    let operation = try resolved(operation)
    let identity = access.session.identity
    let own = operation.sender == identity.username ? identity.userID : nil
    let sent = operation.sentMilliseconds ?? 0
    var write = PendingWrite(
      operation.action, operation.sobject, userID: operation.senderID ?? own,
      recordID: operation.recordID, externalField: operation.externalField,
      externalValue: operation.externalValue, fields: operation.payload, seen: operation.seen,
      since: operation.sinceMilliseconds ?? sent,
      sent: max(sent, operation.lastSentMilliseconds ?? sent))
    write.isPresumed = operation.isPresumed
    write.isRevised = operation.isRevised
    if write.isPresumed { write.otherSenders = operation.otherSenders }
    write.job = operation.job
    return write
  }

  /// The readers for those who sent writes, as far as they can still log in.
  private nonisolated(nonsending) func senders(of writes: [Write]) async throws -> [String:
    RecordReader]
  {
    var readers: [String: RecordReader] = [:]
    for snapshotID in Set(writes.map(\.edit.snapshotID)).sorted() {
      guard let own = try await sender(of: snapshotID) else { continue }
      readers[own.session.identity.userID] = own
    }
    return readers
  }

  /// Records a resolution; returns the write if it was done and its record has to be read.
  private func enter(
    _ finding: InDoubtResolver.Resolution, of write: Write, isOver: Bool, now: Int64
  ) throws -> OperationRow? {
    let operation = write.operation
    switch finding {
    case .done(let done): return try enter(done, of: write, now: now)
    case .notDone where operation.isRestoring:
      // Its edit is open, and is not sent again.
      try state.finish(operation, .dropped)
      var settlement = operation.expected
      settlement.detail.showNow(operation.seen?.object ?? [:])
      try settle(operation.editID, settlement)
      return nil
    case .notDone:
      // Once per run, so that an org that loses every answer cannot keep the run busy.
      guard resent.insert(operation.editID).inserted else {
        try inDoubt(operation, "the org answered none of the attempts")
        return nil
      }
      try reopen(operation)
      try reopenFollowers(of: operation.editID)
      redone.insert(operation.editID)
      return nil
    case .atWork(let words):
      // Whatever the decision is: if it were sent again, there would be two records.
      try inDoubt(operation, words)
      return nil
    case .unclear(let words, let ids):
      if let decision = decidedInDoubt(write, isOver: isOver),
        decision == .discard || resent.insert(operation.editID).inserted
      {
        // It is discarded or sent again.
        try reopen(operation)
        return nil
      }
      try inDoubt(operation, words, candidates: ids)
      return nil
    }
  }

  /// Reopens the edit of a write that was not done.
  private func reopen(_ operation: OperationRow) throws {
    try state.finish(operation, .dropped)
    try state.reopen(operation.editID, run: run.id)
    if operation.isSeparate { alone.insert(operation.editID) }
  }

  /// Records the outcome of a write that was done; returns it if its record has to be read.
  private func enter(
    _ done: InDoubtResolver.Resolution.Done, of write: Write, now: Int64
  ) throws -> OperationRow? {
    let operation = write.operation
    let overwritten = done.isSomebodyElses ? [:] : try overwritten(by: operation)
    if done.isSomebodyElses, operation.action == .update {
      // Another user's values shows nothing about the request, so it stays watched.
      try state.finish(operation, .dropped)
    } else {
      try state.finish(operation, .done(recordID: done.id))
    }
    var settlement = outcome(of: operation, write.edit, id: done.id, created: done.isCreated)
    if done.isSomebodyElses {
      if settlement.verdict == .updated { settlement.verdict = .alreadyInOrg }
      settlement.detail.message =
        "no answer came back; the org has the sent values, but another user wrote last"
    }
    if done.isDeletedSince {
      settlement.detail.message =
        "no answer came back; the record had the sent values when it was deleted"
    }
    if let made = done.made { Self.tell(made, operation, &settlement.detail) }
    if operation.sinceMilliseconds != nil {
      let words = "the org already had the record: a run that this ledger does not know sent it"
      settlement.detail.message = ([words] + (done.made?.becameOf ?? [])).joined(separator: "; ")
    }
    if let made = done.made, operation.externalField != nil, operation.action == .create,
      !made.changed.isEmpty, try mayBeOfEarlierState(operation, write.edit)
    {
      var sent = operation.payload
      for name in made.changed { sent[name] = made.record[name] }
      try state.note(.sent(sent), of: [operation])
      settlement.verdict = .conflict
      settlement.detail.message =
        "the org has this record, which an earlier state of the device's row may have created: other values are in "
        + made.changed.joined(separator: ", ")
    }
    if settlement.verdict.isWritten || settlement.verdict.isUndone, try isGivenUp(write.edit) {
      settlement.verdict = .conflict
      settlement.detail.message =
        "the edit was discarded before its answer was known, and the request did arrive"
      settlement.detail.showNow(operation.payload)
    }
    try tell(overwritten, by: operation, write.edit, &settlement)
    try settle(operation.editID, settlement)
    if operation.action == .update, done.isSomebodyElses { return nil }
    summary.writes += 1
    var written = operation
    written.recordID = done.id ?? operation.recordID
    guard operation.action == .delete else { return written }
    try state.note(.gone(by: now), of: [operation])
    try reopenFollowers(of: operation.editID)
    return nil
  }

  /// Reopens the edits of details deleted with a deletion of this run, once that deletion's outcome
  /// is known.
  private func reopenFollowers(of edit: Int64) throws {
    for follower in followers.removeValue(forKey: edit) ?? [] {
      try state.reopen(follower, run: run.id)
    }
  }

  /// Whether the record with an edit's identity may come from an earlier state of its row.
  ///
  /// In that case a difference is either the device's later edit or another user's change, and it
  /// is unknown which.
  private func mayBeOfEarlierState(_ operation: OperationRow, _ edit: OpenEdit) throws -> Bool {
    if operation.sinceMilliseconds != nil { return operation.isRevised }
    guard let creation = edit.creation else { return false }
    let ofRow = try state.history(of: RecordHistory.Key(creationID: creation.id)).entries
    return try state.operations(.ofEdits(Set(ofRow.map(\.id)).subtracting([edit.id])))
      .contains { $0.action == .create && $0.attempt > 0 }
  }

  /// Adds the current state of a record to the verdict.
  static func tell(
    _ made: UnacknowledgedCreates.Made, _ operation: OperationRow, _ detail: inout OutcomeDetail
  ) {
    if let words = made.words { detail.message = words }
    if let master = made.masterID { detail.otherID = master }
    detail.fields.removeAll { made.changed.contains($0.name) }
    detail.fields += made.changed.map { name in
      FieldDifference(
        name: name, base: nil, device: operation.payload[name], server: made.record[name])
    }
  }

  private func inDoubt(
    _ operation: OperationRow, _ words: String, candidates: [String] = []
  ) throws {
    var detail = operation.expected.detail
    detail.message = words
    detail.candidates = candidates
    if candidates.count == 1 { detail.otherID = candidates[0] }
    try settle(operation.editID, Settlement(.unconfirmed, detail))
  }
}
