import JSON
import Ledger
import LocalOrg
import MobileSync
import Rehearsal
import Salesforce
import SmartStore
import Testing

/// The behaviour of every kind of sync up, whether a live store sends its changes or a pipeline
/// sends those of a return.
///
/// A scene is a kind of sync up and a situation. Each has a soup, and all of them are in one store.
@Suite struct SyncUpContractTests {
  @Test func `a live store and a pipeline send the same and get the same`() async throws {
    let world = try await UpWorld()
    for night in UpRun.allCases {
      let live = try await world.live(night)
      for scene in UpScene.all where scene.situation.night == night {
        #expect(live.requests[scene.soup] == scene.requests, "\(scene)")
      }
      try await world.expectReturned(night)
      #expect(live.ends == UpScene.ends(of: night))
    }
  }

  @Test func `conditional updates are sent in composites no larger than a batch`() async throws {
    try await UpWorld(isStrict: true).expectReturned(.day)
  }
}

enum UpKind: String, CaseIterable, Sendable {
  case collection, batch, single, parentChildren
  /// A built-in class under `"type": "custom"`.
  case custom
  /// Collections of a soup that has a second sync up, under OVERWRITE.
  case twice

  private static func classes(_ name: String) -> String {
    #""iOSImpl":"SF\#(name)","androidImpl":"com.salesforce.androidsdk.mobilesync.target.\#(name)""#
  }

  func target(_ soup: String) -> String {
    let key = #""externalIdFieldName":"External_Id__c""#
    return switch self {
    case .collection, .twice: "{\(key),\"maxBatchSize\":3}"
    case .batch: "{\(key),\"maxBatchSize\":3,\(Self.classes("BatchSyncUpTarget"))}"
    case .single: "{\(key),\(Self.classes("SyncUpTarget"))}"
    case .custom:
      "{\(key),\"type\":\"custom\",\"maxBatchSize\":3,\(Self.classes("CollectionSyncUpTarget"))}"
    case .parentChildren:
      """
      {\(Self.classes("ParentChildrenSyncUpTarget")),
       "parent":{"sobjectType":"Account","soupName":"\(soup)",\(key)},
       "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts",
         "soupName":"\(soup)_children","parentIdFieldName":"AccountId"},
       "createFieldlist":["Name","Phone","External_Id__c"],
       "updateFieldlist":["Name","Phone"],
       "childrenCreateFieldlist":["LastName"],"childrenUpdateFieldlist":["LastName"],
       "relationshipType":"MASTER_DETAIL"}
      """
    }
  }
}

/// A store that is sent separately; some answers are lost, after or before the org's commit.
enum UpRun: String, CaseIterable, Sendable { case day, arrived, lost }

/// What a device has done, and what happens when it is sent.
enum UpSituation: Hashable, Sendable {
  /// The kind of request, in the order of a collection's requests.
  enum Write: String, CaseIterable, Sendable { case create, update, upsert, delete }

  /// One of each.
  case accepted
  case refused
  /// Another user changed the records meanwhile.
  case conflict
  case deletedOnServer
  /// No answer arrives.
  case unanswered(Write, UpRun)
  /// More changes than fit in a request.
  case many
  /// Records of two types in one soup.
  case mixed
  /// A parent and its child, and new ones whose local IDs the app generated.
  case family

  static let all: [UpSituation] =
    [.accepted, .refused, .conflict, .deletedOnServer, .many, .mixed, .family]
    + Write.allCases.flatMap { [.unanswered($0, .arrived), .unanswered($0, .lost)] }

  var name: String {
    if case .unanswered(let write, _) = self { write.rawValue } else { "\(self)" }
  }

  var night: UpRun { if case .unanswered(_, let night) = self { night } else { .day } }

  func suits(_ kind: UpKind) -> Bool {
    switch (self, kind) {
    case (.accepted, _), (.conflict, _), (.many, _): true
    case (_, .twice): false
    case (.mixed, _): kind != .parentChildren
    case (.family, _): kind == .parentChildren
    default: true
    }
  }

  /// The device's changes, in the order of its rows.
  var writes: [Write] {
    switch self {
    case .accepted: [.update, .delete, .create, .upsert]
    case .refused: [.update, .create, .upsert]
    case .conflict, .deletedOnServer: [.update, .delete]
    case .unanswered(let write, _): [write]
    case .many: Array(repeating: .update, count: 7)
    case .mixed, .family: [.update, .update, .create, .create]
    }
  }
}

struct UpScene: Sendable, CustomStringConvertible {
  let kind: UpKind
  let situation: UpSituation

  static let all = UpKind.allCases.flatMap { kind in
    UpSituation.all.filter { $0.suits(kind) }.map { UpScene(kind: kind, situation: $0) }
  }
  static let soups = all.filter { $0.situation.night != .lost }
  var soup: String { "\(kind.rawValue)_\(situation.name)" }
  var description: String { "\(soup) \(situation.night)" }

  static func ends(of night: UpRun) -> [String: [String]] {
    all.filter { $0.situation.night == night }.reduce(into: [:]) { $0[$1.soup] = $1.ends }
  }

  private var ends: [String] {
    let done: (UpSituation.Write) -> String = {
      let operation = $0 == .upsert ? "create" : $0.rawValue
      return "\(operation): \(operation)d"
    }
    let ends: [String] =
      switch situation {
      case .refused: situation.writes.map { $0 == .update ? "update: failed" : "create: failed" }
      case .conflict where kind != .twice: ["delete: conflict", "update: conflict"]
      case .deletedOnServer: ["delete: deleted", "update: deleted on server"]
      default: situation.writes.map(done)
      }
    return ends.sorted()
  }

  /// The final number of accounts in the org, and of those with the device's values.
  var accounts: (all: Int, edited: Int) {
    switch situation {
    case .refused: (1, 0)
    case .conflict: kind == .twice ? (1, 1) : (2, 0)
    case .family: (2, 1)
    case .mixed: (2, 2)
    case .deletedOnServer: (0, 0)
    default: (situation.writes.count { $0 != .delete }, situation.writes.count { $0 != .delete })
    }
  }

  /// The write requests that the SDK makes, each with its kind and its number of records.
  var requests: [String] {
    if situation == .family { return ["composite 2", "composite 2"] }
    if situation == .deletedOnServer || situation == .conflict && kind != .twice { return [] }
    let once = requests(situation.writes)
    if situation == .refused, kind != .single {
      // The org has written none of their records.
      return once.map { "\($0.split(separator: " ")[0]) 0" }
    }
    return situation.night == .lost ? once + once : once
  }

  private func requests(_ writes: [UpSituation.Write]) -> [String] {
    let batches = stride(from: 0, to: writes.count, by: 3).map {
      writes[$0..<min($0 + 3, writes.count)]
    }
    switch kind {
    case .single: return writes.map { "row\($0.rawValue.capitalized) 1" }
    case .parentChildren: return writes.map { _ in "composite 1" }
    case .batch: return batches.map { "composite \($0.count)" }
    case .collection, .custom, .twice:
      return batches.flatMap { batch in
        UpSituation.Write.allCases.compactMap { write in
          let count = batch.count { $0 == write }
          return count == 0 ? nil : "collection\(write.rawValue.capitalized) \(count)"
        }
      }
    }
  }

  /// The same for a pipeline with conditional updates.
  var strictRequests: [String] {
    guard [.collection, .custom, .twice].contains(kind), situation != .conflict else {
      return requests
    }
    return requests.map { $0.replacing("collectionUpdate", with: "composite") }
  }
}

/// A pipeline with a sync up for each scene, and a phone for each run of either journal.
final class UpWorld {
  /// The write requests with their numbers of records, and the outcome of each change, by soup.
  typealias RunResult = (requests: [String: [String]], ends: [String: [String]])

  private let world: World
  private let isStrict: Bool
  private let admin: OrgUser
  private var devices: [String: Device] = [:]

  /// Creates the records, primes the phones, and makes the changes of its run on each.
  init(isStrict: Bool = false) async throws {
    self.isStrict = isStrict
    world = try World(file: Self.files.get().file("up.json")) {
      $0.replacing("\"conditionalUpdates\":false", with: "\"conditionalUpdates\":\(isStrict)")
    }
    admin = try world.user("admin")
    var scenes: [(device: String, scene: UpScene, ids: [String])] = []
    try world.org.transaction {
      for journal in isStrict ? ["returned"] : ["live", "returned"] {
        for scene in UpScene.all where !isStrict || scene.situation.night == .day {
          let device = "\(journal)-\(scene.situation.night)"
          scenes.append((device, scene, try records(of: scene, device)))
        }
      }
    }
    try await world.run()
    for device in Set(scenes.map(\.device)) {
      devices[device] = try world.device("admin", as: device)
    }
    for (name, scene, ids) in scenes { try change(devices[name], name, scene, ids) }
  }

  private static let files = Result {
    func down(_ soup: String, _ type: String, _ name: String, _ more: String = "") -> String {
      SmallPipeline.down(
        "down-\(type)-\(soup)", soup,
        """
        {"type":"soql","query":"SELECT Id, \(name)\(more), Phone, LastModifiedDate FROM \(type) \
        WHERE \(name) LIKE '\(soup) %'"}
        """)
    }
    func up(_ name: String, _ scene: UpScene, _ mode: MergeMode) -> String {
      """
      {"syncName":"\(name)-\(scene.soup)","syncType":"syncUp","soupName":"\(scene.soup)",
       "target":\(scene.kind.target(scene.soup)),
       "options":{"fieldlist":["Name",\(scene.situation == .mixed ? "\"LastName\"," : "")"Phone","External_Id__c"],
         "mergeMode":"\(mode.rawValue)"}}
      """
    }
    let children = UpScene.soups.filter { $0.kind == .parentChildren }.map { $0.soup + "_children" }
    let syncs =
      UpScene.soups.flatMap { scene in
        [down(scene.soup, "Account", "Name"), up("up", scene, .leaveIfChanged)]
          + (scene.kind == .twice ? [up("up-again", scene, .overwrite)] : [])
          + (scene.situation == .mixed ? [down(scene.soup, "Contact", "LastName")] : [])
      } + children.map { down($0, "Contact", "LastName", ", AccountId") }
    return try SmallPipeline(
      name: "up", soups: UpScene.soups.map(\.soup) + children, syncs: syncs,
      user: "admin@example.com", integrationUser: "admin@example.com",
      more:
        #""reconcile":{"conditionalUpdates":false,"unansweredWaitSeconds":0},"platforms":["ios"]"#
    ).write()
  }

  // MARK: devices

  private func records(of scene: UpScene, _ device: String) throws -> [String] {
    func make(_ type: String, _ soup: String, _ fields: JSONObject) throws -> String {
      var fields = fields
      fields[type == "Account" ? "Name" : "LastName"] = .string("\(soup) \(device) \(fields.count)")
      return try #require(world.org.create(type, fields, as: admin).id)
    }
    let given = scene.situation.writes.filter { $0 == .update || $0 == .delete }.count
    if scene.situation == .mixed {
      return [try make("Account", scene.soup, [:]), try make("Contact", scene.soup, [:])]
    }
    if scene.situation == .family {
      let parent = try make("Account", scene.soup, [:])
      return [
        parent, try make("Contact", scene.soup + "_children", ["AccountId": .string(parent)]),
      ]
    }
    return try (0..<given).map { _ in try make("Account", scene.soup, [:]) }
  }

  private func change(_ device: Device?, _ name: String, _ scene: UpScene, _ ids: [String]) throws {
    let device = try #require(device)
    let (soup, children) = (scene.soup, scene.soup + "_children")
    // No two phones write their rows at the same time, unlike copies of one phone.
    let now = world.org.now() + Int64(devices.keys.sorted().firstIndex(of: name) ?? 0) * 60_000
    let phone: JSONValue =
      scene.situation == .refused ? .string(String(repeating: "1", count: 99)) : "1"
    func create(_ type: String, _ place: Int, in soup: String, _ others: JSONObject) throws {
      var fields: JSONObject = ["Phone": phone]
      fields[type == "Account" ? "Name" : "LastName"] = .string("\(soup) \(name) new \(place)")
      for (name, value) in others { fields[name] = value }
      try device.create(soup, type: type, fields, localID: "local_\(soup)_\(place)", now: now)
    }
    if scene.situation == .family {
      try device.edit(soup, id: ids[0], ["Phone": "1"], now: now)
      try device.edit(children, id: ids[1], ["LastName": .string("\(children) \(name)")], now: now)
      // An app may generate local IDs of any form.
      try device.create(
        soup, type: "Account", ["Name": .string("\(soup) \(name) new")], localID: "tmp-1", now: now)
      return try create("Contact", 2, in: children, ["AccountId": "tmp-1", "Phone": .null])
    }
    var rest = ids[...]
    for (place, write) in scene.situation.writes.enumerated() {
      let isContact = scene.situation == .mixed && place == 3
      switch write {
      case .update: try device.edit(soup, id: rest.removeFirst(), ["Phone": phone], now: now)
      case .delete: try device.delete(soup, id: rest.removeFirst(), now: now)
      case .create: try create(isContact ? "Contact" : "Account", place, in: soup, [:])
      case .upsert:
        let key = JSONValue.string("\(soup) \(name)")
        try create("Account", place, in: soup, ["External_Id__c": key])
      }
    }
    for id in ids {
      switch scene.situation {
      case .conflict:
        #expect(world.org.update("Account", id: id, ["Phone": "2"], as: admin).errors.isEmpty)
      case .deletedOnServer: #expect(world.org.delete("Account", id: id, as: admin).errors.isEmpty)
      default: break
      }
    }
  }

  // MARK: live store

  /// Runs the sync ups of a device's own store, twice if an answer was lost.
  func live(_ night: UpRun) async throws -> RunResult {
    let device = try #require(devices["live-\(night)"])
    let token = try world.server.token(for: "admin@example.com", app: "app")
    let client = try Salesforce.Org(
      url: world.server.url, credentials: .accessToken(token), apiVersion: "66.0", caFile: nil,
      concurrency: 2, pause: .none)
    // Dates read in the same composite would count as its records.
    let settings = SyncSettings(refreshesDates: false, unansweredWaitSeconds: 0)
    let manager = try await SyncManager(store: Store(opening: device.storePath), settings: settings)
    { () async throws(Salesforce.OrgError) in try await client.session() }
    var told: RunResult = ([:], [:])
    for scene in UpScene.all where scene.situation.night == night {
      try lapse()
      let before = world.server.log.count
      lose(1, of: night)
      var ends: [String: String] = [:]
      for name in scene.kind == .twice ? ["up", "up-again"] : ["up", "up"] {
        let run = try await manager.reSync(named: "\(name)-\(scene.soup)")
        for record in await run.report.records {
          ends["\(record.soupName) \(record.soupEntryID)"] = Self.end(record)
        }
        if await run.lastState.status == .done, name == "up", scene.kind != .twice { break }
      }
      told.ends[scene.soup] = ends.values.sorted()
      told.requests[scene.soup] = writes(after: before)
    }
    try await manager.close()
    try expectOrg(night, "live-\(night)")
    return told
  }

  /// Later writes are too late to have created the records of earlier ones.
  private func lapse() throws { try world.org.moveClock(by: 3_600_000) }

  private func lose(_ count: Int, of night: UpRun) {
    guard night != .day else { return }
    world.server.faults.add(.writes, times: count, .drop(afterCommit: night == .arrived))
  }

  private func writes(after count: Int) -> [String] {
    world.server.log.entries(after: count).filter(\.isWrite)
      .map { "\($0.kind.rawValue) \($0.records ?? 1)" }
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
      case .unconfirmed: "unconfirmed"
      }
    return "\(record.operation.rawValue): \(end)"
  }

  // MARK: pipeline

  /// Returns a store and has the pipeline reconcile it, with the results that the scenes expect.
  func expectReturned(_ night: UpRun) async throws {
    let scenes = UpScene.all.filter { $0.situation.night == night }
    let source = "\(night).sqlite"
    try world.handBack(try #require(devices["returned-\(night)"]), as: source)
    try lapse()
    let before = world.server.log.count
    lose(scenes.count, of: night)
    let run = try await world.run(.ingest, .reconcile).run
    // A pipeline sends deletes last, a live store each change in the order of its rows.
    #expect(
      writes(after: before).sorted()
        == scenes.flatMap { isStrict ? $0.strictRequests : $0.requests }.sorted())
    var ends: [String: [String]] = [:]
    for edit in try DecisionScene(world).edits(of: run) where edit.source == source {
      let verdict = edit.verdict == .alreadyInOrg ? Verdict.deleted : edit.verdict
      ends[edit.soup.replacing("_children", with: ""), default: []]
        .append("\(edit.operation.rawValue): \(verdict.rawValue)")
    }
    #expect(ends.mapValues { $0.sorted() } == UpScene.ends(of: night))
    try expectOrg(night, "returned-\(night)")
  }

  /// Checks that the org has each record once, with the device's values unless they were left or
  /// refused.
  private func expectOrg(_ night: UpRun, _ device: String) throws {
    func count(_ condition: String, _ type: String = "Account") throws -> Int {
      let soql = "SELECT Id FROM \(type) WHERE \(condition)"
      return try world.org.query(soql, as: admin, includeDeleted: false).totalSize
    }
    for scene in UpScene.all where scene.situation.night == night {
      let name = "\(scene.soup) \(device)"
      #expect(try count("Name LIKE '\(name)%'") == scene.accounts.all, "\(name)")
      #expect(try count("Name LIKE '\(name)%' AND Phone = '1'") == scene.accounts.edited, "\(name)")
      switch scene.situation {
      case .mixed:
        #expect(try count("LastName LIKE '\(name)%' AND Phone = '1'", "Contact") == 2, "\(name)")
      case .family:
        for (child, parent) in [("", ""), (" new 2", " new")] {
          let condition = """
            LastName = '\(scene.soup)_children \(device)\(child)' \
            AND Account.Name LIKE '\(name)\(parent)%'
            """
          #expect(try count(condition, "Contact") == 1, "\(condition)")
        }
      default: break
      }
    }
  }
}
