import JSON
import Salesforce
import SmartStore

/// What became of a local change, as its element has to show it.
package struct SyncUpSettled: Sendable {
  /// What became of a change.
  package enum End: Sendable, Hashable {
    /// The org did it; the id that the record has now.
    case sent(id: String?)
    /// The org deleted the record: the element leaves the store.
    case deleted
    /// The record was gone already, or never there: the element leaves the store.
    case removed
    /// The org said no; the text is kept in the element where there is one.
    case failed(code: String, message: String, error: String?)
    /// The change stays as it is.
    case left(SyncReport.MergeReason)
    /// It is not known whether the org did it.
    case unconfirmed(String)
  }

  let record: SyncUpRecord
  let operation: SyncOperation
  let end: End
  var isRecreated = false
  /// Members that the element gets beside, where it has not been edited in them meanwhile.
  var members: [(name: String, value: JSONValue)] = []
  /// Whether the element is known to differ from what was sent.
  var isEdited = false

  package init(
    record: SyncUpRecord, operation: SyncOperation, end: End, isRecreated: Bool = false,
    members: [(name: String, value: JSONValue)] = [], isEdited: Bool = false
  ) {
    self.record = record
    self.operation = operation
    self.end = end
    self.isRecreated = isRecreated
    self.members = members
    self.isEdited = isEdited
  }
}

/// The elements of a sync up: which are dirty, and how they look afterwards.
package struct SyncUpElements {
  let store: Store
  let soupName: String
  let target: SyncUpTarget

  package init(store: Store, soupName: String, target: SyncUpTarget) {
    self.store = store
    self.soupName = soupName
    self.target = target
  }

  /// The rows that have local changes, in their numeric order.
  package func dirtyIDs() throws(SyncError) -> [Int64] {
    try SyncError.inStore {
      var ids: [Int64] = []
      try store.forEachValue(of: StoreField.soupEntryID, in: soupName, .dirty) { id, _ in
        ids.append(id)
      }
      return ids.sorted()
    }
  }

  /// What is said of an element whose index and flags contradict each other.
  package static let unclear =
    "the index on __local__ calls the element changed, its __local__ does not: nothing was sent"

  /// Whether the store still calls a row changed; what a sync found may have been saved since.
  func isFoundDirty(_ id: Int64) throws(SyncError) -> Bool { try dirtyIDs().contains(id) }

  /// What is said of an element that cannot be read.
  static let damaged =
    "the element is no JSON object: nothing was sent; the app has to save it anew, or remove it"

  /// Those of changed rows whose elements cannot be read; each is told.
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

  /// Hands the elements of rows to `body`, one after the other; rows that are gone are left out.
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

  /// The element of a row as it is now; nil when it is gone.
  package func read(_ id: Int64) throws(SyncError) -> SyncUpRecord? {
    var record: SyncUpRecord?
    try forEach([id]) { record = $0 }
    return record
  }

  /// Enters what became of changes, all of them or none.
  ///
  /// An element that is not what was sent was edited while the request was on its way: that edit
  /// stays, and stays to be sent. Answers the ids of records of which a second element was edited,
  /// and had to give way.
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
    // Gone meanwhile: the app has removed it, and nothing is to be kept.
    guard let now = try read(one.record.soupEntryID) else { return [] }
    let isEdited = one.isEdited || now.bytes != one.record.bytes
    switch one.end {
    case .deleted, .removed:
      if !isEdited || now.state.isDeleted {
        try store.remove([now.soupEntryID], from: soupName)
      }
    case .sent(let id):
      let twins = try twins(of: now, id)
      // Of two elements of one record the one stays that has something to be sent.
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

  /// Another element of a record that was just made.
  private struct Twin {
    let soupEntryID: Int64
    let isDirty: Bool
  }

  /// What a sync down brought of a record while nobody knew that an element stands for it.
  ///
  /// Its create had no answer. A device fails at two elements of one id.
  private func twins(of now: SyncUpRecord, _ id: String?) throws -> [Twin] {
    guard let id, now.id != id else { return [] }
    return try store.elements(in: soupName, where: target.idFieldName, is: id)
      .compactMap { element in
        guard let row = element[StoreField.soupEntryID]?.int, row != now.soupEntryID else {
          return nil
        }
        return Twin(soupEntryID: row, isDirty: store.platform.isSet(element[LocalFields.local]))
      }
  }

  /// Gives an element the members that came with the answer, but for those that were edited
  /// meanwhile.
  private func set(_ one: SyncUpSettled, in object: inout JSONObject) throws {
    if one.members.isEmpty { return }
    let sent = try self.object(one.record)
    for (name, value) in one.members where object[name] == sent[name] { object[name] = value }
  }

  /// A sent element: the server's id, clean unless it was edited meanwhile.
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
      // The server has the record now, so that the newer content is an update of it, or a delete.
      object[LocalFields.created] = false
      if !now.state.isDeleted { object[LocalFields.updated] = true }
    }
    try save(object)
  }

  /// Writes the modification dates that records have after they were sent.
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
