import JSON
import LocalOrg
import MobileSync
import SmartStore
import System
import Testing

enum DownKind: String, CaseIterable, Sendable {
  case soql, sosl, mru, refresh, parentChildren, briefcase, custom

  /// Whether it selects records by a condition and removes those that no longer match.
  var selects: Bool { [.soql, .sosl, .parentChildren, .custom].contains(self) }

  /// The target for the accounts named `Acme …`, with small pages if possible.
  func target(_ fields: [String] = ["Name"]) throws -> SyncTarget {
    let list = fields.joined(separator: ", ")
    let filter = "Name LIKE 'Acme%'"
    switch self {
    case .soql: return .soql(SoqlTarget(query: "SELECT Id, \(list) FROM Account WHERE \(filter)"))
    case .sosl:
      return .sosl(
        SoslTarget(
          query: "FIND {Acme} IN NAME FIELDS "
            + "RETURNING Account(Id, \(list), LastModifiedDate)"))
    case .mru: return .mru(MruTarget(sobjectType: "Account", fieldlist: fields))
    case .refresh:
      return .refresh(
        RefreshTarget(
          sobjectType: "Account", fieldlist: fields + ["Site"], soupName: "accounts",
          countIdsPerSoql: 4))
    case .parentChildren:
      var target = ParentChildrenTarget.accounts(filter: filter)
      target.parentFieldlist = ["Id"] + fields
      return .parentChildren(target)
    case .briefcase:
      var info = BriefcasePrimeTests.accounts
      info.fieldlist = fields
      return .briefcase(BriefcaseTarget(infos: [info], countIdsPerRetrieve: 4))
    case .custom:
      let json = JSONValue.object(["fields": .string(list)]).text
      return .custom(try CustomTarget(androidImpl: AcmeTarget.className, json: json))
    }
  }

  /// The syncs of the store in order; the last one is under test.
  func syncs(_ mode: MergeMode, _ other: SyncTarget?) throws -> [SyncDefinition] {
    let sync = SyncDefinition.down("down", try other ?? target(), into: "accounts", mode)
    // A refresh updates records that another sync fetched.
    return self == .refresh
      ? [.soql("ids", "SELECT Id FROM Account", into: "accounts", mode), sync] : [sync]
  }
}

/// A custom target: accounts named `Acme …` in pages of four, in the order of their dates.
struct AcmeTarget: CustomSyncDownTarget {
  static let className = "com.example.AcmeTarget"
  let fields: String
  var isSortedByModification: Bool { true }

  private static func query(_ soql: String, _ org: SyncOrg) async throws -> [JSONValue] {
    let answer = try await org.send("GET", "query", query: [("q", soql)])
    return try JSONValue(parsing: Array(answer.utf8))["records"]?.array ?? []
  }

  func fetch(since: Int64?, at place: String?, org: SyncOrg) async throws -> CustomPage {
    let date = since.map { " AND LastModifiedDate > \(Dates.utc($0))" } ?? ""
    let offset = place ?? "0"
    let records = try await Self.query(
      "SELECT Id, \(fields), LastModifiedDate FROM Account WHERE Name LIKE 'Acme%'\(date) "
        + "ORDER BY LastModifiedDate, Id LIMIT 4 OFFSET \(offset)", org)
    return CustomPage(
      records: records.map(\.text), totalSize: 100,
      next: records.count < 4 ? nil : String((Int(offset) ?? 0) + 4))
  }

  func remoteIDs(among localIDs: [String], org: SyncOrg) async throws -> Set<String>? {
    Set(
      try await Self.query("SELECT Id FROM Account WHERE Name LIKE 'Acme%'", org)
        .compactMap { $0["Id"]?.string })
  }

  static var targets: CustomTargets {
    var targets = CustomTargets()
    targets.add(className) { json in
      AcmeTarget(fields: try JSONValue(parsing: Array(json.utf8))["fields"]?.string ?? "")
    }
    return targets
  }
}

enum DownSink: String, CaseIterable, Sendable {
  /// A live store, and one that no one else reads until it gets its name.
  case store, disposable
  case snapshot
}

/// One kind of sync down, run repeatedly into one kind of sink.
final class DownWorld {
  let org: SyncedOrg
  private let names: [String]
  private let store: ManagedStore?
  private let snapshot: Snapshot?
  init(
    _ kind: DownKind, _ sink: DownSink, _ mode: MergeMode = .overwrite,
    settings: SyncSettings = SyncSettings(overlapSeconds: 0), target: SyncTarget? = nil,
    org known: SyncedOrg? = nil, _ platform: Platform = .ios, as user: String = "admin@example.com"
  ) async throws {
    let syncs = try kind.syncs(mode, target)
    names = syncs.map(\.syncName)
    let org = try known ?? SyncedOrg()
    self.org = org
    if known == nil {
      try org.org.addBriefcase(
        "all", rules: [BriefcaseRule("Account", limit: 5000)],
        users: ["admin@example.com", "ada@example.com"])
    }
    switch sink {
    case .store, .disposable:
      let store = try await ManagedStore(
        platform, org: org, as: user, settings: settings, customTargets: AcmeTarget.targets,
        isDisposable: sink == .disposable)
      try await store.manager.setUpSyncs(from: SyncsConfig(syncs: syncs))
      self.store = store
      snapshot = nil
    case .snapshot:
      let snapshot = Snapshot(
        org, as: user,
        soups: [.sample("accounts", "Name"), .sample("contacts", "LastName", "AccountId")],
        syncs: syncs)
      snapshot.overlapSeconds = settings.overlapSeconds
      self.snapshot = snapshot
      store = nil
    }
  }

  struct Run {
    var written = 0
    var ghosts = 0
    var isRefused = false
  }

  /// Runs the syncs; `listing` also removes what the org no longer has and fetches what is missing.
  @discardableResult func sync(listing: Bool = false) async throws -> Run {
    var result = Run()
    if let snapshot {
      snapshot.listIDs = listing ? ["userstore/ids", "userstore/down"] : []
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

  /// The names of the accounts that the org has for this kind, by ID.
  func expected() throws -> [String: String] {
    let page = try org.org.query(
      "SELECT Id, Name FROM Account WHERE Name LIKE 'Acme%'", as: org.admin, includeDeleted: false)
    var names: [String: String] = [:]
    for record in try JSONValue(parsing: page.records).array ?? [] {
      names[try #require(record["Id"]?.string)] = record["Name"]?.string
    }
    return names
  }

  /// The elements of each store, without the time of writing.
  func texts() async throws -> [[String]] {
    let all: [[JSONValue]] =
      if let snapshot { try Platform.allCases.map { try snapshot.elements("accounts", $0) } } else {
        [try await store?.elements() ?? []]
      }
    return all.map { elements in
      elements.compactMap { element in
        guard var object = element.object else { return nil }
        object["_soupLastModifiedDate"] = nil
        return JSONValue.object(object).text
      }
    }
  }

  func dirty() async throws -> [String] {
    let elements = try await store?.elements() ?? snapshot?.elements("accounts") ?? []
    return elements.filter { $0["__local__"] == true }.compactMap { $0["Id"]?.string }
  }

  func cursor() async throws -> Int64 {
    if let store { return try await store.manager.syncStatus(named: "down")?.maxTimeStamp ?? -1 }
    return try snapshot.map { try SyncsSoup.states(in: $0.store()) }?.last?.maxTimeStamp ?? -1
  }

  /// Changes an element as an app does, or reverts the change.
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
