import JSON
import Ledger
import MobileSync
import Salesforce
import System

extension Reconciler {
  /// Writes whose records are to be read, and the reader.
  typealias Written = (operations: [OperationRow], access: RecordReader)

  /// Reads the dates and values of records after attache's writes, so that these do not look like
  /// conflicts later.
  ///
  /// This is the only place that does so, 2,000 records at a time.
  nonisolated(nonsending) func recordServerState(after written: [Written]) async throws {
    let groups = Self.grouped(written)
    await RecordReader.ask(
      groups.map { RecordReader.Inquiry($0.access, .describe($0.sobject)) },
      inFlight: options.inFlight)
    var questions: [RecordReader.Inquiry] = []
    for (sobject, operations, access) in groups {
      guard let describe = access.known(sobject) else { continue }
      let ids = operations.compactMap(\.recordID)
      let fields = try fieldsLeft(by: operations, describe)
      questions.append(
        RecordReader.Inquiry(access, .records(sobject, ids: ids, fields: fields)))
    }
    await RecordReader.ask(questions, inFlight: options.inFlight)
    var read: [ReadBack] = []
    do {
      for group in groups {
        do {
          read.append(try await readBack(group))
        } catch let error as OrgError {
          // The writes stand; a later return of the device is compared without their dates.
          try await checkAlone(error, group.access)
          summary.warnings.append("records written to \(group.sobject) could not be read back")
        }
      }
    } catch {
      try enter(read)
      throw error
    }
    try enter(read)
    for (_, access) in written { access.forgetAnswers() }
  }

  private typealias Group = (sobject: String, operations: [OperationRow], access: RecordReader)

  /// Groups writes by object and user, also if that user sends for many.
  private static func grouped(_ written: [Written]) -> [Group] {
    var groups: [Group] = []
    for (operations, access) in written {
      for operation in operations {
        let place = groups.lastIndex { $0.access === access && $0.sobject == operation.sobject }
        if let place {
          groups[place].operations.append(operation)
        } else {
          groups.append((operation.sobject, [operation], access))
        }
      }
    }
    return groups
  }

  /// The content of records after some writes, and the org's label for their object.
  private typealias ReadBack = (
    group: Group, describe: Describe, found: [String: JSONObject], gone: [String: String]
  )

  private nonisolated(nonsending) func readBack(_ group: Group) async throws -> ReadBack {
    let describe = try await group.access.describe(group.sobject)
    let found = try await group.access.records(
      group.sobject, ids: group.operations.compactMap(\.recordID),
      fields: try fieldsLeft(by: group.operations, describe))
    return (group, describe, found, try await whatBecame(of: group, found))
  }

  /// What happened to records that can no longer be read, as messages by record ID: the org's rules
  /// or a user may delete or hide a record right after it was written.
  private nonisolated(nonsending) func whatBecame(
    of group: Group, _ found: [String: JSONObject]
  ) async throws -> [String: String] {
    // Presumed records cannot disappear.
    let ids = group.operations.compactMap { $0.recordID?.recordID18 }
    let missing = ids.filter { found[$0] == nil }
    guard presumed == nil, !missing.isEmpty else { return [:] }
    var rows: [String: JSONObject]?
    do {
      rows = try await group.access.withBin(
        group.sobject, ids: missing, fields: ["MasterRecordId"])
    } catch {
      // The writes stand, and the report says that their records cannot be read.
      try await checkAlone(error, group.access)
    }
    return Dictionary(
      missing.map { ($0, "the record could not be read back" + Self.fate(of: $0, in: rows)) }
    ) { first, _ in first }
  }

  private static func fate(of id: String, in rows: [String: JSONObject]?) -> String {
    guard let rows else { return "" }
    guard let row = rows[id] else {
      return ": it is not visible, not even in the recycle bin"
    }
    if let master = row["MasterRecordId"]?.string { return ": it has been merged into \(master)" }
    return row["IsDeleted"]?.bool == true
      ? ": it has been deleted" : ": its sender can no longer see it"
  }

  /// Records the state after writes, in one transaction.
  private func enter(_ read: [ReadBack]) throws {
    if read.isEmpty { return }
    try state.connection.transaction {
      for (group, describe, found, gone) in read {
        if let label = describe.label { try state.store(label, as: .label(describe.name)) }
        let all = try group.operations.map(resolved).map { try left(by: $0, found, group.access) }
        try state.noteLeft(all)
        for (operation, _, record) in all {
          if let words = operation.recordID?.recordID18.flatMap({ gone[$0] }) {
            try state.noteWords(words, beside: operation.editID, run: run.id)
          } else if let record {
            try state.noteKept(operation, record: record, run: run.id)
          }
        }
      }
    }
  }

  /// The state of a record after a write.
  ///
  /// Fields that it did not send, which were read for other writes, say nothing about what its
  /// device was issued (`FieldKnowledge`).
  ///
  /// If another user wrote in between, the values are not attache's. A device that has seen that
  /// date has seen the write anyway.
  private func left(
    by operation: OperationRow, _ found: [String: JSONObject], _ access: RecordReader
  ) throws -> LedgerDatabase.Left {
    let record = operation.recordID.flatMap { found[$0] } ?? [:]
    let date = record[try modificationField(of: operation)]?.string
    let isOurs = Self.isLeft(record, date, by: operation, access.session.identity.userID)
    return (operation, date, isOurs ? record : nil)
  }

  /// The fields to read back after writes.
  private func fieldsLeft(by operations: [OperationRow], _ describe: Describe) throws -> [String] {
    var names: Set<String> = ["LastModifiedById"]
    for operation in operations {
      names.formUnion(operation.payload.names)
      names.insert(try modificationField(of: operation))
    }
    return ["Id"] + names.subtracting(["Id"]).filter { describe.field($0) != nil }.sorted()
  }

  /// The field whose date the device's copy of a record has.
  func modificationField(of operation: OperationRow) throws -> String {
    if let known = operation.modificationField { return known }
    let soup = try state.openEdit(id: operation.editID)?.soup
    let rule = rules.first { $0.soup == soup }
    return rule?.target.modificationDateFieldName ?? TargetFields().modificationDateFieldName
  }

  /// Whether a record is in the state that a write left.
  ///
  /// The sender may have changed it manually since. So it must have the values that were sent or,
  /// if an automation changed them, a date from that time.
  private static func isLeft(
    _ record: JSONObject, _ date: String?, by operation: OperationRow, _ userID: String
  ) -> Bool {
    let writer = record["LastModifiedById"]?.string?.recordID18
    guard writer == operation.senderID ?? userID else { return false }
    if WriteEvidence.isWhole(operation.payload, in: record) { return true }
    guard let written = date.flatMap({ Dates.milliseconds(iso8601: $0) }),
      let sent = operation.lastSentMilliseconds ?? operation.sentMilliseconds
    else { return false }
    return written <= sent + OperationRow.writeMilliseconds
  }
}
