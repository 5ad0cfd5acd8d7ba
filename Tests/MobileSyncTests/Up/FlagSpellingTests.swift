import JSON
import MobileSync
import SQLite
import SmartStore
import Testing

@Suite struct FlagSpellingTests {
  /// A spelling of a set flag on a platform whose SDK accepts it.
  struct Spelling: Sendable, CustomTestStringConvertible {
    var platform: Platform
    var yes: JSONValue
    /// The spelling of the other flags.
    var no: JSONValue
    /// Whether the index has the flag; an alterSoup may leave it empty.
    var isIndexed = true
    var testDescription: String {
      "\(yes.text) on \(platform.rawValue)\(isIndexed ? "" : ", not indexed")"
    }

    static let all = [
      Spelling(platform: .ios, yes: .number("1"), no: .number("0")),
      Spelling(platform: .ios, yes: "1", no: "0"),
      Spelling(platform: .ios, yes: "true", no: "false"),
      Spelling(platform: .ios, yes: "YES", no: "NO"),
      Spelling(platform: .android, yes: "true", no: "false"),
      Spelling(platform: .android, yes: "TRUE", no: .number("1")),
      Spelling(platform: .ios, yes: true, no: false, isIndexed: false),
      Spelling(platform: .android, yes: true, no: false, isIndexed: false),
    ]
  }

  /// Three synced accounts, one of them changed and one deleted, and one created and deleted here.
  private func edited(
    _ spelling: Spelling, _ up: SyncUpTarget.Kind = .batch
  ) async throws -> (store: ManagedStore, ids: [String]) {
    let store = try await ManagedStore(UpCase(kind: up, platform: spelling.platform))
    let ids = try await store.syncedAccounts(3)
    let flags = { @Sendable (object: inout JSONObject, set: Set<String>) in
      for name in [
        LocalFields.local, LocalFields.created, LocalFields.updated, LocalFields.deleted,
      ] { object[name] = set.contains(name) ? spelling.yes : spelling.no }
    }
    try await store.edit([ids[0]]) {
      $0["Name"] = "changed"
      flags(&$0, [LocalFields.local, LocalFields.updated])
    }
    try await store.edit([ids[1]]) { flags(&$0, [LocalFields.local, LocalFields.deleted]) }
    let made = try await store.createAccounts(["made", "never"])
    try await store.edit([made[0]]) { flags(&$0, [LocalFields.local, LocalFields.created]) }
    try await store.edit([made[1]]) {
      flags(&$0, [LocalFields.local, LocalFields.created, LocalFields.deleted])
    }
    if !spelling.isIndexed {
      let raw = try Connection(store.directory.file("store.db"))
      try raw.execute("UPDATE TABLE_1 SET TABLE_1_3 = NULL WHERE soup ->> '$.__local__'")
      raw.close()
    }
    return (store, ids)
  }

  @Test(arguments: Spelling.all, [SyncUpTarget.Kind.single, .batch, .collection])
  func `a sync up follows the flags in every spelling`(
    _ spelling: Spelling, _ kind: SyncUpTarget.Kind
  ) async throws {
    let (store, ids) = try await edited(spelling, kind)
    let before = try store.accountCount()
    let end = try await store.up(kind)
    #expect(
      end.report.records.map(\.operation.rawValue).sorted()
        == ["create", "delete", "dropLocally", "update"])
    #expect(try store.serverName(ids[0]) == "changed")
    #expect(try store.serverName(ids[1]) == nil)
    #expect(try store.accountCount() == before)
    #expect(try await store.dirty().isEmpty)
    #expect(try await store.elements().count == 3)
  }

  @Test(arguments: Spelling.all)
  func `a sync down keeps what the flags mark as changed, in every spelling`(
    _ spelling: Spelling
  ) async throws {
    let (store, ids) = try await edited(spelling)
    for id in ids { try store.org.update("Account", id, ["Name": "office"]) }
    let left = try await store.down(ids, .leaveIfChanged)
    #expect(left.skipped[ManagedStore.accounts].map(Set.init) == Set(ids[..<2]))
    #expect(try await store.element(ids[0])?["Name"] == "changed")
    let taken = try await store.down(ids, .overwrite)
    #expect(taken.overwritten[ManagedStore.accounts].map(Set.init) == Set(ids[..<2]))
  }

  @Test(arguments: Spelling.all)
  func `cleaning ghosts keeps what the flags mark as changed, in every spelling`(
    _ spelling: Spelling
  ) async throws {
    let (store, ids) = try await edited(spelling)
    for id in ids { try store.org.delete(id) }
    let state = try #require(try await store.manager.syncs().first { $0.type == .syncDown })
    #expect(try await store.manager.cleanResyncGhosts(id: state.id).count == 1)
    #expect(try await store.element(ids[0]) != nil)
    #expect(try await store.element(ids[1]) != nil)
  }

  @Test(arguments: [SyncUpTarget.Kind.single, .batch, .collection])
  func `an element that only its index marks is reported`(_ kind: SyncUpTarget.Kind) async throws {
    let store = try await ManagedStore(UpCase(kind: kind, platform: .ios))
    let ids = try await store.syncedAccounts(2)
    let raw = try Connection(store.directory.file("store.db"))
    try raw.execute("UPDATE TABLE_1 SET TABLE_1_3 = '1' WHERE TABLE_1_0 = '\(ids[0])'")
    raw.close()
    let requests = store.org.requests(.composite)
    let end = try await store.up(kind)
    #expect(end.report.outcomes == [ids[0]: .failed(code: "", message: SyncUpElements.unclear)])
    #expect(store.org.requests(.composite) == requests)
  }
}
