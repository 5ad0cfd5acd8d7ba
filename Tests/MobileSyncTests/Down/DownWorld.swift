import JSON
import LocalOrg
import SmartStore
import Testing

@testable import MobileSync

/// The kinds of sync down whose elements are records.
enum DownKind: String, CaseIterable, Sendable {
  case soql, sosl, mru, refresh, parentChildren, briefcase

  /// The target that brings the accounts named `Acme …`.
  var target: SyncTarget {
    switch self {
    case .soql:
      .soql(SoqlTarget(query: "SELECT Id, Name FROM Account WHERE Name LIKE 'Acme%'"))
    case .sosl:
      .sosl(
        SoslTarget(
          query: "FIND {Acme} IN NAME FIELDS RETURNING Account(Id, Name, LastModifiedDate)"))
    case .mru: .mru(MruTarget(sobjectType: "Account", fieldlist: ["Name"]))
    case .refresh:
      .refresh(
        RefreshTarget(sobjectType: "Account", fieldlist: ["Name", "Site"], soupName: "accounts"))
    case .parentChildren: .parentChildren(.accounts(filter: "Name LIKE 'Acme%'"))
    case .briefcase: .briefcase(BriefcaseTarget(infos: [BriefcasePrimeTests.accounts]))
    }
  }

  /// The syncs of the store, in their order; the last is the one under test.
  func syncs(_ mode: MergeMode, _ other: SyncTarget?) -> [SyncDefinition] {
    let sync = SyncDefinition(
      syncName: "down", syncType: .syncDown, soupName: "accounts", target: other ?? target,
      options: SyncOptions(mergeMode: mode))
    // A refresh completes what something else has put there.
    return self == .refresh
      ? [.soql("ids", "SELECT Id FROM Account", into: "accounts", mode), sync] : [sync]
  }
}

/// Where a sync down puts its records.
enum DownSink: String, CaseIterable, Sendable {
  case store, snapshot
}

/// One kind of sync down, run again and again into one kind of sink.
final class DownWorld {
  let org: SyncedOrg
  private let names: [String]
  private let store: ManagedStore?
  private let snapshot: Snapshot?

  init(
    _ kind: DownKind, _ sink: DownSink, _ mode: MergeMode = .overwrite,
    settings: SyncSettings = SyncSettings(overlapSeconds: 0), target: SyncTarget? = nil
  ) async throws {
    let syncs = kind.syncs(mode, target)
    names = syncs.map(\.syncName)
    let org = try SyncedOrg()
    self.org = org
    try org.org.addBriefcase(
      "all", rules: [BriefcaseRule("Account", limit: 5000)], users: ["admin@example.com"])
    switch sink {
    case .store:
      let store = try await ManagedStore(org: org, settings: settings)
      try await store.manager.setUpSyncs(from: SyncsConfig(syncs: syncs))
      self.store = store
      snapshot = nil
    case .snapshot:
      let snapshot = Snapshot(
        org, soups: [.sample("accounts", "Name"), .sample("contacts", "LastName", "AccountId")],
        syncs: syncs)
      snapshot.overlapSeconds = settings.overlapSeconds
      self.snapshot = snapshot
      store = nil
    }
  }

  /// What a run did.
  struct Run {
    var written = 0
    var ghosts = 0
    var isRefused = false
  }

  /// Runs the syncs; `listing` removes what the org no longer has and fetches what is not here.
  @discardableResult
  func sync(listing: Bool = false) async throws -> Run {
    var result = Run()
    if let snapshot {
      snapshot.ghosts.listIDs = listing ? ["userstore/ids", "userstore/down"] : []
      let outcome = try await snapshot.prime()
      result.written = outcome.soups.reduce(0) { $0 + $1.written }
      result.ghosts = outcome.soups.reduce(0) { $0 + $1.ghosts }
      result.isRefused = outcome.guardTripped
    }
    guard let store else { return result }
    for name in names where listing {
      do throws(SyncError) {
        result.ghosts += try await store.manager.cleanResyncGhosts(named: name).count
      } catch {
        guard error.code == .tooManyDeletes else { throw error }
        result.isRefused = true
      }
    }
    for name in names {
      result.written += try await store.manager.reSync(named: name).finish().written
    }
    return result
  }

  /// The names of the accounts that are here, by id.
  func names() async throws -> [String: String] {
    let elements = try await store?.elements() ?? snapshot?.elements("accounts") ?? []
    if let snapshot {
      let others = try snapshot.column("Name", of: "accounts", .android)
      #expect(others == elements.compactMap { $0["Name"]?.string }.sorted())
    }
    var names: [String: String] = [:]
    for element in elements {
      names[try #require(element["Id"]?.string)] = element["Name"]?.string ?? ""
    }
    #expect(names.count == elements.count)
    return names
  }

  /// The flag `__local__` of all elements.
  func dirty() async throws -> [String] {
    let elements = try await store?.elements() ?? snapshot?.elements("accounts") ?? []
    return elements.filter { $0["__local__"] == true }.compactMap { $0["Id"]?.string }
  }

  /// Where the sync goes on from.
  func cursor() async throws -> Int64 {
    if let store { return try await store.manager.syncStatus(named: "down")?.maxTimeStamp ?? -1 }
    return try snapshot.map { try SyncsSoup.states(in: $0.store()) }?.last?.maxTimeStamp ?? -1
  }

  /// Changes an element as an app does, and takes the change back.
  func edit(_ id: String, _ name: String, isLocal: Bool = true) async throws {
    let change: @Sendable (inout JSONObject) -> Void = { element in
      element["Name"] = .string(name)
      element["__local__"] = JSONValue(isLocal)
      element["__locally_updated__"] = JSONValue(isLocal)
    }
    try await store?.edit([id], change)
    try snapshot?.edit("accounts", id, change)
  }
}
