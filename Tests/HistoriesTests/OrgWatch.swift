import JSON
import LocalOrg
import System

struct OrgRecord: Sendable, Hashable {
  var id: String
  var sobject: String
  var name: String
  var values: [String: String]
  var isDeleted: Bool
  /// The account of a contact.
  var parent: String?
}

/// Every value that was ever in the org: the org is read before and after each step, before each
/// request that writes, and before and after other users' concurrent changes.
final class OrgWatch: Sendable {
  enum Author: Sendable, Hashable { case beginning, otherUser, pipeline, phone }

  struct FieldID: Sendable, Hashable {
    var record: String
    var field: String
  }

  struct Entry: Sendable, Hashable {
    var value: String?
    var author: Author
    var time: Int64
  }

  struct Transition: Sendable, Hashable {
    var field: FieldID
    var sobject: String
    var old: String?
    var new: String?
    var author: Author
    var oldAuthor: Author?
    /// When the replaced value was first seen, in the org's time.
    var oldTime: Int64?
    /// Whether the new value had been there before.
    var isBack: Bool
  }

  private struct State {
    var records: [String: OrgRecord] = [:]
    var history: [FieldID: [Entry]] = [:]
    var firstNames: [String: String] = [:]
    var deletions: [String: Int] = [:]
    var deleters: [String: Author] = [:]
    var touchedByOthers: Set<String> = []
    /// The accounts that contacts have had.
    var parents: [String: Set<String>] = [:]
    var transitions: [Transition] = []
    var looks = 0
    var failure: String?
  }

  private let org: Org
  private let admin: OrgUser
  private let state = Locked(State())
  /// Concurrent requests take turns: the first to read is the first to finish.
  private let turn = Locked(())
  init(_ org: Org, admin: OrgUser) {
    self.org = org
    self.admin = admin
  }

  /// Reads the org; differences from the last reading are attributed to `author`.
  func look(_ author: Author) { turn.withLock { _ in takeTurn(author) } }

  /// Changes the org between two readings, without another reading in between.
  func change<Result>(as author: Author, _ change: () throws -> Result) rethrows -> Result {
    try turn.withLock { _ in
      takeTurn(.pipeline)
      defer { takeTurn(author) }
      return try change()
    }
  }

  private func takeTurn(_ author: Author) {
    do {
      let found = try read()
      let time = org.now()
      state.withLock { Self.take(found, author, time, &$0) }
    } catch { state.withLock { $0.failure = "\(error)" } }
  }

  private func read() throws -> [OrgRecord] {
    var records: [OrgRecord] = []
    for sobject in ["Account", "Site_Visit__c", "Contact"] {
      let fields = Soup.fields(of: sobject)
      let more = sobject == "Contact" ? ["AccountId"] : []
      let text = (["Id", "Name", "IsDeleted"] + fields + more).joined(separator: ", ")
      let page = try org.query("SELECT \(text) FROM \(sobject)", as: admin, includeDeleted: true)
      for value in try JSONValue(parsing: page.records).array ?? [] {
        var values: [String: String] = [:]
        for field in fields { values[field] = value[field]?.string }
        records.append(
          OrgRecord(
            id: value["Id"]?.string ?? "", sobject: sobject, name: value["Name"]?.string ?? "",
            values: values, isDeleted: value["IsDeleted"]?.bool ?? false,
            parent: value["AccountId"]?.string))
      }
    }
    return records
  }

  func dates() throws -> [String: String] {
    var dates: [String: String] = [:]
    for sobject in ["Account", "Site_Visit__c", "Contact"] {
      let page = try org.query(
        "SELECT Id, SystemModstamp FROM \(sobject)", as: admin, includeDeleted: true)
      for value in try JSONValue(parsing: page.records).array ?? [] {
        dates[value["Id"]?.string ?? ""] = value["SystemModstamp"]?.string
      }
    }
    return dates
  }

  private static func take(
    _ found: [OrgRecord], _ author: Author, _ time: Int64, _ state: inout State
  ) {
    state.looks += 1
    for record in found {
      let before = state.records[record.id]
      if before == record { continue }
      if before == nil { state.firstNames[record.id] = record.name }
      if let parent = record.parent { state.parents[record.id, default: []].insert(parent) }
      if author == .otherUser { state.touchedByOthers.insert(record.id) }
      if record.isDeleted, before?.isDeleted != true {
        state.deletions[record.id, default: 0] += 1
        state.deleters[record.id] = author
      }
      for field in Soup.fields(of: record.sobject) {
        let id = FieldID(record: record.id, field: field)
        let (old, new) = (before?.values[field], record.values[field])
        if before != nil, old == new { continue }
        let past = state.history[id] ?? []
        if before != nil {
          state.transitions.append(
            Transition(
              field: id, sobject: record.sobject, old: old, new: new, author: author,
              oldAuthor: past.last?.author, oldTime: past.last?.time,
              isBack: past.contains { $0.value == new }))
        }
        state.history[id] = past + [Entry(value: new, author: author, time: time)]
      }
      state.records[record.id] = record
    }
  }

  // MARK: queries

  var records: [OrgRecord] { state.withLock { $0.records.values.sorted { $0.id < $1.id } } }
  var live: [OrgRecord] { records.filter { !$0.isDeleted } }
  var failure: String? { state.withLock { $0.failure } }

  func record(_ id: String) -> OrgRecord? { state.withLock { $0.records[id] } }
  /// The name that a record was created with, which an upsert of another row can replace.
  func firstName(of id: String) -> String? { state.withLock { $0.firstNames[id] } }
  func history(_ record: String, _ field: String) -> [Entry] {
    state.withLock { $0.history[FieldID(record: record, field: field)] ?? [] }
  }
  func wasDeleted(_ id: String) -> Bool { state.withLock { $0.deletions[id] != nil } }
  /// The accounts that a contact has had.
  func parents(of id: String) -> Set<String> { state.withLock { $0.parents[id] ?? [] } }
  func wasDeletedAgain(_ id: String) -> Bool { state.withLock { $0.deletions[id] ?? 0 > 1 } }
  func deleter(of id: String) -> Author? { state.withLock { $0.deleters[id] } }
  func isTouchedByOthers(_ id: String) -> Bool {
    state.withLock { $0.touchedByOthers.contains(id) }
  }
  func touch(_ id: String) { state.withLock { _ = $0.touchedByOthers.insert(id) } }
  func hasSeen(_ value: String, _ record: String, _ field: String) -> Bool {
    history(record, field).contains { $0.value == value }
  }
  func lastAuthor(in field: FieldID) -> Author? { history(field.record, field.field).last?.author }
  /// The first entry of a value in a field, which an undo can restore later.
  func firstEntry(of value: String?, in field: FieldID) -> Entry? {
    history(field.record, field.field).first { $0.value == value }
  }
  /// The deleted records in whose place a record was recreated: they have its name.
  func replaced(by id: String) -> [String] {
    state.withLock { state in
      guard let record = state.records[id] else { return [] }
      return state.records.values.filter {
        $0.sobject == record.sobject && $0.name == record.name && $0.id < id
          && state.deletions[$0.id] != nil
      }.map(\.id)
    }
  }
  func hasSeen(_ value: String, anywhere field: String) -> Bool {
    state.withLock { state in
      state.history.contains { $0.key.field == field && $0.value.contains { $0.value == value } }
    }
  }
  func takeTransitions() -> [Transition] {
    state.withLock { state in
      defer { state.transitions = [] }
      return state.transitions
    }
  }
}
