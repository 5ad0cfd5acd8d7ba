import JSON
import SQLite

/// What the ledger knows of a record: its edits, and attache's writes to it.
///
/// The histories of all records of a plan are read together, and the rules about several edits of
/// one record ask them.
package struct RecordHistory {
  /// The edits, in order of arrival.
  package let entries: [Entry]
  /// The writes that were done, in the order in which they were planned.
  package let writes: [OperationRow]
  /// The ancestries of the edits; empty if there is only one edit and no write.
  package let lineages: [Int64: Ancestry]
  /// The record that an operator named for a device's new record.
  package let named: Named?
  private let key: Key

  /// What identifies a record.
  package struct Key: Hashable {
    /// The ID in the org.
    var recordID: String?
    /// The ID by which a device knows the record, if that was recreated under another ID.
    var formerID: String?
    /// The device's creation of the record.
    var creationID: Int64?

    package init(recordID: String? = nil, creationID: Int64? = nil) {
      self.recordID = recordID
      self.creationID = creationID
    }

    package init(_ edit: OpenEdit) {
      recordID = edit.recordID
      formerID = edit.serverID
      creationID = edit.creation?.id
    }
  }

  /// An edit of the record.
  package struct Entry {
    package var id: Int64
    package var row: RowKey
    /// The record's ID in the edit's row.
    package var recordID: String?
    package var sobject: String?
    package var creationID: Int64?
    /// The ID of the record that attache created for the creation.
    var createdID: String?
    package var operation: EditOperation
    /// Whether the row could be read.
    package var isRead: Bool
    var arrived: Int64
    package var stampID: String
    package var install: String?
    package var lastModified: Int64
    package var verdict: Verdict?
    var state: String
    package var isUnsettled: Bool
    var isUnderWay: Bool
    /// The server's date after the last write of the edit; `unknown` if that was not read.
    package var writtenDate: String?
    /// Whether a bundle redelivered the edit.
    package var wasCarried: Bool
    /// The element, parsed; nil if it cannot be read, or if there is only one edit.
    package var element: JSONObject?
    /// The values that an operator entered; empty if there is only one edit.
    package var entered: JSONObject = [:]

    /// The server's date after the last write of the edit; nil if that was not read.
    package var serverDate: String? { writtenDate == Self.unknownDate ? nil : writtenDate }
    static let unknownDate = "unknown"

    /// Whether it changes the record, as far as it could be read.
    package var isChange: Bool { operation != .synced && isRead }
  }

  /// The values of a record when an operator identified it as a device's new record.
  package struct Named {
    package var edit: Int64
    package var left: JSONObject
    package var date: String?
    /// The device's element at that time.
    package var element: JSONObject
  }

  package func entry(_ id: Int64) -> Entry? { entries.first { $0.id == id } }

  /// The parsed element of an edit; nil if it is not an object.
  ///
  /// It is parsed here only if the history does not have it.
  package static func element(
    of edit: OpenEdit, in history: RecordHistory?
  ) throws -> JSONObject? {
    try history?.entry(edit.id)?.element ?? JSONValue(parsing: edit.element).object
  }

  /// Whether an edit is the only one of its record, and attache has neither created nor changed the
  /// record.
  ///
  /// This is true of most edits. Such an edit has no conflicts, no predecessors and no prior write
  /// to compare with.
  package func isOnlyEdit(_ edit: Int64) -> Bool {
    writes.isEmpty && entries.allSatisfy { $0.id == edit }
  }

  /// The object of the record, from a write to it or from an edit; nil if none of them names it.
  package var sobject: String? {
    writes.first?.sobject ?? entries.lazy.compactMap(\.sobject).first
  }

  /// Whether a request of attache created the record.
  package var isOurs: Bool { writes.contains { $0.action == .create || $0.action == .upsert } }

  /// The edits with the record's ID, with the ID that a creation got, or with that of the deleted
  /// record that it replaced, and those that wrote to the record.
  package var ofRecord: [Entry] {
    let writers = Set(writes.map(\.editID))
    return entries.filter { $0.isNamed(key) || writers.contains($0.id) }
  }

  /// All claims on the record.
  package var claims: [RecordClaim] {
    // The org does not have the record of a creation yet.
    let isNew = key.recordID == nil
    let own = isNew ? entries.filter { $0.creationID == key.creationID } : ofRecord
    return own.filter(\.isChange).map { entry in
      // An edit that a retry reopened counts as undecided, whatever its verdict was.
      RecordClaim(
        editID: entry.id, arrived: entry.arrived,
        verdict: entry.state == "open" ? nil : entry.verdict,
        writtenDate: isNew ? nil : entry.writtenDate)
    }
  }

  /// An earlier edit of the same record and device that is not closed; later edits wait for it.
  ///
  /// If it is in another soup or store, they only wait while it is not attempted or in progress.
  package func openPredecessor(of edit: OpenEdit) -> (id: Int64, isInDoubt: Bool)? {
    for entry in entries where entry.id < edit.id && entry.state != "closed" {
      let isOfCreation = edit.creation != nil && entry.creationID == edit.creation?.id
      guard isOfCreation || entry.isNamed(key),
        entry.row.isOfSoup(edit.soup) || entry.verdict == .notAttempted || entry.isUnderWay
      else { continue }
      if isOfCreation || lineages.owns(edit.id, entry.id) { return (entry.id, entry.isUnderWay) }
    }
    return nil
  }

  /// The history of the record with a key, from what was read of several records.
  fileprivate init(_ key: Key, in facts: Facts) {
    self.key = key
    writes = key.recordID.flatMap { facts.writes[$0] } ?? []
    entries = facts.edits(of: key).compactMap { facts.entries[$0] }
    lineages = facts.lineages
    named = key.creationID.flatMap { facts.named[$0] }
  }
}

extension RecordHistory.Entry {
  /// Whether the edit has an ID of a record.
  fileprivate func isNamed(_ key: RecordHistory.Key) -> Bool {
    guard let id = key.recordID else { return false }
    return recordID == id || createdID == id || (recordID != nil && recordID == key.formerID)
  }
}

/// The histories of the records that a plan is about.
package final class RecordHistories {
  private let ledger: LedgerDatabase
  private var known: [RecordHistory.Key: RecordHistory] = [:]

  package init(_ ledger: LedgerDatabase) { self.ledger = ledger }

  /// Reads the histories of the records of some edits as the ledger has them now.
  ///
  /// A history of one edit without a write does not change while its edit is planned, and is not
  /// read again.
  package func read(_ edits: [OpenEdit]) throws {
    known = known.filter { $0.value.writes.isEmpty && $0.value.entries.count < 2 }
    let keys = Set(edits.map(RecordHistory.Key.init)).subtracting(known.keys)
    known.merge(try ledger.histories(of: keys)) { $1 }
  }

  /// The history of an edit's record; it is read if it was not.
  package func history(of edit: OpenEdit) throws -> RecordHistory {
    try history(of: RecordHistory.Key(edit))
  }

  /// The history of a record by its ID.
  package func history(ofRecord id: String) throws -> RecordHistory {
    try history(of: RecordHistory.Key(recordID: id))
  }

  /// The parsed element of an edit; nil if it is not an object.
  package func element(of edit: OpenEdit) throws -> JSONObject? {
    try RecordHistory.element(of: edit, in: known[RecordHistory.Key(edit)])
  }

  private func history(of key: RecordHistory.Key) throws -> RecordHistory {
    if let history = known[key] { return history }
    let history = try ledger.history(of: key)
    known[key] = history
    return history
  }
}

// MARK: reading

extension LedgerDatabase {
  /// The history of one record.
  package func history(of key: RecordHistory.Key) throws -> RecordHistory {
    RecordHistory(key, in: try facts(of: [key]))
  }

  /// The histories of some records, read in two statements, and a few more if a record has several
  /// edits or a write.
  func histories(of keys: Set<RecordHistory.Key>) throws -> [RecordHistory.Key: RecordHistory] {
    let facts = try facts(of: keys)
    return Dictionary(uniqueKeysWithValues: keys.map { ($0, RecordHistory($0, in: facts)) })
  }

  private func facts(of keys: Set<RecordHistory.Key>) throws -> RecordHistory.Facts {
    var facts = RecordHistory.Facts()
    let ids = Set(keys.compactMap(\.recordID)).sorted()
    let creations = Set(keys.compactMap(\.creationID)).sorted()
    try readEntries(ids, Set(keys.compactMap(\.formerID)).sorted(), creations, into: &facts)
    let writes = try operations(
      """
      state = \(OperationState.done) AND result_id IN (SELECT value FROM json_each(\(Self.json(ids))))
      """)
    facts.writes = Dictionary(grouping: writes) { $0.resultID ?? "" }
    let shared = keys.reduce(into: Set<Int64>()) { shared, key in
      let edits = facts.edits(of: key)
      if edits.count > 1 || facts.hasWrites(key) { shared.formUnion(edits) }
    }
    if !shared.isEmpty {
      facts.lineages = try lineages(of: shared)
      try readContent(of: shared, into: &facts)
    }
    if !creations.isEmpty { try readNamed(creations, into: &facts) }
    return facts
  }

  private static func json(_ texts: [String]) -> String {
    JSONValue.array(texts.map(JSONValue.string)).text
  }

  /// Reads the edits of some records.
  private func readEntries(
    _ ids: [String], _ formerIDs: [String], _ creations: [Int64],
    into facts: inout RecordHistory.Facts
  ) throws {
    let rows = try connection.all(
      """
      WITH asked(id) AS MATERIALIZED (SELECT value FROM json_each(\(Self.json(ids)))),
      found(id) AS (
        SELECT e.id FROM asked a CROSS JOIN edit e ON e.record_id = a.id
        UNION SELECT e.id FROM json_each(\(Self.json(formerIDs))) a CROSS JOIN edit e ON e.record_id = a.value
        UNION SELECT e.id FROM asked a CROSS JOIN creation c ON c.record_id = a.id
          CROSS JOIN edit e ON e.creation_id = c.id
        UNION SELECT e.id FROM edit e WHERE e.creation_id IN (\(each: creations))
        UNION SELECT o.edit_id FROM asked a CROSS JOIN operation o ON o.result_id = a.id
          WHERE o.state = \(OperationState.done))
      SELECT e.store, e.soup, e.entry_id, e.id, e.record_id, e.creation_id, c.record_id, e.operation,
        e.finding IS NULL, r.arrived_ms, r.stamp_id, r.install, e.last_modified_ms, e.verdict, e.state,
        \(Self.isUnsettledEdit), \(Self.isUnderWay),
        (SELECT coalesce(o.server_date, \(RecordHistory.Entry.unknownDate)) FROM operation o
          WHERE o.edit_id = e.id AND o.state = \(OperationState.done) ORDER BY o.id DESC LIMIT 1),
        EXISTS (SELECT 1 FROM carried k WHERE k.edit_id = e.id), e.sobject
      FROM found f CROSS JOIN edit e ON e.id = f.id JOIN returned r ON r.id = e.return_id
        LEFT JOIN creation c ON c.id = e.creation_id
      """)
    for row in rows {
      facts.add(
        RecordHistory.Entry(
          id: row[3].integer ?? 0, row: rowKey(row), recordID: row[4].text, sobject: row[19].text,
          creationID: row[5].integer, createdID: row[6].text,
          operation: EditOperation(rawValue: row[7].text ?? "") ?? .update,
          isRead: row[8].integer == 1, arrived: row[9].integer ?? 0, stampID: row[10].text ?? "",
          install: row[11].text, lastModified: row[12].integer ?? 0,
          verdict: row[13].text.flatMap(Verdict.init(rawValue:)), state: row[14].text ?? "",
          isUnsettled: row[15].integer == 1, isUnderWay: row[16].integer == 1,
          writtenDate: row[17].text, wasCarried: row[18].integer == 1))
    }
  }

  /// Reads what some edits contain, and what an operator entered in place of it.
  private func readContent(of edits: Set<Int64>, into facts: inout RecordHistory.Facts) throws {
    for row in try connection.all(
      """
      SELECT e.id, e.element, (SELECT d.detail FROM decision d WHERE d.edit_id = e.id
        AND d.kind = 'set' AND d.state = 'done' ORDER BY d.id DESC LIMIT 1)
      FROM edit e WHERE e.id IN (\(each: edits.sorted()))
      """)
    {
      guard let id = row[0].integer else { continue }
      facts.entries[id]?.element = (try? JSONValue(parsing: row[1].blob ?? []))?.object
      facts.entries[id]?.entered = try parse(row[2].text, "a decision")["values"]?.object ?? [:]
    }
  }

  /// Reads the records that operators named for some creations.
  private func readNamed(_ creations: [Int64], into facts: inout RecordHistory.Facts) throws {
    for row in try connection.all(
      """
      SELECT e.creation_id, e.id, d.detail, e.element
      FROM edit e CROSS JOIN decision d ON d.edit_id = e.id
      WHERE e.creation_id IN (\(each: creations)) AND d.kind = 'record' AND d.state = 'done'
        AND json_extract(d.detail, '$.left') IS NOT NULL ORDER BY d.id
      """)
    {
      guard let creation = row[0].integer else { continue }
      let detail = try parse(row[2].text, "a decision")
      facts.named[creation] = RecordHistory.Named(
        edit: row[1].integer ?? 0, left: detail["left"]?.object ?? [:],
        date: detail["date"]?.string,
        element: (try? JSONValue(parsing: row[3].blob ?? []))?.object ?? [:])
    }
  }
}

extension RecordHistory {
  /// What was read of several records.
  fileprivate struct Facts {
    /// By edit.
    var entries: [Int64: Entry] = [:]
    /// By record.
    var writes: [String: [OperationRow]] = [:]
    /// By creation.
    var named: [Int64: Named] = [:]
    var lineages: [Int64: Ancestry] = [:]
    private var byID: [String: Set<Int64>] = [:]
    private var byCreatedID: [String: Set<Int64>] = [:]
    private var byCreation: [Int64: Set<Int64>] = [:]

    mutating func add(_ entry: Entry) {
      entries[entry.id] = entry
      if let id = entry.recordID { byID[id, default: []].insert(entry.id) }
      if let id = entry.createdID { byCreatedID[id, default: []].insert(entry.id) }
      if let id = entry.creationID { byCreation[id, default: []].insert(entry.id) }
    }

    func hasWrites(_ key: Key) -> Bool { key.recordID.map { writes[$0] != nil } ?? false }

    /// The edits of a record, in order of arrival.
    func edits(of key: Key) -> [Int64] {
      var edits: Set<Int64> = []
      if let id = key.recordID {
        edits.formUnion(byID[id] ?? [])
        edits.formUnion(byCreatedID[id] ?? [])
        edits.formUnion((writes[id] ?? []).map(\.editID))
      }
      if let id = key.formerID { edits.formUnion(byID[id] ?? []) }
      if let id = key.creationID { edits.formUnion(byCreation[id] ?? []) }
      return edits.sorted()
    }
  }
}
