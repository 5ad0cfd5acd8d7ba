import JSON
import Salesforce
import System

extension Reconciler {
  /// Finds out what became of writes that were sent and not answered, also by a run that died.
  ///
  /// Nothing is sent here: what did not arrive is planned anew.
  func settleDoubts(of snapshotID: String? = nil) async throws {
    var doubtful: [(operation: OperationRow, snapshotID: String, edit: OpenEdit)] = []
    for operation in try state.unfinishedOperations() {
      guard let found = try state.openEdit(id: operation.editID) else { continue }
      if let snapshotID, found.snapshotID != snapshotID { continue }
      switch operation.state {
      case "planned":
        if snapshotID == nil { try state.move(operation, to: "dropped") }
      case "sent":
        if snapshotID == nil {
          try state.move(operation, to: "doubt")
          doubtful.append((operation, found.snapshotID, found.edit))
        }
      default: doubtful.append((operation, found.snapshotID, found.edit))
      }
    }
    if snapshotID == nil { try await readUnread() }
    for (snapshotID, group) in Dictionary(grouping: doubtful, by: \.snapshotID).sorted(by: {
      $0.key < $1.key
    }) {
      guard let access = try await access(to: snapshotID) else { continue }
      let rows = group.map { DoubtfulWrite(operation: $0.operation, edit: $0.edit) }
      for (sobject, writes) in Dictionary(grouping: rows, by: \.operation.sobject).sorted(by: {
        $0.key < $1.key
      }) {
        try await settle(writes, sobject, snapshotID, access)
      }
    }
  }

  /// Writes of this run that were answered, while nobody asked yet what they left.
  private func readUnread() async throws {
    var groups: [String: [OperationRow]] = [:]
    for operation in try state.unreadOperations(run: run.id) {
      guard let found = try state.openEdit(id: operation.editID) else { continue }
      var operation = operation
      operation.recordID = try state.resultID(of: operation) ?? operation.recordID
      groups[found.snapshotID, default: []].append(operation)
    }
    for (snapshotID, operations) in groups.sorted(by: { $0.key < $1.key }) {
      guard let access = try await access(to: snapshotID) else { continue }
      try await noteLeft(operations, access)
    }
  }

  private func settle(
    _ writes: [DoubtfulWrite], _ sobject: String, _ snapshotID: String, _ access: OrgRecords
  ) async throws {
    let search = DoubtSearch(
      access: access, state: state, options: options, sobject: sobject, run: run)
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

  /// Enters an answer; returns the write if it was done and left something to read.
  private func enter(_ answer: DoubtAnswer, of write: DoubtfulWrite) throws -> OperationRow? {
    let operation = write.operation
    switch answer {
    case .done(let id, let created):
      try state.finish(operation, .done(recordID: id))
      try state.settle(
        operation.editID, run: run.id,
        outcome(of: operation, write.edit, id: id, created: created))
      summary.writes += 1
      var written = operation
      written.recordID = id ?? operation.recordID
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
    case .unknown(let words):
      try inDoubt(operation, words)
      return nil
    }
  }

  private func inDoubt(_ operation: OperationRow, _ words: String) throws {
    var detail = operation.expected.detail
    detail.message = words
    try state.settle(operation.editID, run: run.id, Settlement(.inDoubt, detail))
  }
}

/// A write without an answer.
struct DoubtfulWrite {
  var operation: OperationRow
  var edit: OpenEdit
}

/// What was found out about it.
enum DoubtAnswer {
  case done(id: String?, created: Bool?)
  case notDone
  case unknown(String)
}
