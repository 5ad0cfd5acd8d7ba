import JSON
import MobileSync
import Salesforce
import System

extension Reconciler {
  /// Finds out what became of writes that were sent and not answered, also by a run that died.
  ///
  /// Nothing is sent here: what did not arrive is planned anew.
  func settleDoubts(of snapshotID: String? = nil) async throws {
    let doubtful = try takeDoubtful(of: snapshotID)
    if snapshotID == nil { try await readUnread() }
    for (key, group) in try await askable(doubtful) {
      try await settle(group.writes, key.sobject, group.access)
    }
  }

  /// The writes that nobody knows of what they did; plans that a dead run left are given up.
  private func takeDoubtful(of snapshotID: String?) throws -> [(String, DoubtfulWrite)] {
    var doubtful: [(String, DoubtfulWrite)] = []
    for operation in try state.unfinishedOperations() {
      guard let found = try state.openEdit(id: operation.editID) else { continue }
      if let snapshotID, found.snapshotID != snapshotID { continue }
      switch operation.state {
      case "planned":
        if snapshotID == nil { try state.move(operation, to: "dropped") }
      case "sent":
        if snapshotID == nil {
          try state.move(operation, to: "doubt")
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
    var access: OrgRecords
    var writes: [DoubtfulWrite] = []
  }

  /// Groups writes by what is asked together, and by who can ask.
  private func askable(
    _ doubtful: [(String, DoubtfulWrite)]
  ) async throws -> [(DoubtKey, DoubtGroup)] {
    var groups: [DoubtKey: DoubtGroup] = [:]
    for (snapshotID, write) in doubtful {
      guard let access = try await asker(of: snapshotID) else { continue }
      let asksAll = access.integration != nil
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
  func asker(of snapshotID: String) async throws -> OrgRecords? {
    if let integration = try await session(.integration) {
      return OrgRecords(session: integration, integration: integration)
    }
    do {
      return try await access(to: snapshotID)
    } catch let error as OrgError where error.kind == .authentication || error.kind == .permission {
      // One user who cannot log in is no reason to leave the others' edits.
      return nil
    }
  }

  /// Writes that were answered, by this run or by one that died, while nobody asked yet what they
  /// left.
  private func readUnread() async throws {
    var groups: [String: [OperationRow]] = [:]
    for operation in try state.unreadOperations(since: run.now - Self.watchMilliseconds) {
      guard let found = try state.openEdit(id: operation.editID) else { continue }
      var operation = operation
      operation.recordID = try state.resultID(of: operation) ?? operation.recordID
      groups[found.snapshotID, default: []].append(operation)
    }
    for (snapshotID, operations) in groups.sorted(by: { $0.key < $1.key }) {
      guard let access = try await asker(of: snapshotID) else { continue }
      try await noteLeft(operations, access, isLate: true)
    }
  }

  private func settle(
    _ writes: [DoubtfulWrite], _ sobject: String, _ access: OrgRecords
  ) async throws {
    var search = DoubtSearch(
      access: access, state: state, options: options, sobject: sobject, run: run)
    if writes.contains(where: { $0.operation.action == .create }) {
      search.senders = try await senders(of: writes)
    }
    var decided: [(DoubtfulWrite, DoubtAnswer)] = []
    do {
      decided += try await search.updates(writes.filter { $0.operation.action == .update })
      decided += try await search.deletes(writes.filter { $0.operation.action == .delete })
      decided += try await search.upserts(writes.filter { $0.operation.action == .upsert })
      decided += try await search.creates(writes.filter { $0.operation.action == .create })
    } catch let error as OrgError {
      guard SnapshotPlanner.isAboutTheObject(error) else { throw error }
      decided = writes.map { ($0, .unknown("the search failed: \(error.message)")) }
    }
    var done: [OperationRow] = []
    try state.connection.transaction {
      for (write, answer) in decided {
        if let operation = try enter(answer, of: write) { done.append(operation) }
      }
    }
    try await noteLeft(done, access)
  }

  /// The sessions of those who sent writes, as far as they can still log in.
  private func senders(of writes: [DoubtfulWrite]) async throws -> [String: Session] {
    var sessions: [String: Session] = [:]
    for snapshotID in Set(writes.map(\.snapshotID)).sorted() {
      do {
        guard let own = try await access(to: snapshotID)?.session else { continue }
        sessions[own.identity.userID] = own
      } catch let error as OrgError
        where error.kind == .authentication || error.kind == .permission
      {
        continue
      }
    }
    return sessions
  }

  /// Enters an answer; returns the write if it was done and left something to read.
  private func enter(_ answer: DoubtAnswer, of write: DoubtfulWrite) throws -> OperationRow? {
    let operation = write.operation
    switch answer {
    case .done(let found):
      try state.finish(operation, .done(recordID: found.id))
      var settlement = outcome(
        of: operation, write.edit, id: found.id, created: found.created)
      if found.isSomebodyElses, settlement.verdict == .updated {
        settlement.verdict = .alreadyThere
      }
      found.tell(&settlement.detail)
      try state.settle(operation.editID, run: run.id, settlement)
      summary.writes += 1
      var written = operation
      written.recordID = found.id ?? operation.recordID
      return operation.action == .delete ? nil : written
    case .notDone:
      // Once in a run; an org that swallows every answer must not keep us here.
      guard resent.insert(operation.editID).inserted else {
        try inDoubt(operation, "the org answered none of the attempts")
        return nil
      }
      try state.move(operation, to: "dropped")
      try state.reopen(operation.editID, run: run.id)
      redone.insert(operation.editID)
      return nil
    case .unknown(let words, let otherID):
      try inDoubt(operation, words, otherID: otherID)
      return nil
    }
  }

  private func inDoubt(
    _ operation: OperationRow, _ words: String, otherID: String? = nil
  ) throws {
    var detail = operation.expected.detail
    detail.message = words
    detail.otherID = otherID ?? detail.otherID
    try state.settle(operation.editID, run: run.id, Settlement(.inDoubt, detail))
  }
}

/// A write without an answer.
struct DoubtfulWrite {
  var operation: OperationRow
  var edit: OpenEdit
  var snapshotID: String
}

/// What was found out about it.
enum DoubtAnswer {
  /// What a write that is done has left.
  struct Found {
    var id: String?
    /// What an upsert did; nil where it is not known, and for other writes.
    var created: Bool?
    /// What has become of the record since.
    var words: String?
    /// The record that it was merged into.
    var otherID: String?
    /// Sent fields that hold another value now.
    var differences: [FieldDifference] = []
    /// Whether another user wrote last, so that the values may be theirs.
    var isSomebodyElses = false

    /// Puts what a person should know beside the verdict.
    func tell(_ detail: inout OutcomeDetail) {
      if let words { detail.message = words }
      if let otherID { detail.otherID = otherID }
      let known = Set(differences.map(\.name))
      detail.fields = detail.fields.filter { !known.contains($0.name) } + differences
    }
  }

  case done(Found)
  case notDone
  /// Nobody can tell; with the one record that it may be about.
  case unknown(String, otherID: String? = nil)
}
