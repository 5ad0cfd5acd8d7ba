import JSON
import LocalOrg
import MobileSync
import Salesforce
import SmartStore
import TestSupport
import Testing

/// A store with the soups of the SDK's tests, its org, and its sync manager, as in an app.
final class ManagedStore {
  static let accounts = "accounts"
  static let contacts = "contacts"
  let directory = TemporaryDirectory("managed")
  let org: SyncedOrg
  let platform: Platform
  let manager: SyncManager

  /// - Parameters:
  ///   - overlapSeconds: 0, as in the SDK.
  ///   - isDisposable: Whether the store's file has no other reader.
  ///   - adjust: Changes the store before the manager opens it.
  init(
    _ platform: Platform = .ios, org: SyncedOrg? = nil, as username: String = "admin@example.com",
    settings: SyncSettings = SyncSettings(overlapSeconds: 0),
    customTargets: CustomTargets = CustomTargets(), isDisposable: Bool = false,
    adjust: (Store) throws -> Void = { _ in }
  ) async throws {
    let org = try org ?? SyncedOrg()
    self.org = org
    self.platform = platform
    if isDisposable {
      let client = try org.client(username)
      manager = try await SyncManager(
        store: Self.makeStore(directory.file("store.db"), platform, isDisposable: true),
        settings: settings, customTargets: customTargets
      ) { () async throws(Salesforce.OrgError) in try await client.session() }
      return
    }
    let store = try Self.makeStore(directory.file("store.db"), platform)
    try adjust(store)
    try store.close()
    manager = try await Self.manager(
      directory.file("store.db"), org, username, settings, customTargets)
  }

  /// A store, and the IDs of the given number of accounts of its org.
  static func with(accounts count: Int, _ platform: Platform = .ios) async throws
    -> (ManagedStore, [String])
  {
    let store = try await ManagedStore(platform)
    return (store, try store.org.makeAccounts(count))
  }

  static func with(
    families count: Int, children: Int, _ platform: Platform = .ios
  ) async throws -> (ManagedStore, [Family]) {
    let store = try await ManagedStore(platform)
    return (store, try store.org.makeFamilies(count, children: children))
  }

  /// A new manager of the store, as after a restart of the program.
  func restarted(settings: SyncSettings = SyncSettings(overlapSeconds: 0)) async throws
    -> SyncManager
  { try await Self.manager(directory.file("store.db"), org, "admin@example.com", settings) }

  private static func manager(
    _ path: String, _ org: SyncedOrg, _ username: String, _ settings: SyncSettings,
    _ customTargets: CustomTargets = CustomTargets()
  ) async throws -> SyncManager {
    let client = try org.client(username)
    return try await SyncManager(
      store: Store(opening: path), settings: settings, customTargets: customTargets
    ) { () async throws(Salesforce.OrgError) in try await client.session() }
  }

  static func makeStore(
    _ path: String, _ platform: Platform, isDisposable: Bool = false
  ) throws -> sending Store {
    let store =
      isDisposable
      ? try Store(disposable: path, platform: platform)
      : try Store(creating: path, platform: platform)
    try store.registerSoup(
      accounts,
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .string),
        IndexSpec(path: "Description", type: .string), IndexSpec(path: "__local__", type: .string),
        IndexSpec(path: "__sync_id__", type: .integer),
      ])
    try store.registerSoup(
      contacts,
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "LastName", type: .string),
        IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
        IndexSpec(path: "AccountId", type: .string),
      ])
    return store
  }

  // MARK: The app's actions

  /// Creates and runs a sync down of accounts, all or those with these IDs.
  @discardableResult
  func down(_ ids: [String]?, _ mode: MergeMode = .overwrite) async throws -> SyncReport {
    try await manager.syncDown(
      target: .soql(.accounts(ids)), options: SyncOptions(mergeMode: mode), soupName: Self.accounts
    ).finish()
  }

  func edit(
    _ ids: [String], of soup: String = accounts, _ change: @Sendable (inout JSONObject) -> Void
  ) async throws {
    try await manager.withStore { store in
      try store.transaction {
        for id in ids {
          var object = try #require(try store.elements(in: soup, where: "Id", is: id).first?.object)
          object["__local__"] = true
          object["__locally_updated__"] = true
          change(&object)
          try store.upsert([.object(object)], into: soup)
        }
      }
    }
  }

  func rename(_ ids: [String], to name: String = "local") async throws {
    try await edit(ids) { $0["Name"] = .string("\(name) \($0["Id"]?.string ?? "")") }
  }

  func delete(_ ids: [String], of soup: String = accounts) async throws {
    try await edit(ids, of: soup) {
      $0["__locally_updated__"] = false
      $0["__locally_deleted__"] = true
    }
  }

  @discardableResult func create(
    _ records: [JSONObject], type: String? = "Account", in soup: String = accounts
  ) async throws -> [String] {
    try await manager.withStore { store in
      let count = try store.count(of: soup)
      let made: [JSONObject] = records.enumerated().map { index, fields in
        var object = fields
        object["Id"] = .string(object["Id"]?.string ?? "local_\(count + index)_\(index)")
        if let type { object["attributes"] = ["type": .string(type)] }
        object["__local__"] = true
        object["__locally_created__"] = true
        object["__locally_updated__"] = false
        object["__locally_deleted__"] = false
        return object
      }
      try store.upsert(made.map { .object($0) }, into: soup)
      return made.compactMap { $0["Id"]?.string }
    }
  }

  @discardableResult func createAccounts(_ names: [String]) async throws -> [String] {
    try await create(names.map { ["Name": .string($0), "Description": .string("of \($0)")] })
  }

  // MARK: The store's contents

  func elements(_ soup: String = accounts) async throws -> [JSONValue] {
    try await manager.withStore { store in
      var elements: [JSONValue] = []
      try store.forEachElement(in: soup) { elements.append(try $0.value()) }
      return elements
    }
  }

  func element(_ id: String, in soup: String = accounts) async throws -> JSONValue? {
    try await elements(soup).first { $0["Id"]?.string == id }
  }

  /// One member of every element as text, sorted.
  func column(_ path: String, of soup: String = accounts) async throws -> [String] {
    try await elements(soup).compactMap { $0[path]?.string }.sorted()
  }

  func dirty(_ soup: String = accounts) async throws -> [String] {
    try await elements(soup).filter { $0["__local__"] == true }.compactMap { $0["Id"]?.string }
      .sorted()
  }

  func server(_ object: String, _ field: String, of id: String) throws -> JSONValue? {
    try org.values(object, [field], of: id)?[field]
  }
}

extension SoqlTarget {
  /// The target for all accounts, or those with these IDs, as in the SDK's tests.
  static func accounts(_ ids: [String]? = nil, fields: String = "Id, Name, Description")
    -> SoqlTarget
  {
    let list = ids.map { ids in
      " WHERE Id IN (" + ids.map { "'\($0)'" }.joined(separator: ", ") + ")"
    }
    return SoqlTarget(
      query:
        "SELECT \(fields), LastModifiedDate FROM Account\(list ?? "") ORDER BY LastModifiedDate")
  }
}

extension SyncManager {
  func syncDown(_ target: SyncTarget, named name: String? = nil) throws(SyncError) -> SyncRun {
    try syncDown(target: target, soupName: ManagedStore.accounts, syncName: name)
  }
}

extension SyncRun {
  /// The run, once it has ended without an error.
  func finished() async throws(SyncError) -> SyncRun {
    try await finish()
    return self
  }

  /// The states as `status progress/total`, to the end.
  var story: [String] {
    get async {
      var story: [String] = []
      for await state in self {
        story.append("\(state.status.rawValue) \(state.progress)/\(state.totalSize)")
      }
      return story
    }
  }
}
