import JSON
import LocalOrg
import MobileSync
import Pipelines
import Rehearsal
import Salesforce
import SmartStore
import System
import TestSupport
import Testing

/// What every kind of sync up does, whether a live store sends its changes or a pipeline a returned one.
@Suite struct SyncUpContractTests {
  @Test(arguments: UpKind.allCases)
  func `a live store and a pipeline send the same requests and come to the same ends`(
    _ kind: UpKind
  ) async throws {
    let store = try UpWorld(kind, .store)
    let ledger = try UpWorld(kind, .ledger)
    for situation in UpSituation.all where situation.suits(kind) {
      let live = try await store.night(situation)
      let returned = try await ledger.night(situation)
      // A pipeline sends deletes last, a live store each change in the order of its row.
      #expect(live.requests.sorted() == returned.requests.sorted(), "\(situation)")
      #expect(live.ends == returned.ends, "\(situation)")
      #expect(live.ends == situation.ends, "\(situation)")
      if let requests = situation.requests(kind) {
        #expect(live.requests == requests, "\(situation)")
      }
    }
  }
}

/// A kind of sync up.
enum UpKind: String, CaseIterable, Sendable {
  case collection, batch, single, parentChildren
  /// A stock class that stands under `"type": "custom"`.
  case custom

  private static func classes(_ name: String) -> String {
    #""iOSImpl":"SF\#(name)","androidImpl":"com.salesforce.androidsdk.mobilesync.target.\#(name)""#
  }

  /// The target as a file has it.
  var target: String {
    let key = #""externalIdFieldName":"External_Id__c""#
    return switch self {
    case .collection: "{\(key),\"maxBatchSize\":3}"
    case .batch: "{\(key),\"maxBatchSize\":3,\(Self.classes("BatchSyncUpTarget"))}"
    case .single: "{\(key),\(Self.classes("SyncUpTarget"))}"
    case .custom:
      "{\(key),\"type\":\"custom\",\"maxBatchSize\":3,\(Self.classes("CollectionSyncUpTarget"))}"
    case .parentChildren:
      """
      {\(Self.classes("ParentChildrenSyncUpTarget")),
       "parent":{"sobjectType":"Account","soupName":"records",\(key)},
       "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts","soupName":"children",
         "parentIdFieldName":"AccountId"},
       "createFieldlist":["Name","Phone","External_Id__c"],
       "updateFieldlist":["Name","Phone"],
       "childrenCreateFieldlist":["LastName"],"childrenUpdateFieldlist":["LastName"],
       "relationshipType":"MASTER_DETAIL"}
      """
    }
  }
}

/// Who writes down what is sent, and what came of it.
enum UpJournal: Sendable { case store, ledger }

/// What a device has done, and what happens when it is sent.
enum UpSituation: Hashable, Sendable, CustomStringConvertible {
  /// What is asked of the org.
  enum Write: String, CaseIterable, Sendable { case create, update, upsert, delete }

  /// One of each.
  case accepted
  /// The org refuses each for what it says.
  case refused
  /// Somebody changed the records meanwhile.
  case conflict
  /// Somebody deleted the records meanwhile.
  case deletedOnServer
  /// No answer comes, after the work was done or before it.
  case lost(Write, arrived: Bool)
  /// More changes than a request takes.
  case many
  /// Records of two types in one soup.
  case mixed

  static let all: [UpSituation] =
    [.accepted, .refused, .conflict, .deletedOnServer, .many, .mixed]
    + Write.allCases.flatMap { [.lost($0, arrived: true), .lost($0, arrived: false)] }

  var description: String {
    switch self {
    case .accepted: "accepted"
    case .refused: "refused"
    case .conflict: "conflict"
    case .deletedOnServer: "deleted on server"
    case .lost(let write, let arrived): "lost \(write.rawValue) \(arrived)"
    case .many: "many"
    case .mixed: "mixed"
    }
  }

  func suits(_ kind: UpKind) -> Bool { self != .mixed || kind != .parentChildren }

  /// What becomes of the changes, by what the device did.
  var ends: [String] {
    switch self {
    case .accepted: ["create: created", "create: created", "delete: deleted", "update: updated"]
    case .refused: ["create: failed", "create: failed", "update: failed"]
    case .conflict: ["delete: conflict", "update: conflict"]
    case .deletedOnServer: ["delete: deleted", "update: deleted on server"]
    case .lost(.delete, _): ["delete: deleted"]
    case .lost(.update, _): ["update: updated"]
    case .lost: ["create: created"]
    case .many: Array(repeating: "update: updated", count: 7)
    case .mixed:
      ["create: created", "create: created", "update: updated", "update: updated"]
    }
  }

  /// The requests that write; nil where it is enough that all journals make the same.
  func requests(_ kind: UpKind) -> [String]? {
    switch (self, kind) {
    case (.conflict, _), (.deletedOnServer, _): []
    case (.many, .collection), (.many, .custom):
      ["collectionUpdate 3", "collectionUpdate 3", "collectionUpdate 1"]
    case (.many, .batch): ["composite 3", "composite 3", "composite 1"]
    case (.many, .single): Array(repeating: "rowUpdate 1", count: 7)
    case (.many, .parentChildren): Array(repeating: "composite 1", count: 7)
    default: nil
    }
  }
}

/// A pipeline with one sync up of a kind, and a phone for each night.
final class UpWorld {
  /// What a night came to.
  struct Night {
    /// The requests that wrote, and how many records each held.
    var requests: [String]
    /// What became of each change.
    var ends: [String]
  }

  private let world: World
  private let journal: UpJournal
  private let admin: OrgUser
  private var nights = 0
  private var numbers: Set<Int64> = []

  init(_ kind: UpKind, _ journal: UpJournal) throws {
    self.journal = journal
    world = try World(file: Self.files(kind).file("kind.json"))
    admin = try world.user("admin")
  }

  private static func files(_ kind: UpKind) throws -> TemporaryDirectory {
    let directory = TemporaryDirectory.untilExit("up-\(kind.rawValue)")
    let index = #"""
      {"path":"Id","type":"string"},{"path":"AccountId","type":"string"},
      {"path":"__local__","type":"string"},{"path":"__sync_id__","type":"integer"}
      """#
    func down(_ name: String, _ query: String) -> String {
      """
      {"syncName":"\(name)","syncType":"syncDown","soupName":"records",
       "target":{"type":"soql","query":"SELECT Id, \(query), Phone, LastModifiedDate FROM \(name) \
      WHERE \(name == "Account" ? "Name" : "LastName") LIKE 'up %'"},
       "options":{"mergeMode":"OVERWRITE"}}
      """
    }
    let files = [
      "kind.json": """
      {"format":1,"name":"kind",
       "org":{"url":{"env":"ATTACHE_ORG_URL"},"login":{"method":"jwt",
         "clientId":{"env":"ATTACHE_CLIENT_ID"},"key":{"env":"ATTACHE_JWT_KEY"},
         "integrationUser":"admin@example.com"}},
       "users":{"list":["admin@example.com"]},
       "stores":[{"schema":"userstore.json","syncs":"usersyncs.json"}],
       "reconcile":{"strict":false,"quietWindowSeconds":0},
       "platforms":["ios"],"inbox":{"settleSeconds":0}}
      """,
      "userstore.json": """
      {"soups":[{"soupName":"records","indexes":[\(index)]},
        {"soupName":"children","indexes":[\(index)]}]}
      """,
      "usersyncs.json": """
      {"syncs":[\(down("Account", "Name, External_Id__c")),\(down("Contact", "LastName")),
        {"syncName":"up","syncType":"syncUp","soupName":"records","target":\(kind.target),
         "options":{"fieldlist":["Name","LastName","Phone","External_Id__c"],
           "mergeMode":"LEAVE_IF_CHANGED"}}]}
      """,
    ]
    for (name, text) in files {
      try DurableFile.write(Array(text.utf8), to: directory.file(name))
    }
    return directory
  }

  /// Primes a phone, does there what the situation says, and sends it.
  func night(_ situation: UpSituation) async throws -> Night {
    nights += 1
    let records = try records(for: situation)
    try await world.run()
    let device = try world.device("admin", as: "night-\(nights)")
    try change(device, records, situation)
    let before = world.server.log.count
    if case .lost(_, let arrived) = situation {
      world.server.faults.add(.writes, .drop(afterCommit: arrived))
    }
    let ends =
      switch journal {
      case .store: try await live(device)
      case .ledger: try await returned(device)
      }
    let writes = world.server.log.entries(after: before).filter(\.isWrite)
    return Night(
      requests: writes.map { "\($0.kind.rawValue) \($0.records ?? 1)" }, ends: ends.sorted())
  }

  // MARK: the device

  /// Makes the records that the device is given; answers their ids.
  private func records(for situation: UpSituation) throws -> [String] {
    let count =
      switch situation {
      case .many: 7
      case .lost(.create, _), .lost(.upsert, _): 0
      case .lost, .mixed: 1
      default: 2
      }
    var ids = try (0..<count).map { try make("Account", "Name", $0) }
    if situation == .mixed { ids.append(try make("Contact", "LastName", 1)) }
    return ids
  }

  private func make(_ object: String, _ name: String, _ number: Int) throws -> String {
    let made = world.org.create(object, [name: .string("up \(nights) \(number)")], as: admin)
    return try #require(made.id)
  }

  private func change(
    _ device: Device, _ ids: [String], _ situation: UpSituation
  ) throws {
    let now = world.org.now()
    let phone: JSONValue = situation == .refused ? .string(String(repeating: "1", count: 99)) : "1"
    func update(_ ids: some Sequence<String>) throws {
      for id in ids { try device.edit("records", id: id, ["Phone": phone], now: now) }
    }
    func create(_ key: String?, type: String = "Account") throws {
      var fields: JSONObject = ["Phone": phone]
      fields[type == "Account" ? "Name" : "LastName"] = .string("up \(nights) new \(key ?? "")")
      if let key { fields["External_Id__c"] = .string("\(key)-\(nights)") }
      try device.create(
        "records", type: type, fields, localID: "local_\(nights)\(key ?? "")\(type)", now: now)
    }
    switch situation {
    case .accepted, .refused:
      try update(ids.prefix(1))
      if situation == .accepted { try device.delete("records", id: ids[1], now: now) }
      try create(nil)
      try create("key")
    case .conflict, .deletedOnServer:
      try update(ids.prefix(1))
      try device.delete("records", id: ids[1], now: now)
      for id in ids {
        let outcome =
          situation == .conflict
          ? world.org.update("Account", id: id, ["Phone": "2"], as: admin)
          : world.org.delete("Account", id: id, as: admin)
        #expect(outcome.errors.isEmpty)
      }
    case .lost(.create, _): try create(nil)
    case .lost(.upsert, _): try create("key")
    case .lost(.update, _), .many: try update(ids)
    case .lost(.delete, _): try device.delete("records", id: ids[0], now: now)
    case .mixed:
      try update(ids)
      try create(nil)
      try create(nil, type: "Contact")
    }
  }

  // MARK: the live store

  /// Runs the sync up of the device's own store, twice where an answer was lost.
  private func live(_ device: Device) async throws -> [String] {
    let token = try world.server.token(for: "admin@example.com", app: "app")
    let client = try Salesforce.Org(
      url: world.server.url, credentials: .accessToken(token), apiVersion: "66.0", caFile: nil,
      concurrency: 2, pause: .none)
    // Dates that are read in the same composite would count as records of it.
    let settings = SyncSettings(refreshesDates: false, quietWindowSeconds: 0)
    let manager = try await SyncManager(
      store: Store(opening: device.storePath), settings: settings
    ) { () async throws(Salesforce.OrgError) in try await client.session() }
    var ends: [Int64: String] = [:]
    for _ in 0..<2 {
      let run = try await manager.reSync(named: "up")
      for record in await run.report.records { ends[record.soupEntryID] = Self.end(record) }
      if await run.lastState.status == .done { break }
    }
    try await manager.close()
    return Array(ends.values)
  }

  private static func end(_ record: SyncReport.Record) -> String {
    let end =
      switch record.outcome {
      case .sent, .recreated: "\(record.operation.rawValue)d"
      case .removed: "deleted"
      case .left(.changedOnServer): "conflict"
      case .left(.deletedOnServer): "deleted on server"
      case .left(.serverUnknown): "not visible"
      case .failed: "failed"
      case .inDoubt: "in doubt"
      }
    return "\(record.operation.rawValue): \(end)"
  }

  // MARK: the pipeline

  /// Hands the store back and has the pipeline reconcile it.
  private func returned(_ device: Device) async throws -> [String] {
    try world.handBack(device, as: "night-\(nights).sqlite")
    let known = Set(try Told(world).reports.map(\.run))
    try await world.run(.ingest, .reconcile)
    var ends: [Int64: String] = [:]
    for report in try Told(world).reports where !known.contains(report.run) {
      for list in ["records", "stillOpen"] {
        for edit in report.json[list]?.array ?? [] {
          guard let number = edit["number"]?.int, !numbers.contains(number) else { continue }
          let verdict = edit["verdict"]?.string ?? ""
          ends[number] =
            "\(edit["operation"]?.string ?? ""): "
            + (verdict == "already there" ? "deleted" : verdict)
        }
      }
    }
    numbers.formUnion(ends.keys)
    return Array(ends.values)
  }
}
