import JSON
import Rehearsal
import System
import TestSupport
import Testing

@Suite struct FamilyEdgesTests {
  /// The pipeline with a family of accounts and contacts.
  ///
  /// `change` alters its file, `others` the files that it names.
  private static func world(
    _ change: (String) -> String = { $0 }, others: (String) -> String = { $0 }
  ) throws -> World {
    let directory = TemporaryDirectory("world")
    try OrgTemplate.small.get().copy(to: directory.file("org"))
    try Tree.copy(SyncUpKindsTests.pipeline.get().path, to: directory.file("pipelines"))
    for name in ["userstore.json", "usersyncs.json"] {
      let path = directory.file("pipelines/" + name)
      let text = others(String(decoding: try Files.read(path), as: UTF8.self))
      try DurableFile.write(Array(text.utf8), to: path)
    }
    return try World(
      directory, file: SyncUpKindsTests.pipeline.get().file("kinds.json"), change: change)
  }

  private static func merging(_ mode: String, _ text: String) -> String {
    text.replacing(
      #""options":{"fieldlist":["Name","Phone"],"mergeMode":"LEAVE_IF_CHANGED"}"#,
      with: #""options":{"fieldlist":["Name","Phone"],"mergeMode":"\#(mode)"}"#)
  }

  /// A pipeline whose integration user confirms deletions.
  private static func proving(_ text: String) -> String {
    text.replacing("\"login\":{", with: #""login":{"integrationUser":"attache@example.com","#)
  }

  /// A parent, its child, another parent, and the phone that has all of them.
  private struct Family {
    var parent: String
    var child: String
    var other: String
    var device: Device
  }

  private func family(
    _ world: World, _ object: String = "Contact", _ fields: JSONObject = ["LastName": "Child"]
  ) async throws -> Family {
    let ada = try world.user("ada")
    let parent = try #require(world.org.create("Account", ["Name": "parents 0"], as: ada).id)
    let other = try #require(world.org.create("Account", ["Name": "parents 1"], as: ada).id)
    var fields = fields
    fields["AccountId"] = .string(parent)
    let child = try #require(world.org.create(object, fields, as: ada).id)
    try await world.run()
    return Family(parent: parent, child: child, other: other, device: try world.device("ada"))
  }

  private func work(_ family: Family, _ world: World, _ edit: JSONObject) throws {
    try family.device.edit("children", id: family.child, edit, now: world.org.now())
    try family.device.delete("parents", id: family.parent, now: world.org.now())
    try world.handBack(family.device, as: "night.sqlite")
  }

  private func isThere(_ object: String, _ id: String, _ world: World) throws -> Bool {
    try world.org.query("SELECT Id FROM \(object) WHERE Id = '\(id)'", as: world.user("admin"))
      .totalSize == 1
  }

  @Test func `a detail moved to another master is not judged by the deleted one`() async throws {
    let world = try Self.world()
    let family = try await family(world)
    try work(family, world, ["LastName": "Grown"])
    let admin = try world.user("admin")
    let moved = world.org.update(
      "Contact", id: family.child, ["AccountId": .string(family.other)], as: admin)
    #expect(moved.errors == [])
    let summary = try await world.run(.ingest, .reconcile)
    // The other user's change of the detail is a conflict under LEAVE_IF_CHANGED; the master is not
    // involved.
    #expect(summary.verdicts == [.deleted: 1, .conflict: 1])
    #expect(try !isThere("Account", family.parent, world))
    let child = try world.record("Contact", family.child)
    #expect(child["AccountId"] == .string(family.other))
    #expect(child["LastName"] == "Child")
  }

  @Test(arguments: ["mergeFields", "overwrite"])
  func `the edit of a moved detail is sent, and does not move it`(_ mode: String) async throws {
    let world = try Self.world {
      mode == "overwrite"
        ? $0
        : $0.replacing(
          "\"conditionalUpdates\":true",
          with: "\"conditionalUpdates\":true,\"mode\":\"mergeFields\"")
    } others: {
      guard mode == "overwrite" else { return $0 }
      return $0.replacing(
        #""childrenUpdateFieldlist":["LastName"]"#,
        with: #""childrenUpdateFieldlist":["LastName","AccountId"]"#
      ).replacing(
        #""options":{"fieldlist":["Name","Phone"],"mergeMode":"LEAVE_IF_CHANGED"}"#,
        with: #""options":{"fieldlist":["Name","Phone"],"mergeMode":"OVERWRITE"}"#)
    }
    let family = try await family(world)
    try work(family, world, ["LastName": "Grown"])
    let admin = try world.user("admin")
    _ = world.org.update(
      "Contact", id: family.child, ["AccountId": .string(family.other)], as: admin)
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts[.deleted] == 1)
    #expect(summary.open == [:])
    #expect(try !isThere("Account", family.parent, world))
    let child = try world.record("Contact", family.child)
    #expect(child["AccountId"] == .string(family.other))
    #expect(child["LastName"] == "Grown")
  }

  @Test func `a parent that only org users changed is not recreated for children`() async throws {
    // The integration user confirms that it is deleted.
    let world = try Self.world {
      $0.replacing("\"login\":{", with: #""login":{"integrationUser":"attache@example.com","#)
    } others: {
      $0.replacing(
        #""options":{"fieldlist":["Name","Phone"],"mergeMode":"LEAVE_IF_CHANGED"}"#,
        with: #""options":{"fieldlist":["Name","Phone"],"mergeMode":"OVERWRITE"}"#)
    }
    let family = try await family(world)
    #expect(
      world.org.delete("Account", id: family.parent, as: try world.user("admin")).errors == [])
    try family.device.create(
      "children", type: "Contact", ["LastName": "Newborn", "AccountId": .string(family.parent)],
      localID: "local_n", now: world.org.now())
    try world.handBack(family.device, as: "1.sqlite")
    let left = try await world.run(.ingest, .reconcile)
    #expect(left.verdicts == [.failed: 1])
    #expect(
      try DecisionScene(world).edits(of: left.run).first?.detail.message == """
        entity is deleted: it refers to a record that was deleted in the org; restore that record, or \
        enter another one, or edit that record's own row on the device, which recreates it
        """)

    try family.device.edit(
      "parents", id: family.parent, ["Name": "parents again"], now: world.org.now())
    try family.device.edit("children", id: "local_n", ["LastName": "Grown"], now: world.org.now())
    try world.org.moveClock(by: 3_600_000)
    try world.handBack(family.device, as: "2.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.created: 2, .superseded: 1])
    #expect(
      try world.org.query(
        "SELECT Id FROM Contact WHERE LastName = 'Grown' AND Account.Name = 'parents again'",
        as: world.user("admin")
      ).totalSize == 1)
  }

  /// A return that edits a detail and deletes its parent, which the org refuses: the numbers of the
  /// two edits, and the case that prevents the deletion.
  private func refusedDeletion(
    _ family: Family, _ world: World
  ) async throws -> (parent: Int64, child: Int64, keeper: String) {
    let keeper = world.org.create(
      "Case", ["Subject": "Open", "AccountId": .string(family.parent)], as: try world.user("admin"))
    try work(family, world, ["LastName": "Grown"])
    let first = try await world.run(.ingest, .reconcile)
    #expect(first.verdicts == [.failed: 1, .blocked: 1])
    let edits = try DecisionScene(world).edits(of: first.run)
    let parent = try #require(edits.first { $0.recordID == family.parent })
    let child = try #require(edits.first { $0.recordID == family.child })
    #expect(parent.verdict == .failed)
    // The edited values are shown, whatever the outcome.
    #expect(child.detail.fields.map(\.name) == ["LastName"])
    #expect(child.detail.fields.first?.device == "Grown")
    #expect(
      child.detail.message == """
        the deletion of its parent is not resolved: it is deleted with the parent, or sent if that \
        deletion is discarded
        """)
    return (parent.number, child.number, try #require(keeper.id))
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"])
  func `a detail's edit waits for its parent's refused deletion`(_ mode: String) async throws {
    let world = try Self.world(others: { Self.merging(mode, $0) })
    let family = try await family(world)
    let edits = try await refusedDeletion(family, world)
    // Without a decision, it waits.
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.blocked: 1])
    #expect(try world.record("Contact", family.child)["LastName"] == "Child")

    let scene = DecisionScene(world)
    try scene.decide(edits.child, .retry)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.blocked: 1])
    #expect(try world.record("Contact", family.child)["LastName"] == "Child")

    try scene.decide(edits.parent, .discard)
    let last = try await world.run(.ingest, .reconcile)
    #expect(last.verdicts == [.discarded: 1, .updated: 1])
    #expect(last.open == [:])
    #expect(try world.record("Contact", family.child)["LastName"] == "Grown")
    #expect(try isThere("Account", family.parent, world))
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"])
  func `a waiting detail's edit is resolved by its parent's deletion`(_ mode: String) async throws {
    let world = try Self.world(others: { Self.merging(mode, $0) })
    let family = try await family(world)
    let edits = try await refusedDeletion(family, world)
    let closed = world.org.delete("Case", id: edits.keeper, as: try world.user("admin"))
    #expect(closed.errors == [])
    try DecisionScene(world).decide(edits.parent, .retry)
    let last = try await world.run(.ingest, .reconcile)
    #expect(last.verdicts == [.deleted: 2])
    #expect(last.open == [:])
    #expect(try !isThere("Contact", family.child, world))
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"], [true, false])
  func `details' edits are resolved with their parent's unconfirmed deletion`(
    _ mode: String, _ afterCommit: Bool
  ) async throws {
    let world = try Self.world(Self.proving, others: { Self.merging(mode, $0) })
    let family = try await family(world)
    try family.device.create(
      "children", type: "Contact", ["LastName": "Newborn", "AccountId": .string(family.parent)],
      localID: "local_n", now: world.org.now())
    try work(family, world, ["LastName": "Grown"])
    world.server.faults.add(.writes, .drop(afterCommit: afterCommit))
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.deleted: 3])
    #expect(summary.open == [:])
    #expect(try !isThere("Account", family.parent, world))
    #expect(
      try world.org.query(
        "SELECT Id FROM Contact WHERE LastName = 'Newborn'", as: world.user("admin")
      ).totalSize == 0)
  }

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"])
  func `another phone's child of a deleted parent stays in the org`(_ mode: String) async throws {
    let world = try Self.world(Self.proving, others: { Self.merging(mode, $0) })
    let family = try await family(world)
    let other = try world.device("ada", as: "other")
    try family.device.delete("parents", id: family.parent, now: world.org.now())
    try other.edit("children", id: family.child, ["LastName": "Grown"], now: world.org.now())
    try other.create(
      "children", type: "Contact", ["LastName": "Newborn", "AccountId": .string(family.parent)],
      localID: "local_n", now: world.org.now())
    try world.handBack(family.device, as: "1.sqlite")
    let summary = try await world.run(other, as: "2.sqlite", .ingest, .reconcile)
    #expect(summary.verdicts == [.deviceConflict: 3])
    #expect(summary.exitStatus == .needsAttention)
    #expect(try isThere("Account", family.parent, world))
    #expect(try isThere("Contact", family.child, world))
  }

  @Test func `a detail that another user deleted is not reported with it`() async throws {
    let world = try Self.world(Self.proving)
    let family = try await family(world)
    try family.device.edit(
      "children", id: family.child, ["LastName": "Grown"], now: world.org.now())
    try world.handBack(family.device, as: "night.sqlite")
    let gone = world.org.delete("Contact", id: family.child, as: try world.user("admin"))
    #expect(gone.errors == [])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.deletedOnServer: 1])
  }

  @Test(arguments: [false, true])
  func `a deleted family that no one edited is not recreated`(_ overwrites: Bool) async throws {
    let world = try Self.world {
      $0.replacing("\"login\":{", with: #""login":{"integrationUser":"attache@example.com","#)
    } others: {
      let text = $0.replacing("Id, LastName, AccountId", with: "Id, LastName, Phone, AccountId")
      guard overwrites else { return text }
      return text.replacing(
        #""options":{"fieldlist":["Name","Phone"],"mergeMode":"LEAVE_IF_CHANGED"}"#,
        with: #""options":{"fieldlist":["Name","Phone"],"mergeMode":"OVERWRITE"}"#)
    }
    let family = try await family(world)
    #expect(
      world.org.delete("Account", id: family.parent, as: try world.user("admin")).errors == [])
    try family.device.edit("parents", id: family.parent, [:], now: world.org.now())
    try family.device.edit("children", id: family.child, ["Phone": "1"], now: world.org.now())
    try world.handBack(family.device, as: "night.sqlite")
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.unchanged: 1, .notInFieldList: 1])
    #expect(summary.open == [:])
    #expect(world.server.log.writes.isEmpty)
  }

  @Test func `a child by lookup does not count as deleted with its parent`() async throws {
    let world = try Self.world(others: {
      $0.replacing(
        #""sobjectType":"Contact","sobjectTypePlural":"Contacts""#,
        with: #""sobjectType":"WorkOrder","sobjectTypePlural":"WorkOrders""#
      ).replacing("[\"LastName\"]", with: "[\"Subject\"]").replacing(
        "SELECT Id, LastName, AccountId, LastModifiedDate FROM Contact",
        with: "SELECT Id, Subject, AccountId, LastModifiedDate FROM WorkOrder")
    })
    let family = try await family(world, "WorkOrder", ["Subject": "Child"])
    try work(family, world, ["Subject": "Grown"])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.deleted: 1, .updated: 1])
    #expect(try !isThere("Account", family.parent, world))
    #expect(try world.record("WorkOrder", family.child)["Subject"] == "Grown")
  }

  /// Children of accounts: contacts, or accounts themselves.
  @Test(arguments: ["Contact", "Account"], [true, false])
  func `unconfirmed children that differ only in their new parent are found`(
    _ object: String, _ afterCommit: Bool
  ) async throws {
    let (name, parent) = object == "Contact" ? ("LastName", "AccountId") : ("Name", "ParentId")
    let world = try Self.world(others: {
      guard object == "Account" else { return $0 }
      return $0.replacing(
        #""sobjectType":"Contact","sobjectTypePlural":"Contacts""#,
        with: #""sobjectType":"Account","sobjectTypePlural":"ChildAccounts""#
      ).replacing("\"path\":\"AccountId\"", with: "\"path\":\"ParentId\"")
        .replacing("[\"LastName\"]", with: "[\"Name\"]").replacing(
          "\"parentIdFieldName\":\"AccountId\"", with: "\"parentIdFieldName\":\"ParentId\""
        ).replacing(
          "SELECT Id, LastName, AccountId, LastModifiedDate FROM Contact",
          with: "SELECT Id, Name, ParentId, LastModifiedDate FROM Account WHERE Name LIKE 'Kid%'")
    })
    let device = try await world.primed("ada")
    let now = world.org.now()
    for number in 1...2 {
      try device.create(
        "parents", type: "Account", ["Name": .string("parents new \(number)")],
        localID: "tmp-\(number)", now: now)
      try device.create(
        "children", type: object, [name: "Kid", parent: .string("tmp-\(number)")],
        localID: "tmp-c\(number)", now: now)
    }
    try world.handBack(device, as: "night.sqlite")
    world.server.faults.add(.writes, times: 2, .drop(afterCommit: afterCommit))
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.verdicts == [.created: 4])
    #expect(summary.open == [:])
    // The request names a parent by its local ID, and the org by its ID: the values are equal.
    let records = try #require(Told(world).report(summary.run)["records"]?.array)
    #expect(records.allSatisfy { $0["kept"] == nil && $0["message"] == nil }, "\(records)")
    let admin = try world.user("admin")
    let relation = parent.replacing("Id", with: "")
    for number in 1...2 {
      let soql =
        "SELECT Id FROM \(object) WHERE \(name) = 'Kid' AND \(relation).Name = 'parents new \(number)'"
      #expect(try world.org.query(soql, as: admin).totalSize == 1)
    }
  }
}
