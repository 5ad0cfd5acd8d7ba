import JSON
import Ledger
import MobileSync
import Salesforce
import System

// The watch for requests that create or delete a record.
extension Reconciler {
  nonisolated(nonsending) func lookForDeleted(
    _ writes: [Write], _ key: DoubtKey, _ access: RecordReader
  ) async throws {
    guard !writes.isEmpty else { return }
    let ids = writes.compactMap(\.operation.recordID)
    let found = try await access.records(key.sobject, ids: ids, fields: ["Id"])
    let absent = ids.filter { found[$0] == nil }
    if absent.isEmpty { return }
    let proofs = try await access.prove(key.sobject, absent: absent)
    let bin = try await access.withBin(key.sobject, ids: absent, fields: UndoRule.binFields)
    for write in writes {
      guard let id = write.operation.recordID,
        proofs[id] == .deleted || bin[id].map(Self.isDeleted) == true
      else { continue }
      if let sender = write.operation.senderID,
        let deleter = bin[id].flatMap(UndoRule.deleter(inBin:)), deleter != sender
      {
        continue
      }
      let dates = bin[id].map(Self.deletionDates) ?? []
      if let until = try deletedBefore(write.operation) {
        // attache deleted it once; only a later date shows that it was restored and deleted again.
        guard let last = dates.max(), last > until else { continue }
      }
      let below = try await writesBelow(write.operation, deletedAt: dates, access)
      try enterDeleted(write, id, by: access.session.serverDate ?? run.now, below)
    }
  }

  /// Whether a row of the recycle bin was deleted rather than merged.
  private static func isDeleted(_ row: JSONObject) -> Bool {
    row["IsDeleted"]?.bool == true && row["MasterRecordId"]?.string == nil
  }

  /// The latest time, in ms of the org's time, at which the record of a deletion was known to be
  /// deleted; nil if it was not.
  private func deletedBefore(_ operation: OperationRow) throws -> Int64? {
    guard let id = operation.recordID else { return nil }
    if let last = try state.lastDeletion(of: id) { return last }
    return try state.noticed(
      operation.editID,
      as: operation.purpose == .undo ? [.undone] : [.alreadyInOrg, .deleted])?.time
  }

  private func enterDeleted(
    _ write: Write, _ id: String, by time: Int64, _ below: [OperationRow]
  ) throws {
    let newer = try state.operations(.to(recordID: id)).last { $0.id > write.operation.id }
    try state.connection.transaction {
      var settlement = try lateSettlement(of: write.operation, write.edit, recordID: id)
      try state.finish(write.operation, .done(recordID: id))
      try state.note(.gone(by: time), of: [write.operation])
      var others: Set<Int64> = [write.edit.id]
      for newer in [newer].compactMap(\.self) + below where others.insert(newer.editID).inserted {
        var detail = newer.expected.detail
        detail.recordID = newer.resultID
        detail.otherEdits = [write.edit.id]
        detail.message = "the deletion of an older edit arrived late, after this edit was written"
        var settlement = Settlement(.deletedOnServer, detail)
        try report(&settlement, of: newer.editID)
      }
      if let newer, newer.editID != write.edit.id { return }
      if settlement.verdict != .conflict {
        settlement.detail.message =
          "it is deleted; the request without an answer may have arrived late"
      }
      others.remove(write.edit.id)
      settlement.detail.otherEdits += others.sorted()
      try report(&settlement, of: write.edit.id)
    }
  }

  /// The last writes of attache to records that were deleted together with the record of a late
  /// deletion, after it was sent.
  private nonisolated(nonsending) func writesBelow(
    _ operation: OperationRow, deletedAt dates: [Int64], _ access: RecordReader
  ) async throws -> [OperationRow] {
    let later = dates.isEmpty ? [] : try state.operations(.last(after: operation.id))
    var below: [OperationRow] = []
    for (sobject, writes) in Dictionary(grouping: later, by: \.sobject)
      .sorted(by: { $0.key < $1.key })
    {
      let ids = Set(writes.compactMap(\.resultID)).subtracting([operation.recordID ?? ""]).sorted()
      if ids.isEmpty { continue }
      let bin = try await access.withBin(sobject, ids: ids, fields: UndoRule.binDates)
      for write in writes {
        guard let row = write.resultID.flatMap({ bin[$0] }), Self.isDeleted(row),
          Self.deletionDates(row).contains(where: { date in
            dates.contains { abs($0 - date) <= Self.cascadeMilliseconds }
          })
        else { continue }
        below.append(write)
      }
    }
    return below
  }

  /// The longest time within which an org deletes the records below a deleted one.
  private static let cascadeMilliseconds: Int64 = 5000

  private static func deletionDates(_ row: JSONObject) -> [Int64] {
    UndoRule.binDates.compactMap { row[$0]?.string }.compactMap { Dates.milliseconds(iso8601: $0) }
  }

  /// Looks for the records of creates that were considered lost, or were matched to other records.
  nonisolated(nonsending) func lookForCreated(
    _ writes: [Write], _ key: DoubtKey, _ access: RecordReader
  ) async throws {
    guard !writes.isEmpty else { return }
    var resolver = resolver(access)
    // A record that a create with an unknown outcome may have created is left to that create.
    resolver.rivals = try state.operations(.unfinished).filter {
      $0.action == .create && $0.sobject == key.sobject
    }.map { try pending($0, access) }
    var writes = writes
    while true {
      let arrived = try await resolver.arrived(
        writes.map { try pending($0.operation, access) }, of: key.sobject
      ) { [writes] in
        let edit = writes[$0].edit.id
        return try state.doneRecordID(of: edit) != nil || state.verdict(of: edit)?.isSettled == true
      }
      // Another record may look the same: every one is reported.
      var isLast = true
      for (place, made) in arrived.enumerated() {
        guard let made else { continue }
        let words = try Self.lateWords(state.verdict(of: writes[place].edit.id))
        guard try enter(made, of: writes[place], words) else { continue }
        writes[place].operation.state = .done
        isLast = false
      }
      if isLast { return }
    }
  }

  /// Looks for the record of a create with a unique value: the record with this value, if nothing
  /// else accounts for it.
  nonisolated(nonsending) func lookForKeyed(
    _ write: Write, _ access: RecordReader
  ) async throws {
    let records = try await keyed(write, access)
    guard let record = records.first(where: { $0["IsDeleted"]?.bool != true }),
      let made = UnacknowledgedCreates.Made(record, sent: write.operation.payload),
      // A record created since by another edit of the row has the same identity.
      try !state.isClaimed(recordID: made.id)
    else { return }
    try enter(made, of: write, Self.lateWords(state.verdict(of: write.edit.id)))
  }

  /// Whether an upsert created a record that has its key.
  ///
  /// A record created since by another edit of the row has the same key.
  func isCreated(
    _ record: JSONObject, by write: Write, _ access: RecordReader
  ) throws -> Bool {
    let operation = write.operation
    guard operation.action == .upsert, let id = operation.recordID,
      let sender = operation.senderID, record["CreatedById"]?.string?.recordID18 == sender
    else { return false }
    let times = resolver(access).unacknowledged(try pending(operation, access))
    return try UnacknowledgedCreates.isInTime(of: times, record) && !state.isClaimed(recordID: id)
  }

  /// The record that an edit is known to have created.
  func existing(_ write: Write) throws -> String? {
    try state.doneRecordID(of: write.edit.id) ?? write.edit.creation?.recordID
  }

  /// Records another record of an edit, or the first one of an edit without a record; the result is
  /// whether it was not known yet.
  @discardableResult func enter(
    _ made: UnacknowledgedCreates.Made, of write: Write, _ words: String
  ) throws -> Bool {
    let existing = try existing(write)
    let told = try state.reported(made.id, of: write.edit.id)
    // An operator who named another record had seen this one.
    if told.isDuplicate || told.isPassedOver && existing != nil && existing != made.id {
      return false
    }
    var message = [words]
    if let sender = write.operation.senderID, let creator = made.creatorID, creator != sender {
      message.append("another user had created \(made.id)")
    }
    message += made.becameOf
    try state.connection.transaction {
      var settlement = try lateSettlement(of: write.operation, write.edit, recordID: made.id)
      // An existing match is kept.
      if write.operation.state == .dropped {
        try state.finish(write.operation, .done(recordID: made.id))
      }
      if let existing, existing != made.id {
        var detail = write.operation.expected.detail
        detail.recordID = existing
        detail.otherID = made.id
        // Those that still have to be decided about stay in the report.
        if try state.verdict(of: write.edit.id) == .duplicateCreated,
          let told = try state.toldTwins(of: write.edit.id)
        {
          let all = Set([told.first, told.second, made.id] + told.others).subtracting([existing])
          if all.contains(told.second) { detail.otherID = told.second }
          if all.count > 1 { detail.candidates = all.sorted() }
        }
        settlement = Settlement(.duplicateCreated, detail)
        // Later edits of its device also report both records, until one of them is chosen.
        if let creation = write.edit.creation {
          try state.note(.second(made.id, beside: existing), of: creation.id)
        }
      } else if settlement.verdict == .conflict {
        settlement.detail.showNow(made.record)
      }
      settlement.detail.message = message.joined(separator: "; ")
      try report(&settlement, of: write.edit.id)
    }
    return true
  }
}
