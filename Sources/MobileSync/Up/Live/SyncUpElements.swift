import JSON
import Salesforce
import SmartStore

/// The outcome of a local change, as its element must show it.
package struct SyncUpSettled: Sendable {
  /// The outcome of a change.
  package enum End: Sendable, Hashable {
    /// The org applied it; `id` is the record's ID now.
    case sent(id: String?)
    /// The org deleted the record; the element is removed from the store.
    case deleted
    /// The record was already deleted or never existed; the element is removed from the store.
    case removed
    /// The org refused the change; `error`, if any, is stored in the element.
    case failed(code: String, message: String, error: String?)
    case left(SyncReport.MergeReason)
    /// It is not known whether the org applied it.
    case unconfirmed(String)
  }

  let record: SyncUpRecord
  let operation: SyncOperation
  let end: End
  /// Whether it is the parent of a family.
  var isParent = false
  var isRecreated = false
  /// Further members for the element, unless they have been edited in the meantime.
  var members: [(name: String, value: JSONValue)] = []
  /// Whether the element is known to differ from what was sent.
  var isEdited = false

  package init(
    _ record: SyncUpRecord, as operation: SyncOperation? = nil, _ end: End, isParent: Bool = false
  ) {
    self.record = record
    self.operation = operation ?? record.operation
    self.end = end
    self.isParent = isParent
  }
}

/// The elements of a sync up: finds the dirty ones and stores their outcomes.
package struct SyncUpElements {
  let store: Store
  let soupName: String
  let target: SyncUpTarget

  package init(store: Store, soupName: String, target: SyncUpTarget) {
    self.store = store
    self.soupName = soupName
    self.target = target
  }

  /// The rows with local changes, in numeric order.
  package func dirtyIDs() throws(SyncError) -> [Int64] {
    try SyncError.inStore {
      var ids: [Int64] = []
      try store.forEachValue(of: StoreField.soupEntryID, in: soupName, .dirty) { id, _ in
        ids.append(id)
      }
      return ids.sorted()
    }
  }

  /// The message for an element whose index and flags contradict each other.
  package static let unclear =
    "the index on __local__ marks the element as changed, its __local__ does not: nothing was sent"

  /// The message for an element that cannot be read.
  static let damaged =
    "the element is not a JSON object: nothing was sent; the app must save it again or remove it"

  /// Returns the changed rows whose elements cannot be read, and reports each.
  func damaged(among ids: [Int64], _ context: SyncContext) throws(SyncError) -> Set<Int64> {
    var damaged: [Int64] = []
    try SyncError.inStore {
      try store.forEachElement(of: ids, in: soupName, damaged: { damaged.append($0) }) { _ in }
    }
    for id in damaged {
      context.report.records.append(
        SyncReport.Record(
          soupName: soupName, soupEntryID: id, id: nil, operation: .update,
          outcome: .failed(code: "", message: Self.damaged)))
    }
    return Set(damaged)
  }

  /// Passes the rows' elements to `body`, one after the other; missing rows are skipped.
  func forEach(
    _ ids: [Int64], damaged: ((Int64) -> Void)? = nil, _ body: (SyncUpRecord) throws -> Void
  ) throws(SyncError) {
    try SyncError.inStore {
      let paths = SyncUpRecord.paths(target)
      try store.forEachElement(of: ids, in: soupName, paths: paths, damaged: damaged) {
        try body(SyncUpRecord($0, platform: store.platform))
      }
    }
  }

  /// The current element of a row; nil if it no longer exists.
  package func read(_ id: Int64) throws(SyncError) -> SyncUpRecord? {
    var record: SyncUpRecord?
    try forEach([id]) { record = $0 }
    return record
  }

  /// Stores the outcomes of changes in one transaction.
  ///
  /// If an element differs from what was sent, it was edited while the request was in transit; that
  /// edit is kept and remains to be sent. Returns the IDs of records of which a second, edited
  /// element had to be removed.
  @discardableResult
  package func commit(
    _ settled: [SyncUpSettled], also body: () throws -> Void = {}
  ) throws(SyncError) -> [String] {
    try SyncError.inStore {
      try store.transaction {
        var overwritten: [String] = []
        for one in settled { overwritten += try enter(one) }
        try body()
        return overwritten
      }
    }
  }

  private func enter(_ one: SyncUpSettled) throws -> [String] {
    // The app has removed it in the meantime, so nothing is stored.
    guard let now = try read(one.record.soupEntryID) else { return [] }
    let isEdited = one.isEdited || now.bytes != one.record.bytes
    switch one.end {
    case .deleted, .removed:
      if !isEdited || now.state.isDeleted {
        try store.remove([now.soupEntryID], from: soupName)
      }
    case .sent(let id):
      let twins = try twins(of: now, id)
      // Of two elements of one record, the one with changes to send stays.
      if !isEdited, twins.contains(where: \.isDirty) {
        try store.remove([now.soupEntryID], from: soupName)
        return []
      }
      try store.remove(twins.map(\.soupEntryID), from: soupName)
      try save(now, one, id: id, isEdited: isEdited)
      return twins.filter(\.isDirty).compactMap { _ in id }
    case .failed(_, _, let error) where error != nil && !isEdited || !one.members.isEmpty:
      var object = try self.object(now)
      if let error, !isEdited { object[LocalFields.lastError] = .string(error) }
      try set(one, in: &object)
      try save(object)
    case .failed, .left, .unconfirmed: break
    }
    return []
  }

  /// Elements that a sync down fetched for a record before it was known that this element
  /// represents it.
  ///
  /// The create had no response. A device fails if two elements have the same ID.
  private func twins(
    of now: SyncUpRecord, _ id: String?
  ) throws -> [(soupEntryID: Int64, isDirty: Bool)] {
    guard let id, now.id != id else { return [] }
    return try store.elements(in: soupName, where: target.idFieldName, is: id)
      .compactMap { element in
        guard let row = element[StoreField.soupEntryID]?.int, row != now.soupEntryID else {
          return nil
        }
        return (row, store.platform.isSet(element[LocalFields.local]))
      }
  }

  /// Sets the members that came with the response, except those edited in the meantime.
  private func set(_ one: SyncUpSettled, in object: inout JSONObject) throws {
    if one.members.isEmpty { return }
    let sent = try self.object(one.record)
    for (name, value) in one.members where object[name] == sent[name] { object[name] = value }
  }

  /// Saves a sent element with the org's ID; it becomes clean unless it was edited in the meantime.
  private func save(_ now: SyncUpRecord, _ one: SyncUpSettled, id: String?, isEdited: Bool) throws {
    var object = try self.object(now)
    try set(one, in: &object)
    if let id { object[target.idFieldName] = .string(id) }
    object[LocalFields.lastError] = nil
    if !isEdited {
      for name in [
        LocalFields.local, LocalFields.created, LocalFields.updated, LocalFields.deleted,
      ] {
        object[name] = false
      }
    } else if now.state.isLocal {
      // The org has the record now, so the newer content is an update or a delete.
      object[LocalFields.created] = false
      if !now.state.isDeleted { object[LocalFields.updated] = true }
    }
    try save(object)
  }

  /// Writes the modification dates of sent records.
  package func setDates(_ dates: [(soupEntryID: Int64, id: String, date: String)]) throws(SyncError)
  {
    try SyncError.inStore {
      try store.transaction {
        for (entryID, id, date) in dates {
          guard let now = try read(entryID), now.id == id else { continue }
          var object = try self.object(now)
          object[target.modificationDateFieldName] = .string(date)
          try save(object)
        }
      }
    }
  }

  private func object(_ record: SyncUpRecord) throws -> JSONObject {
    try JSONValue(parsing: record.bytes).object ?? [:]
  }

  private func save(_ object: JSONObject) throws {
    try store.upsert([.object(object)], into: soupName)
  }
}
