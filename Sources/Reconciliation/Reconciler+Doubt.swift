import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension Reconciler {
  /// Finds out what became of writes that were sent and not answered, also by a run that died.
  ///
  /// Nothing is sent here: what did not arrive is planned anew.
  nonisolated(nonsending) func settleDoubts(of snapshots: Set<String>? = nil) async throws {
    let doubtful = try await settleNamed(try takeDoubtful(of: snapshots))
    if snapshots == nil { try await readUnread() }
    var rest = doubtful
    while !rest.isEmpty {
      // By which Id a child names its parent is known when that has been found.
      var waiting = try rest.filter { try waits($0.1, for: rest) }
      if waiting.count == rest.count { waiting = [] }
      let later = Set(waiting.map(\.1.operation.id))
      for (key, group) in try await askable(rest.filter { !later.contains($0.1.operation.id) }) {
        // What this run has sent it has waited for already.
        try await settle(group.writes, key.sobject, group.access, waits: snapshots == nil)
      }
      rest = waiting
    }
  }

  /// Whether a write names a record by its local id that another one without an answer may have made.
  private func waits(
    _ write: DoubtfulWrite, for others: [(String, DoubtfulWrite)]
  ) throws -> Bool {
    for (_, local) in parents(of: write.operation, write.edit) where RecordID(local) == nil {
      guard let parent = try state.creation(localID: local, of: write.edit), parent.recordID == nil
      else { continue }
      if others.contains(where: { $0.1.edit.creation?.id == parent.id }) { return true }
    }
    return false
  }

  /// A write with the Ids of parents that were made, or made anew, since it was planned: a child that left in one
  /// request with its parent names that as its device does, and its record in the org by the Id.
  func resolved(_ operation: OperationRow) throws -> OperationRow {
    guard rules.contains(where: { $0.parentField != nil }),
      let edit = try state.openEdit(id: operation.editID)?.edit
    else { return operation }
    var operation = operation
    for (name, parent) in parents(of: operation, edit) {
      let known = try parent.recordID18 ?? state.creation(localID: parent, of: edit)?.recordID
      guard let known else { continue }
      operation.payload[name] = .string(try state.remade([known])[known]?.id ?? known)
    }
    return operation
  }

  /// The fields of a write that name a parent, with what they hold.
  private func parents(
    of operation: OperationRow, _ edit: OpenEdit
  ) -> [(name: String, parent: String)] {
    Set(rules.filter { $0.soup == edit.soup }.compactMap(\.parentField)).sorted().compactMap {
      guard let parent = operation.payload[$0]?.string, !parent.isEmpty else { return nil }
      return ($0, parent)
    }
  }

  /// The writes that nobody knows of what they did; plans that a dead run left are given up.
  private func takeDoubtful(of snapshots: Set<String>?) throws -> [(String, DoubtfulWrite)] {
    var doubtful: [(String, DoubtfulWrite)] = []
    for operation in try state.unfinishedOperations() {
      guard let found = try state.openEdit(id: operation.editID) else { continue }
      if let snapshots, !snapshots.contains(found.snapshotID) { continue }
      switch operation.state {
      case .planned:
        if snapshots == nil { try state.move(operation, to: .dropped) }
      case .sent:
        if snapshots == nil {
          try state.move(operation, to: .doubt)
          doubtful.append(
            (
              found.snapshotID,
              DoubtfulWrite(
                operation: operation, edit: found.edit, snapshotID: found.snapshotID)
            ))
        }
      default:
        doubtful.append(
          (
            found.snapshotID,
            DoubtfulWrite(
              operation: operation, edit: found.edit, snapshotID: found.snapshotID)
          ))
      }
    }
    return doubtful
  }

  private struct DoubtKey: Hashable {
    var sobject: String
    /// Whose session asks; empty for the integration user, who asks for all.
    var snapshotID: String
  }

  private struct DoubtGroup {
    var access: RecordReader
    var writes: [DoubtfulWrite] = []
  }

  /// Groups writes by what is asked together, and by who can ask.
  private nonisolated(nonsending) func askable(
    _ doubtful: [(String, DoubtfulWrite)]
  ) async throws -> [(DoubtKey, DoubtGroup)] {
    var groups: [DoubtKey: DoubtGroup] = [:]
    for (snapshotID, write) in doubtful {
      guard let access = try await asker(of: snapshotID) else { continue }
      let asksAll = access.provesDeletions
      let key = DoubtKey(
        sobject: write.operation.sobject, snapshotID: asksAll ? "" : snapshotID)
      groups[key, default: DoubtGroup(access: access)].writes.append(write)
    }
    return groups.sorted {
      ($0.key.sobject, $0.key.snapshotID) < ($1.key.sobject, $1.key.snapshotID)
    }
  }

  /// Who asks about the writes of a snapshot: the integration user, or where there is none the
  /// snapshot's user; nil when nobody can.
  nonisolated(nonsending) func asker(of snapshotID: String) async throws -> RecordReader? {
    if let integration = try await integration() { return integration }
    do {
      return try await access(to: snapshotID)
    } catch let error as OrgError where error.kind == .authentication || error.kind == .permission {
      // One user who cannot log in is no reason to leave the others' edits.
      return nil
    }
  }

  /// Writes that were answered, by this run or by one that died, while nobody asked yet what they
  /// left.
  private nonisolated(nonsending) func readUnread() async throws {
    var groups: [String: [OperationRow]] = [:]
    for operation in try state.unreadOperations(since: run.now - Self.watchMilliseconds) {
      guard let found = try state.openEdit(id: operation.editID) else { continue }
      var operation = operation
      operation.recordID = try state.resultID(of: operation) ?? operation.recordID
      groups[found.snapshotID, default: []].append(operation)
    }
    var unread: [(operations: [OperationRow], access: RecordReader)] = []
    for (snapshotID, operations) in groups.sorted(by: { $0.key < $1.key }) {
      guard let access = try await asker(of: snapshotID) else { continue }
      unread.append((operations, access))
    }
    try await recordServerState(after: unread)
  }

  private nonisolated(nonsending) func settle(
    _ writes: [DoubtfulWrite], _ sobject: String, _ access: RecordReader,
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
      // Other creates without an answer, of any snapshot that has the same sender.
      resolver.rivals = try state.unfinishedOperations().filter {
        $0.action == .create && $0.externalField == nil && $0.sentMilliseconds != nil
          && $0.state != .planned && !asked.contains($0.id)
      }.map { try pending($0, access) }
    }
    var findings: [InDoubtResolver.Resolution]
    do {
      findings = try await resolver.resolve(noted, of: sobject)
    } catch let error as OrgError {
      try await checkAlone(error, access)
      // Of a user who is out nothing is found out: the doubts stay, and the others go on.
      if error.isAboutTheUser { return tellInDoubt(writes.count, of: writes[0].snapshotID, error) }
      findings = writes.map { _ in .unclear("the search failed: \(error.message)") }
    }
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

  /// Tells that nobody can ask about a user's doubts, as the user is out.
  func tellInDoubt(_ count: Int, of snapshotID: String, _ error: OrgError) {
    if count == 0 { return }
    let username = (try? state.snapshotRow(id: snapshotID))?.username ?? snapshotID
    summary.warnings.append("\(count) edits of \(username) stay unconfirmed: \(Self.words(error))")
  }

  /// Notes by when a bulk job was done with a write: what it left may bear any date until then.
  func noteEnd(ofJobOf operation: inout OperationRow, _ access: RecordReader) throws {
    guard operation.job != nil else { return }
    let end = max(operation.sentMilliseconds ?? 0, access.session.serverDate ?? run.now)
    operation.sentMilliseconds = end
    try state.noteEnd(of: operation, end)
  }

  /// Who finds out about writes of this ledger.
  func resolver(_ access: RecordReader) -> InDoubtResolver {
    let state = state
    var resolver = InDoubtResolver(
      reader: access, quietWindowSeconds: options.quietWindowSeconds
    ) { try state.isClaimed(recordID: $0) }
    resolver.inFlight = options.inFlight
    resolver.takesLikenessesOnly = LeftOut.rules.contains(.unacknowledgedCreates)
    return resolver
  }

  /// A write of the ledger as the resolver takes it.
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
    write.isPresumed = operation.sinceMilliseconds != nil
    write.isRevised = operation.isRevised
    if write.isPresumed { write.otherSenders = operation.otherSenders }
    write.job = operation.job
    return write
  }

  /// The readers of those who sent writes, as far as they can still log in.
  private nonisolated(nonsending) func senders(of writes: [DoubtfulWrite]) async throws -> [String:
    RecordReader]
  {
    var readers: [String: RecordReader] = [:]
    for snapshotID in Set(writes.map(\.snapshotID)).sorted() {
      do {
        guard let own = try await access(to: snapshotID) else { continue }
        readers[own.session.identity.userID] = own
      } catch let error as OrgError
        where error.kind == .authentication || error.kind == .permission
      {
        continue
      }
    }
    return readers
  }

  /// Enters a finding; returns the write if it was done and left something to read.
  private func enter(
    _ finding: InDoubtResolver.Resolution, of write: DoubtfulWrite, isOver: Bool, now: Int64
  ) throws -> OperationRow? {
    let operation = write.operation
    switch finding {
    case .done(let done): return try enter(done, of: write, now: now)
    case .notDone:
      // Once in a run; an org that swallows every answer must not keep us here.
      guard resent.insert(operation.editID).inserted else {
        try inDoubt(operation, "the org answered none of the attempts")
        return nil
      }
      try state.move(operation, to: .dropped)
      try state.reopen(operation.editID, run: run.id)
      try reopenFollowers(of: operation.editID)
      redone.insert(operation.editID)
      return nil
    case .atWork(let words):
      // Whatever a person has decided: sent again it would be there twice.
      try inDoubt(operation, words)
      return nil
    case .unclear(let words, let ids):
      if let decision = try decidedInDoubt(write, isOver: isOver),
        decision == .discard || resent.insert(operation.editID).inserted
      {
        // It is given up, or goes out once more.
        try state.move(operation, to: .dropped)
        try state.reopen(operation.editID, run: run.id)
        return nil
      }
      try inDoubt(operation, words, candidates: ids)
      return nil
    }
  }

  /// Enters what a write has done; returns it if it left something to read.
  private func enter(
    _ done: InDoubtResolver.Resolution.Done, of write: DoubtfulWrite, now: Int64
  ) throws -> OperationRow? {
    let operation = write.operation
    if done.isSomebodyElses, operation.action == .update {
      // Another user's values prove nothing of the request: it stays watched.
      try state.move(operation, to: .dropped)
    } else {
      try state.finish(operation, .done(recordID: done.id))
    }
    var settlement = outcome(of: operation, write.edit, id: done.id, created: done.isCreated)
    if done.isSomebodyElses {
      if settlement.verdict == .updated { settlement.verdict = .alreadyInOrg }
      settlement.detail.message =
        "no answer came back; the org holds what was sent, and another user wrote last"
    }
    if done.isDeletedSince {
      settlement.detail.message =
        "no answer came back; the record held what was sent when it was deleted"
    }
    if let made = done.made { Self.tell(made, operation, &settlement.detail) }
    if operation.sinceMilliseconds != nil {
      let words = "the org had the record: a run that this ledger does not know of has sent it"
      settlement.detail.message = ([words] + (done.made?.becameOf ?? [])).joined(separator: "; ")
    }
    if let made = done.made, operation.externalField != nil, operation.action == .create,
      !made.changed.isEmpty, try mayBeOfEarlierState(operation, write.edit)
    {
      var sent = operation.payload
      for name in made.changed { sent[name] = made.record[name] }
      try state.noteSent(operation, sent)
      settlement.verdict = .conflict
      settlement.detail.message =
        "the org has this record, and an earlier state of the device's may have made it: other values stand in "
        + made.changed.joined(separator: ", ")
    }
    if settlement.verdict.isWritten || settlement.verdict.isUndone, try isGivenUp(write.edit) {
      settlement.verdict = .conflict
      settlement.detail.message =
        "the edit was discarded before its answer was known, and the request did arrive"
      settlement.detail.showNow(operation.payload)
    }
    try state.settle(operation.editID, run: run.id, settlement)
    if operation.action == .update, done.isSomebodyElses { return nil }
    summary.writes += 1
    var written = operation
    written.recordID = done.id ?? operation.recordID
    guard operation.action == .delete else { return written }
    try state.noteGone(operation, by: now)
    try reopenFollowers(of: operation.editID)
    return nil
  }

  /// Takes up again the edits of details that go with a deletion of this run, once it is known what became of that.
  private func reopenFollowers(of edit: Int64) throws {
    for follower in followers.removeValue(forKey: edit) ?? [] {
      try state.reopen(follower, run: run.id)
    }
  }

  /// Whether what bears an edit's identity may have been made of an earlier state of its row: then what differs is
  /// the device's later edit, or somebody's change, and nobody knows which.
  private func mayBeOfEarlierState(_ operation: OperationRow, _ edit: OpenEdit) throws -> Bool {
    if operation.sinceMilliseconds != nil { return operation.isRevised }
    return try edit.creation.map { try state.wasTried($0.id, besides: edit.id) } ?? false
  }

  /// Puts what has become of a record since beside the verdict.
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
    try state.settle(operation.editID, run: run.id, Settlement(.unconfirmed, detail))
  }
}

/// A write without an answer.
struct DoubtfulWrite {
  var operation: OperationRow
  var edit: OpenEdit
  var snapshotID: String
}
