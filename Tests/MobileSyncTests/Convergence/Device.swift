import JSON
import MobileSync
import Salesforce
import SmartStore
import System
import TestSupport

/// An app on a device: a store, its sync manager, and the user's actions.
final class Device {
  static let soup = "records"

  static func name(_ number: Int) -> String { number == 0 ? "ada" : "ben" }
  static func username(_ number: Int) -> String { name(number) + "@example.com" }

  struct Element: Sendable, Hashable {
    var entry: Int64
    var object: JSONObject

    func text(_ name: String) -> String { object[name]?.string ?? "" }
    func flag(_ name: String) -> Bool { object[name]?.bool ?? false }
    var id: String { text("Id") }
    var isDirty: Bool { flag("__local__") }
    var isCreated: Bool { flag("__locally_created__") }
    var isDeleted: Bool { flag("__locally_deleted__") }
    var hasServerID: Bool { !id.isEmpty && !id.hasPrefix("local_") }
  }

  let number: Int
  let setup: HistorySetup
  let platform: Platform
  let client: Salesforce.Org
  private let directory: MemoryDirectory
  private var opened = 0
  private(set) var path: String
  private(set) var manager: SyncManager
  /// The rows that the last sync up left unsent.
  var left: Set<Int64> = []
  /// Clean elements as written by a sync down.
  var arrived: [Int64: JSONObject] = [:]
  init(_ number: Int, _ setup: HistorySetup, client: Salesforce.Org, platform: Platform? = nil)
    async throws
  {
    self.number = number
    self.setup = setup
    self.client = client
    self.platform = platform ?? (number == 0 ? .ios : .android)
    directory = MemoryDirectory("device")
    path = directory.file("0.db")
    let store = try Store(creating: path, platform: self.platform)
    try Self.register(setup, in: store)
    manager = try await Self.manager(path, setup, client)
    _ = try await manager.createSyncDown(
      target: setup.downTarget, options: SyncOptions(mergeMode: setup.downMode),
      soupName: Self.soup, syncName: "down")
    _ = try await manager.createSyncUp(
      target: .syncUp(setup.upTarget), options: setup.upOptions, soupName: Self.soup,
      syncName: "up")
  }

  private static func register(_ setup: HistorySetup, in store: Store) throws {
    let soup = StoreConfig.Soup.sample(Self.soup, "Name")
    try store.registerSoup(soup.soupName, indexSpecs: soup.indexes)
    try store.close()
  }

  private static func manager(
    _ path: String, _ setup: HistorySetup, _ client: Salesforce.Org
  ) async throws -> SyncManager {
    var settings = SyncSettings(
      overlapSeconds: setup.overlapSeconds, maxDeletesPercent: 100, minimumDeletes: 100,
      unansweredWaitSeconds: setup.quietSeconds)
    settings.deduplicates = setup.deduplicates
    return try await SyncManager(store: Store(opening: path), org: client, settings: settings)
  }

  /// Copies the file as it is on disk now, which is the state after a kill.
  ///
  /// The lock prevents a commit between two reads.
  static func copy(_ path: String, to copy: String) throws {
    let store = try Store(opening: path, readOnly: true)
    try store.transaction {
      _ = try store.soupNames()
      try Files.copy(path, to: copy)
      if Files.exists(path + "-journal") {
        try Files.copy(path + "-journal", to: copy + "-journal")
      }
    }
    try store.close()
  }

  func nextPath() -> String {
    opened += 1
    return directory.file("\(opened).db")
  }

  /// Restarts the app on a copy of its file; the old process is abandoned.
  func start(at path: String) async throws {
    self.path = path
    left = []
    manager = try await Self.manager(path, setup, client)
  }

  // MARK: Store

  func elements() async throws -> [Element] {
    try await manager.withStore { store in
      var elements: [Element] = []
      try store.forEachElement(in: Self.soup) { stored in
        guard let object = try stored.value().object else { return }
        elements.append(Element(entry: stored.soupEntryID, object: object))
      }
      return elements
    }
  }

  func write(_ object: JSONObject) async throws -> Int64 { try await Self.write(object, manager) }

  static func write(_ object: JSONObject, _ manager: SyncManager) async throws -> Int64 {
    try await manager.withStore { store in
      let stored = try store.upsert([.object(object)], into: Self.soup)
      return stored.first?["_soupEntryId"]?.int ?? 0
    }
  }

  func remove(_ entry: Int64) async throws {
    try await manager.withStore { store in try store.remove([entry], from: Self.soup) }
  }

  /// A record created on the device, as an app stores it.
  func newElement(_ token: String) -> JSONObject {
    var object: JSONObject = [
      "Id": .string("local_\(token)"), "attributes": ["type": .string(setup.object)],
      "Name": .string(HistoryOrg.prefix + token), "__local__": true,
      "__locally_created__": true, "__locally_updated__": false, "__locally_deleted__": false,
    ]
    for field in setup.fields { object[field] = .string("\(token)-\(field)") }
    if let externalID = setup.externalID { object[externalID] = .string(token) }
    return object
  }

  /// The element that an app stores after its user changes a field.
  static func edited(_ object: JSONObject, _ field: String, _ value: String) -> JSONObject {
    var object = object
    object[field] = .string(value)
    object["__local__"] = true
    object["__locally_updated__"] = true
    return object
  }
}

extension HistorySetup {
  var fieldlist: [String] { ["Id", "Name"] + fields }

  /// The fields that a device reads.
  ///
  /// The external ID is not sent, since it is in the URL.
  private var readFields: [String] {
    fieldlist + [externalID].compactMap(\.self) + ["LastModifiedDate"]
  }

  var query: String {
    "SELECT \(readFields.joined(separator: ", ")) FROM \(object) "
      + "WHERE Name LIKE '\(HistoryOrg.prefix)%'"
  }

  var downTarget: SyncTarget {
    guard isBriefcase else { return .soql(SoqlTarget(query: query)) }
    let info = BriefcaseObjectInfo(
      soupName: Device.soup, sobjectType: object, fieldlist: readFields)
    return .briefcase(BriefcaseTarget(infos: [info], countIdsPerRetrieve: 5))
  }

  var upTarget: SyncUpTarget {
    let kinds: [SyncUpTarget.Kind: (String, String)] = [
      .batch: (
        "SFBatchSyncUpTarget", "com.salesforce.androidsdk.mobilesync.target.BatchSyncUpTarget"
      ), .single: ("SFSyncUpTarget", "com.salesforce.androidsdk.mobilesync.target.SyncUpTarget"),
    ]
    return SyncUpTarget(
      kind: upKind, createFieldlist: fieldlist, externalIdFieldName: externalID,
      maxBatchSize: upBatch,
      fields: TargetFields(iOSImpl: kinds[upKind]?.0, androidImpl: kinds[upKind]?.1))
  }

  var upOptions: SyncOptions { SyncOptions(fieldlist: fields, mergeMode: upMode) }
}
