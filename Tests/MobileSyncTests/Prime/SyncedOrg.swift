import JSON
import LocalOrg
import MobileSync
import Salesforce
import SmartStore
import Snapshots
import Synchronization
import System
import TestSupport
import Testing

/// A served org with a stepping clock, and sessions of its users over HTTP.
struct SyncedOrg {
  static let start: Int64 = 1_700_000_000_000
  let directory = TemporaryDirectory("synced")
  let org: LocalOrg.Org
  let server: OrgServer
  let admin: OrgUser
  init(_ adjust: (inout OrgServer.Options) -> Void = { _ in }) throws {
    let start = LocalOrg.Org.Options(clockStart: Self.start)
    try DirectoryTemplate.copy("synced org", to: directory.file("org")) { template in
      let org = try LocalOrg.Org(directory: template, options: start)
      for name in ["ada", "ben"] {
        try org.addUser("\(name)@example.com", lastName: name, profile: "Field Technician")
      }
    }
    org = try LocalOrg.Org(directory: directory.file("org"), options: start)
    admin = try #require(org.user(named: "admin@example.com"))
    var options = OrgServer.Options()
    options.writesLog = false
    adjust(&options)
    server = try OrgServer(org: org, options: options)
  }

  init(accounts count: Int) throws {
    try self.init()
    try makeAccounts(count)
  }

  static func with(accounts count: Int) throws -> (SyncedOrg, [String]) {
    let org = try SyncedOrg()
    return (org, try org.makeAccounts(count))
  }

  var answerLimit: Int {
    get { limit.withLock { $0 } }
    nonmutating set { limit.withLock { $0 = newValue } }
  }
  private let limit = Locked(64 << 20)

  func session(_ username: String = "admin@example.com") async throws -> Session {
    try await client(username).session()
  }

  func client(
    _ username: String = "admin@example.com", concurrency: Int = 4
  ) throws -> Salesforce.Org {
    let token = try server.token(for: username, app: "app")
    return try Salesforce.Org(
      url: server.url, credentials: Credentials(.accessToken(Secret(token))), apiVersion: "66.0",
      concurrency: concurrency, responseLimitBytes: answerLimit, pause: .none)
  }

  /// The values of a record's fields in the org; nil for a deleted record.
  func values(_ object: String, _ fields: [String], of id: String) throws -> JSONObject? {
    try? org.read(object, id: id, fields: fields, as: admin)
  }

  @discardableResult
  func make(_ object: String, _ fields: JSONObject, as user: OrgUser? = nil) throws -> String {
    let outcome = org.create(object, fields, as: user ?? admin)
    if let error = outcome.errors.first { throw error }
    return try #require(outcome.id)
  }

  @discardableResult func makeAccounts(_ count: Int, name: String = "Account") throws -> [String] {
    try org.transaction {
      try (0..<count).map { try make("Account", ["Name": .string("\(name) \($0)")]) }
    }
  }

  func update(_ object: String, _ id: String, _ fields: JSONObject) throws {
    if let error = org.update(object, id: id, fields, as: admin).errors.first { throw error }
  }

  func delete(_ id: String) throws {
    if let error = org.delete(nil, id: id, as: admin).errors.first { throw error }
  }

  func requests(_ kind: LocalOrg.RequestKind) -> Int { server.log.counts[kind] ?? 0 }
}

final class Snapshot {
  let directory = TemporaryDirectory("snapshot")
  let org: SyncedOrg
  let username: String
  var stores: [(name: String, config: StoreConfig, syncs: [SyncDefinition])]
  var platforms: [Platform] = Platform.allCases
  var generation = 0
  var overlapSeconds = 0
  var bulkAbove = SyncDefaults.bulkAbove
  var method = BulkLoader.Method.pages
  var listIDs: Set<String> = []
  var ghosts = DeletionGuard()
  var onRuleErrors = RuleErrorPolicy.keepAndWarn
  var changedDefinitions: Set<String> = []
  var changed: [String: Set<String>] = [:]
  var edited: [String: Set<String>] = [:]
  var cursors: [String: Int64] = [:]
  var stamps: [String: [String: Int64]] = [:]
  var stampsRead: Int64?
  var wasIncomplete = false
  var variables: [String: String] = [:]
  var wide: WideCalls?
  var concurrency = 4
  var asksAhead = false
  var pool: RecordPool?
  /// The user's session, if it exists before the prime.
  var session: Session?
  let thread = StoreThread(name: "store")
  let events = Events()
  init(
    _ org: SyncedOrg, as username: String = "admin@example.com", soups: [StoreConfig.Soup],
    syncs: [SyncDefinition]
  ) {
    self.org = org
    self.username = username
    stores = [("userstore", StoreConfig(soups: soups), syncs)]
  }

  func path(_ platform: Platform, _ generation: Int? = nil, store: String = "userstore") -> String {
    directory.file("\(generation ?? self.generation)-\(platform.rawValue)-\(store).db")
  }

  static func primed(
    _ org: SyncedOrg, as username: String = "admin@example.com", soups: [StoreConfig.Soup],
    syncs: [SyncDefinition]
  ) async throws -> Snapshot {
    try await Snapshot(org, as: username, soups: soups, syncs: syncs).primed()
  }

  func primed() async throws -> Snapshot {
    try await prime()
    return self
  }

  @discardableResult func prime(listing syncs: String...) async throws -> PrimeOutcome {
    listIDs = Set(syncs)
    return try await prime()
  }

  /// Primes the next generation; it counts only if something changed.
  @discardableResult func prime(
    finish: @escaping @Sendable (Store, Platform) throws -> Void = { _, _ in }
  ) async throws -> PrimeOutcome {
    let next = generation + 1
    let primed = stores.map { store in
      PrimeStore(
        storeName: store.name, config: store.config, syncs: store.syncs,
        files: Dictionary(
          uniqueKeysWithValues: platforms.map { platform in
            (
              platform,
              PrimeFile(
                previous: generation > 0 ? path(platform, store: store.name) : nil,
                new: path(platform, next, store: store.name))
            )
          }))
    }
    var input = PrimeInput(
      stores: primed, now: org.org.now(), overlapSeconds: overlapSeconds, cursors: cursors,
      knownStamps: stamps)
    input.stampsRead = stampsRead
    input.wasIncomplete = wasIncomplete
    input.listIDs = listIDs
    input.ghosts = ghosts
    input.bulkAbove = bulkAbove
    input.method = method
    input.onRuleErrors = onRuleErrors
    input.variables = variables
    input.changedDefinitions = changedDefinitions
    (input.changed, input.edited) = (changed, edited)
    if let wide { input.wide = wide }
    input.pool = pool
    input.finish = finish
    var user: Session
    if let session {
      user = session
    } else {
      user = try await org.client(username, concurrency: concurrency).session()
    }
    if asksAhead {
      user = await user.asking(try input.queriesAhead(), describing: [], input.wide.ahead)
    }
    let outcome = try await SnapshotPrime.run(
      input, session: user, thread: thread, report: events.add)
    cursors = outcome.cursors
    stamps = outcome.stamps
    stampsRead = input.now
    if outcome.changed { (generation, wasIncomplete) = (next, outcome.isIncomplete) }
    return outcome
  }

  func store(_ platform: Platform = .ios, name: String = "userstore", writable: Bool = false) throws
    -> Store
  { try Store(opening: path(platform, store: name), readOnly: !writable) }

  func elements(_ soup: String, _ platform: Platform = .ios, store: String = "userstore") throws
    -> [JSONValue]
  {
    var elements: [JSONValue] = []
    try self.store(platform, name: store).forEachElement(in: soup) {
      elements.append(try $0.value())
    }
    return elements
  }

  /// One member of every element, sorted.
  func column(_ path: String, of soup: String, _ platform: Platform = .ios) throws -> [String] {
    try elements(soup, platform).compactMap { $0[path]?.string }.sorted()
  }

  /// The same on all platforms; concatenated if they differ.
  func columns(_ path: String, of soup: String) throws -> [String] {
    let columns = try Platform.allCases.map { try column(path, of: soup, $0) }
    return Set(columns).count == 1 ? columns[0] : columns.flatMap(\.self)
  }

  /// Changes an element of the current generation as an app would, on both platforms.
  func edit(_ soup: String, _ id: String, _ change: (inout JSONObject) -> Void) throws {
    for platform in platforms {
      let store = try store(platform, writable: true)
      var object = try #require(try store.elements(in: soup, where: "Id", is: id).first?.object)
      object["__local__"] = true
      change(&object)
      try store.upsert([.object(object)], into: soup)
      try store.close()
    }
  }

  var files: [String] { (try? Files.list(directory.path)) ?? [] }
}

final class Events: Sendable {
  private let state = Mutex<[SyncEvent]>([])
  var all: [SyncEvent] { state.withLock { $0 } }
  @Sendable func add(_ event: SyncEvent) { state.withLock { $0.append(event) } }
}

extension StoreConfig.Soup {
  static func sample(_ name: String, _ paths: String...) -> StoreConfig.Soup {
    var indexes = [IndexSpec(path: "Id", type: .string)]
    indexes += paths.map { IndexSpec(path: $0, type: .string) }
    for path in ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"] {
      indexes.append(IndexSpec(path: path, type: .string))
    }
    indexes.append(IndexSpec(path: "__sync_id__", type: .integer))
    return StoreConfig.Soup(soupName: name, indexes: indexes)
  }
}

extension SyncDefinition {
  static func down(
    _ name: String, _ target: SyncTarget, into soup: String, _ mode: MergeMode = .overwrite
  ) -> SyncDefinition {
    SyncDefinition(
      syncName: name, syncType: .syncDown, soupName: soup, target: target,
      options: SyncOptions(mergeMode: mode))
  }

  static func soql(
    _ name: String, _ query: String, into soup: String, _ mode: MergeMode = .overwrite
  ) -> SyncDefinition { .down(name, .soql(SoqlTarget(query: query)), into: soup, mode) }

  static func briefcase(
    _ name: String, _ infos: [BriefcaseObjectInfo], perRetrieve: Int = 2000,
    _ mode: MergeMode = .overwrite
  ) -> SyncDefinition {
    .down(
      name, .briefcase(BriefcaseTarget(infos: infos, countIdsPerRetrieve: perRetrieve)),
      into: infos.first?.soupName ?? "", mode)
  }

  static func up(_ name: String, soup: String, fields: [String]) -> SyncDefinition {
    SyncDefinition(
      syncName: name, syncType: .syncUp, soupName: soup, target: .syncUp(SyncUpTarget()),
      options: SyncOptions(fieldlist: fields, mergeMode: .leaveIfChanged))
  }
}
