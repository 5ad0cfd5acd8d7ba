import JSON
import MobileSync
import SmartStore
import Testing

/// Every combination of what happened on the device and in the org, through a complete sync and
/// against tables written by hand from the specification.
@Suite struct MergeTableTests {
  struct Case: Sendable, Hashable, CustomStringConvertible {
    /// The local flags: l for `__local__`, c, u and d for created, updated, deleted.
    var flags: String
    /// The state of the org's record.
    var server: Server
    var date: LocalDate
    var description: String { "flags \(flags), server \(server), date \(date)" }
    var operation: String { operations[flags] ?? "?" }

    /// Dates matter only for updates and deletes.
    static let all = Flags.all.flatMap { flags in
      Server.allCases.flatMap { server in
        LocalDate.allCases.map { Case(flags: flags, server: server, date: $0) }
      }
    }.filter { $0.date == .synced || ["update", "delete"].contains($0.operation) }
  }

  enum Server: String, Sendable, CaseIterable {
    case same, changed, deleted, merged, hidden
    var isThere: Bool { self != .deleted && self != .merged }
  }
  enum LocalDate: String, Sendable, CaseIterable { case synced, later, none }

  enum Flags {
    static let all = (0..<16).map { bits in
      zip(["l", "c", "u", "d"], 0..<4).map { bits & (1 << $1) != 0 ? $0 : "" }.joined()
    }
  }

  /// The operation that a sync up derives from flags: clean elements are ignored, deleted comes
  /// before created, and anything else is an update.
  private static let operations = [
    "": "-", "c": "-", "u": "-", "cu": "-", "d": "-", "cd": "-", "ud": "-", "cud": "-",
    "l": "update", "lu": "update", "lc": "create", "lcu": "create", "ld": "delete",
    "lud": "delete", "lcd": "drop", "lcud": "drop",
  ]

  /// The outcome of a change: a row for an operation and the element's date, a column for each
  /// state of the org's record.
  ///
  /// `absent` lists the differences between the kinds for a record that is missing when it is
  /// written.
  private static let up: [MergeMode: [String: [String]]] = [
    .overwrite: [
      // same, changed, deleted, merged, hidden
      "update synced": ["sent", "sent", "recreated", "failed", "failed"],
      "update later": ["sent", "sent", "recreated", "failed", "failed"],
      "update none": ["sent", "sent", "recreated", "failed", "failed"],
      "delete synced": ["sent", "sent", "removed", "removed", "removed"],
      "delete later": ["sent", "sent", "removed", "removed", "removed"],
      "delete none": ["sent", "sent", "removed", "removed", "removed"],
    ],
    .leaveIfChanged: [
      "update synced": ["sent", "left changed", "left deleted", "left deleted", "left unknown"],
      "update later": ["sent", "sent", "left deleted", "left deleted", "left unknown"],
      "update none": ["sent", "sent", "absent", "absent", "absent"],
      "delete synced": ["sent", "left changed", "removed", "removed", "left unknown"],
      "delete later": ["sent", "sent", "removed", "removed", "left unknown"],
      "delete none": ["sent", "sent", "removed", "removed", "removed"],
    ],
  ]

  private func expected(_ one: Case, _ mode: MergeMode, _ kind: SyncUpTarget.Kind) -> String {
    switch one.operation {
    case "-": return "-"
    case "drop": return "removed"
    case "create": return "sent"
    default:
      let column = Server.allCases.firstIndex(of: one.server) ?? 0
      let word = Self.up[mode]?["\(one.operation) \(one.date)"]?[column] ?? "?"
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
    case .unconfirmed: "unconfirmed"
    }
  }

  /// A store with the user ada's contacts, one for each case, in which everything has happened.
  private func prepare(
    _ cases: [Case], _ platform: Platform
  ) async throws -> (store: ManagedStore, ids: [String], rows: [Int64]) {
    let org = try SyncedOrg()
    let ada = try #require(org.org.user(named: "ada@example.com"))
    let store = try await ManagedStore(
      platform, org: org, as: "ada@example.com",
      settings: SyncSettings(overlapSeconds: 0, unansweredWaitSeconds: 0))
    let (ids, masters) = try org.org.transaction {
      let ids = try cases.indices.map {
        try org.make("Contact", ["LastName": .string("base \($0)")], as: ada)
      }
      return (ids, try cases.map { _ in try org.make("Contact", ["LastName": "master"]) })
    }
    _ = try await store.manager.syncDown(
      target: .soql(Self.query), soupName: ManagedStore.contacts, syncName: "down"
    ).finish()
    try org.org.transaction {
      for (index, one) in cases.enumerated() {
        switch one.server {
        case .same: break
        case .changed: try org.update("Contact", ids[index], ["LastName": "theirs"])
        case .deleted: try org.delete(ids[index])
        case .merged: try org.org.merge(ids[index], into: masters[index])
        case .hidden: try org.org.transfer(ids[index], to: "admin@example.com")
        }
      }
    }
    let places = Dictionary(uniqueKeysWithValues: zip(ids, cases.indices))
    try await store.edit(ids, of: ManagedStore.contacts) { element in
      guard let place = places[element["Id"]?.string ?? ""] else { return }
      let one = cases[place]
      if !one.flags.isEmpty { element["LastName"] = "mine" }
      element["__local__"] = .bool(one.flags.contains("l"))
      for (flag, name) in [("c", "created"), ("u", "updated"), ("d", "deleted")] {
        // A missing flag is not set.
        let isSet = one.flags.contains(flag)
        element["__locally_\(name)__"] = isSet || place.isMultiple(of: 2) ? .bool(isSet) : nil
      }
      switch one.date {
      case .synced: break
      case .later: element["LastModifiedDate"] = "2999-01-01T00:00:00.000+0000"
      case .none: element["LastModifiedDate"] = nil
      }
    }
    var rows: [String: Int64] = [:]
    for element in try await store.elements(ManagedStore.contacts) {
      rows[element["Id"]?.string ?? ""] = element["_soupEntryId"]?.int
    }
    return (store, ids, ids.map { rows[$0] ?? 0 })
  }

  private static let query = SoqlTarget(
    query: "SELECT Id, LastName FROM Contact WHERE LastName LIKE 'base %' OR LastName = 'theirs'")

  // MARK: Up

  // SDK: testSyncUpWithLocallyUpdatedRecords (124)
  // SDK: testSyncUpWithLocallyUpdatedRemotelyUpdatedRecordsWithoutOverwrite (125)
  // SDK: testSyncUpWithLocallyCreatedRecords (126)
  // SDK: testSyncUpWithLocallyCreatedRecordsWithoutOverwrite (127)
  // SDK: testSyncUpWithLocallyDeletedRecords (128)
  // SDK: testSyncUpWithLocallyCreatedAndDeletedRecords (129)
  // SDK: testSyncUpWithLocallyDeletedRemotelyUpdatedRecordsWithoutOverwrite (130)
  // SDK: testSyncUpWithLocallyDeletedRemotelyDeletedRecords (131)
  // SDK: testSyncUpWithLocallyDeletedRemotelyDeletedRecordsWithoutOverwrite (132)
  // SDK: testSyncUpWithLocallyUpdatedRemotelyDeletedRecords (133)
  // SDK: testSyncUpWithLocallyUpdatedRemotelyDeletedRecordsWithoutOverwrite (134)
  // SDK: testSyncUpLocallyUpdatedWithNoOverwrite (228), testSyncUpLocallyDeleted (229)
  // SDK: testSyncUpLocallyDeletedWithNoOverwrite (230), testSyncUpLocallyCreated (231)
  @Test(arguments: UpCase.all, MergeMode.allCases)
  func `every combination is sent as in the table, and skipped ones by OVERWRITE`(
    _ up: UpCase, _ mode: MergeMode
  ) async throws {
    let cases = Case.all
    let (store, ids, rows) = try await prepare(cases, up.platform)
    var words = cases.map { _ in "" }
    for (round, mode) in [mode, .overwrite].enumerated() {
      let end = try await store.up(
        SyncUpTarget(kind: up.kind), mode, fields: ["LastName"], in: ManagedStore.contacts)
      #expect(end.state.status == .done)
      // No change is reported twice.
      let outcomes = Dictionary(grouping: end.report.records, by: \.soupEntryID)
      #expect(outcomes.count == end.report.records.count)
      let elements = try await store.elements(ManagedStore.contacts).reduce(into: [:]) {
        $0[$1["_soupEntryId"]?.int ?? 0] = $1
      }
      for (index, one) in cases.enumerated() {
        let isOpen = words[index].hasPrefix("left") || words[index] == "failed"
        let expected = round == 0 || isOpen ? expected(one, mode, up.kind) : "-"
        let outcome = outcomes[rows[index]]?.first
        #expect(word(outcome?.outcome) == expected, "\(one)")
        if round > 0, expected == "-" { continue }
        words[index] = expected
        try check(one, expected, ids[index], outcome?.id, elements[rows[index]], store)
        if one.server == .merged, expected == "failed", mode == .overwrite, let outcome {
          #expect("\(outcome.outcome)".contains("merged into"))
        }
      }
      // Each create and each recreated record exists once.
      let made = zip(cases, words).count { one, word in
        word == "recreated" || word == "sent" && one.operation != "delete"
      }
      let mine = "SELECT Id FROM Contact WHERE LastName = 'mine'"
      #expect(try store.org.org.query(mine, as: store.org.admin).totalSize == made)
    }
  }

  private func check(
    _ one: Case, _ outcome: String, _ id: String, _ newID: String?, _ element: JSONValue?,
    _ store: ManagedStore
  ) throws {
    let name = try store.org.values("Contact", ["LastName"], of: id)?["LastName"]?.string
    let state = element.map { LocalState(element: $0, platform: .ios) }
    let error = element?["__last_error__"]
    #expect((error != nil) == (outcome == "failed"), "\(one)")
    switch (outcome, one.operation) {
    case ("sent", "update"):
      #expect(name == "mine", "\(one)")
      #expect(state?.letters == "", "\(one)")
    case ("sent", "delete"):
      #expect(name == nil, "\(one)")
      #expect(element == nil, "\(one)")
    case ("sent", "create"), ("recreated", _):
      #expect(state?.letters == "", "\(one)")
      let made = try #require(newID)
      #expect(made != id && element?["Id"]?.string == made, "\(one)")
      #expect(
        try store.org.values("Contact", ["LastName"], of: made)?["LastName"] == "mine", "\(one)")
    case ("removed", _):
      #expect(element == nil, "\(one)")
      if one.operation == "drop" { #expect((name != nil) == one.server.isThere, "\(one)") }
    default:
      #expect(state?.letters == one.flags, "\(one)")
      #expect(element?["Id"]?.string == id, "\(one)")
      #expect((name != nil) == one.server.isThere && name != "mine", "\(one)")
    }
  }

  // MARK: Down

  @Test(
    arguments: Platform.allCases,
    [
      (MergeMode.overwrite, false), (.overwrite, true), (.leaveIfChanged, false),
      (.leaveIfChanged, true),
    ])
  func `every combination is fetched as in the table`(
    _ platform: Platform, _ way: (mode: MergeMode, isIncremental: Bool)
  ) async throws {
    let (mode, isIncremental) = way
    let cases = Case.all
    let (store, ids, _) = try await prepare(cases, platform)
    let report: SyncReport
    if isIncremental {
      // The same sync continues from its cursor, with the merge mode it was created with.
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
    let elements = try await store.elements(ManagedStore.contacts).reduce(into: [:]) {
      $0[$1["Id"]?.string ?? ""] = $1
    }
    for (index, one) in cases.enumerated() {
      let id = ids[index]
      let isDirty = one.flags.contains("l")
      let came = isIncremental ? one.server == .changed : [.same, .changed].contains(one.server)
      // A fetched record is written unless a change is kept; others stay.
      let isTheirs = came && (mode == .overwrite || !isDirty)
      let element = try #require(elements[id], "\(one)")
      let name = element["LastName"]?.string
      let state = LocalState(element: element, platform: .ios)
      if isTheirs {
        #expect(name == (one.server == .changed ? "theirs" : "base \(index)"), "\(one)")
        #expect(state == LocalState(isLocal: false), "\(one)")
      } else {
        #expect(name == (one.flags.isEmpty ? "base \(index)" : "mine"), "\(one)")
        #expect(state.letters == one.flags, "\(one)")
      }
      // No edit is lost without a row, and nothing else is reported.
      #expect(overwritten.contains(id) == (isDirty && isTheirs), "\(one)")
      #expect(skipped.contains(id) == (isDirty && came && !isTheirs), "\(one)")
    }
  }
}
