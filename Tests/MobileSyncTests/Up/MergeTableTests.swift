import JSON
import LocalOrg
import MobileSync
import SmartStore
import Testing

/// Every combination of what happened on the device and in the org, through a whole sync and against
/// tables that were written by hand from the specification.
@Suite struct MergeTableTests {
  /// What happened to a record.
  struct Case: Sendable, Hashable, CustomStringConvertible {
    /// The local flags: l for `__local__`, c, u and d for created, updated, deleted.
    var flags: String
    /// What became of the org's record.
    var server: Server
    /// The modification date that the element bears.
    var date: LocalDate

    var description: String { "flags \(flags), server \(server), date \(date)" }

    static let all = Flags.all.flatMap { flags in
      Server.allCases.flatMap { server in
        LocalDate.allCases.map { Case(flags: flags, server: server, date: $0) }
      }
    }
  }

  enum Server: String, Sendable, CaseIterable { case same, changed, deleted, hidden }
  enum LocalDate: String, Sendable, CaseIterable { case synced, later, none }

  enum Flags {
    static let all = (0..<16).map { bits in
      zip(["l", "c", "u", "d"], 0..<4).map { bits & (1 << $1) != 0 ? $0 : "" }.joined()
    }
  }

  /// What a sync up does with flags: whatever is not dirty is not looked at, deleted goes before
  /// created, anything else is an update.
  private static let operations = [
    "": "-", "c": "-", "u": "-", "cu": "-", "d": "-", "cd": "-", "ud": "-", "cud": "-",
    "l": "update", "lu": "update", "lc": "create", "lcu": "create", "ld": "delete",
    "lud": "delete", "lcd": "drop", "lcud": "drop",
  ]

  /// What becomes of a change: a row for an operation and the element's date, a column for each
  /// state of the org's record.
  ///
  /// `absent` is what the kinds say differently of a record that is not there when it is written.
  private static let up: [MergeMode: [String: [String]]] = [
    .overwrite: [
      // same, changed, deleted, hidden
      "update synced": ["sent", "sent", "recreated", "failed"],
      "update later": ["sent", "sent", "recreated", "failed"],
      "update none": ["sent", "sent", "recreated", "failed"],
      "delete synced": ["sent", "sent", "removed", "removed"],
      "delete later": ["sent", "sent", "removed", "removed"],
      "delete none": ["sent", "sent", "removed", "removed"],
    ],
    .leaveIfChanged: [
      "update synced": ["sent", "left changed", "left deleted", "left unknown"],
      "update later": ["sent", "sent", "left deleted", "left unknown"],
      "update none": ["sent", "sent", "absent", "absent"],
      "delete synced": ["sent", "left changed", "removed", "left unknown"],
      "delete later": ["sent", "sent", "removed", "left unknown"],
      "delete none": ["sent", "sent", "removed", "removed"],
    ],
  ]

  private func expected(_ one: Case, _ mode: MergeMode, _ kind: SyncUpTarget.Kind) -> String {
    let operation = Self.operations[one.flags] ?? "?"
    switch operation {
    case "-": return "-"
    case "drop": return "removed"
    case "create": return "sent"
    default:
      let column = Server.allCases.firstIndex(of: one.server) ?? 0
      let word = Self.up[mode]?["\(operation) \(one.date)"]?[column] ?? "?"
      return word == "absent" ? (kind == .single ? "left deleted" : "failed") : word
    }
  }

  private func word(_ outcome: SyncReport.Record.Outcome?) -> String {
    switch outcome {
    case nil: "-"
    case .sent: "sent"
    case .recreated: "recreated"
    case .removed: "removed"
    case .left(.changedOnServer): "left changed"
    case .left(.deletedOnServer): "left deleted"
    case .left(.serverUnknown): "left unknown"
    case .failed: "failed"
    case .inDoubt: "in doubt"
    }
  }

  /// A store of contacts of ada's, one for each case, in which everything has happened.
  private func prepare(
    _ cases: [Case], _ platform: Platform
  ) async throws -> (store: ManagedStore, ids: [String], rows: [Int64]) {
    let org = try SyncedOrg()
    let ada = try #require(org.org.user(named: "ada@example.com"))
    let store = try await ManagedStore(
      platform, org: org, as: "ada@example.com",
      settings: SyncSettings(overlapSeconds: 0, quietWindowSeconds: 0))
    let ids = try org.org.transaction {
      try cases.indices.map {
        try org.make("Contact", ["LastName": .string("base \($0)")], as: ada)
      }
    }
    _ = try await store.manager.syncDown(
      target: .soql(Self.query), soupName: ManagedStore.contacts, syncName: "down"
    ).finish()
    var rows: [Int64] = []
    for (one, id) in zip(cases, ids) {
      switch one.server {
      case .same: break
      case .changed: try org.update("Contact", id, ["LastName": "theirs"])
      case .deleted: try org.delete(id)
      case .hidden: try org.org.transfer(id, to: "admin@example.com")
      }
      try await store.edit([id], of: ManagedStore.contacts) { element in
        if !one.flags.isEmpty { element["LastName"] = "mine" }
        element["__local__"] = .bool(one.flags.contains("l"))
        element["__locally_created__"] = .bool(one.flags.contains("c"))
        element["__locally_updated__"] = .bool(one.flags.contains("u"))
        element["__locally_deleted__"] = .bool(one.flags.contains("d"))
        switch one.date {
        case .synced: break
        case .later: element["LastModifiedDate"] = "2999-01-01T00:00:00.000+0000"
        case .none: element["LastModifiedDate"] = nil
        }
      }
      let element = try #require(
        try await store.manager.withStore { store in
          try store.elements(in: ManagedStore.contacts, where: "Id", is: id).first
        })
      rows.append(element["_soupEntryId"]?.int ?? 0)
    }
    return (store, ids, rows)
  }

  private static let query = SoqlTarget(query: "SELECT Id, LastName FROM Contact")

  // MARK: up

  @Test(arguments: UpCase.all, MergeMode.allCases)
  func `every combination goes up as the table says`(_ up: UpCase, _ mode: MergeMode) async throws {
    let cases = Case.all
    let (store, ids, rows) = try await prepare(cases, up.platform)
    let end = try await store.up(
      SyncUpTarget(kind: up.kind), mode, fields: ["LastName"], in: ManagedStore.contacts)
    #expect(end.state.status == .done)
    var outcomes: [Int64: SyncReport.Record] = [:]
    for record in end.report.records {
      // No change is told of twice.
      #expect(outcomes.updateValue(record, forKey: record.soupEntryID) == nil)
    }
    var elements: [Int64: JSONValue] = [:]
    for element in try await store.elements(ManagedStore.contacts) {
      elements[element["_soupEntryId"]?.int ?? 0] = element
    }
    for (index, one) in cases.enumerated() {
      let expected = expected(one, mode, up.kind)
      let outcome = outcomes[rows[index]]
      #expect(word(outcome?.outcome) == expected, "\(one)")
      try check(one, expected, ids[index], outcome?.id, elements[rows[index]], store)
    }
  }

  /// Says whether element and org are as the outcome means.
  private func check(
    _ one: Case, _ outcome: String, _ id: String, _ newID: String?, _ element: JSONValue?,
    _ store: ManagedStore
  ) throws {
    let operation = Self.operations[one.flags] ?? "?"
    let name = try store.org.values("Contact", ["LastName"], of: id)?["LastName"]?.string
    let isThere = one.server != .deleted
    let flags = element.map { element in
      let state = LocalState(element: element, platform: .ios)
      return (state.isLocal ? "l" : "") + (state.isCreated ? "c" : "")
        + (state.isUpdated ? "u" : "") + (state.isDeleted ? "d" : "")
    }
    switch (outcome, operation) {
    case ("sent", "update"):
      #expect(name == "mine", "\(one)")
      #expect(flags == "", "\(one)")
    case ("sent", "delete"):
      #expect(name == nil, "\(one)")
      #expect(element == nil, "\(one)")
    case ("sent", "create"), ("recreated", _):
      #expect(flags == "", "\(one)")
      let made = try #require(newID)
      #expect(made != id && element?["Id"]?.string == made, "\(one)")
      #expect(
        try store.org.values("Contact", ["LastName"], of: made)?["LastName"] == "mine", "\(one)")
    case ("removed", _):
      #expect(element == nil, "\(one)")
      if operation == "drop" { #expect((name != nil) == isThere, "\(one)") }
    default:
      // Nothing was sent: the element is as the app left it, the org's record as the org has it.
      #expect(flags == one.flags, "\(one)")
      #expect(element?["Id"]?.string == id, "\(one)")
      #expect((name != nil) == isThere && name != "mine", "\(one)")
    }
  }

  // MARK: down

  /// What becomes of an element when its record comes down: dirty elements are overwritten or
  /// skipped, clean ones written; what does not come stays.
  private static let down: [MergeMode: [String: String]] = [
    .overwrite: ["dirty came": "theirs", "clean came": "theirs", "dirty": "mine", "clean": "mine"],
    .leaveIfChanged: [
      "dirty came": "mine", "clean came": "theirs", "dirty": "mine", "clean": "mine",
    ],
  ]

  @Test(
    arguments: Platform.allCases,
    [
      (MergeMode.overwrite, false), (.overwrite, true), (.leaveIfChanged, false),
      (.leaveIfChanged, true),
    ])
  func `every combination comes down as the table says`(
    _ platform: Platform, _ way: (mode: MergeMode, isIncremental: Bool)
  ) async throws {
    let (mode, isIncremental) = way
    let cases = Case.all
    let (store, ids, _) = try await prepare(cases, platform)
    let report: SyncReport
    if isIncremental {
      // The same sync goes on from its cursor; the mode is the one that it was made with.
      let state = try #require(try await store.manager.syncStatus(named: "down"))
      try await store.manager.withStore { store in
        var changed = state
        changed.options = SyncOptions(mergeMode: mode).json
        _ = try SyncsSoup.save(changed, in: store)
      }
      report = try await store.manager.reSync(named: "down").finish()
    } else {
      report = try await store.manager.syncDown(
        target: .soql(Self.query), options: SyncOptions(mergeMode: mode),
        soupName: ManagedStore.contacts
      ).finish()
    }
    let skipped = Set(report.skipped[ManagedStore.contacts] ?? [])
    let overwritten = Set(report.overwritten[ManagedStore.contacts] ?? [])
    var elements: [String: JSONValue] = [:]
    for element in try await store.elements(ManagedStore.contacts) {
      elements[element["Id"]?.string ?? ""] = element
    }
    for (index, one) in cases.enumerated() {
      let id = ids[index]
      let isDirty = one.flags.contains("l")
      let came = isIncremental ? one.server == .changed : [.same, .changed].contains(one.server)
      let side = Self.down[mode]?["\(isDirty ? "dirty" : "clean")\(came ? " came" : "")"]
      let element = try #require(elements[id], "\(one)")
      let name = element["LastName"]?.string
      if side == "theirs" {
        #expect(name == (one.server == .changed ? "theirs" : "base \(index)"), "\(one)")
        let state = LocalState(element: element, platform: .ios)
        #expect(state == LocalState(isLocal: false), "\(one)")
      } else {
        #expect(name == (one.flags.isEmpty ? "base \(index)" : "mine"), "\(one)")
        #expect(element["__local__"] == .bool(isDirty), "\(one)")
        #expect(element["__locally_deleted__"] == .bool(one.flags.contains("d")), "\(one)")
      }
      // No edit disappears without a row, and nothing else is told.
      #expect(overwritten.contains(id) == (isDirty && came && side == "theirs"), "\(one)")
      #expect(skipped.contains(id) == (isDirty && came && side == "mine"), "\(one)")
    }
  }
}
