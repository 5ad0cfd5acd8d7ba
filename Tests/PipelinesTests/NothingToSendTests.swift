import JSON
import Ledger
import Testing

@Suite struct NothingToSendTests {
  @Test func `an edit with nothing to send does not block another device's edit`() async throws {
    let scene = try DecisionScene()
    try await scene.world.run()
    let (ada, ben) = (try scene.world.device("ada"), try scene.world.device("ben", .android))
    let shared = Set(try scene.world.ids("accounts", on: ada))
      .intersection(try scene.world.ids("accounts", on: ben))
    let id = try #require(shared.first)
    try scene.world.org.moveClock(by: 3_600_000)
    let now = scene.world.org.now()
    try ada.edit("accounts", id: id, ["Phone": "+1 555 0001"], now: now)
    // No sync up lists this field.
    try ben.edit("accounts", id: id, ["BillingCity": "Bergen"], now: now)
    try scene.world.handBack(ada, as: "ada.sqlite")
    try scene.world.handBack(ben, as: "ben.sqlite")
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.updated: 1, .notInFieldList: 1])
    #expect(try scene.field("Phone", of: id) == "+1 555 0001")
    let left = try #require(edits.first { $0.verdict == .notInFieldList })
    #expect(left.detail.outside.map(\.name) == ["BillingCity"])
  }

  /// Row 0 has only flags; in row 1 only fields were edited that are not sent, in row 2 a field
  /// that is sent.
  @Test(arguments: ["deleted", "merged", "hidden"], [false, true])
  func `a record without edits is not restored and needs no decision`(
    _ fate: String, _ overwrites: Bool
  ) async throws {
    let scene = try DecisionScene()
    let (world, device) = (scene.world, try await scene.phone())
    let ids = try (0..<4).map { try scene.account(device, $0) }
    let edits: [JSONObject] = [[:], ["BillingCity": "Bergen"], ["Phone": "device"]]
    for (id, fields) in zip(ids, edits) {
      try device.edit("accounts", id: id, fields, now: world.org.now())
      switch fate {
      case "deleted": try scene.delete(id)
      case "merged": try world.org.merge(id, into: ids[3])
      default: try scene.office(id, ["OwnerId": .string(try world.user("admin").id)])
      }
    }
    if overwrites { try world.overwriteAccounts() }
    let left: Verdict =
      switch fate {
      case "deleted": overwrites ? .created : .deletedOnServer
      case "merged": .mergedOnServer
      default: .notVisible
      }
    try await scene.handBack(device, leaves: [.unchanged: 1, .notInFieldList: 1, left: 1])
    #expect(try scene.open().values.reduce(0, +) == (left == .created ? 0 : 1))
  }

  /// The report says that adding the field is not enough.
  @Test func `values outside the field list are sent only when saved again`() async throws {
    let scene = try DecisionScene()
    let device = try await scene.phone()
    let ids = [try scene.account(device), try scene.account(device, 1)]
    let before = try scene.field("BillingCity", of: ids[1])
    for id in ids {
      try device.edit("accounts", id: id, ["BillingCity": "Bergen"], now: scene.world.org.now())
    }
    try await scene.handBack(device, leaves: [.notInFieldList: 2])
    try scene.world.rewrite(
      #"["Name", "Phone", "Website", "Description"]"#,
      #"["Name", "Phone", "Website", "Description", "BillingCity"]"#, in: "demo/usersyncs.json")
    try scene.world.org.moveClock(by: 60_000)
    try device.edit("accounts", id: ids[0], ["BillingCity": "Bergen"], now: scene.world.org.now())
    try scene.world.handBack(device, as: "again.sqlite")
    let run = try await scene.world.runAsWritten([.ingest, .reconcile])
    #expect(run.verdicts[.updated] == 1 && run.verdicts[.notInFieldList] == nil)
    #expect(try scene.field("BillingCity", of: ids[0]) == "Bergen")
    #expect(try scene.field("BillingCity", of: ids[1]) == before)
    let advice = try #require(Verdict.notInFieldList.traits.advice([]))
    #expect(advice.contains("have the device save the record again"))
  }

  @Test func `the values of an edit that waits for a record are reported`() async throws {
    let scene = try DecisionScene()
    let device = try await scene.phone()
    let now = scene.world.org.now()
    let long = String(repeating: "x", count: 300)
    try device.create(
      "accounts", type: "Account", ["Name": .string(long)], localID: "local_1", now: now)
    try device.create(
      "contacts", type: "Contact", ["LastName": "Keel", "Phone": "0800", "AccountId": "local_1"],
      localID: "local_2", now: now)
    try scene.world.handBack(device, as: "ada.sqlite")
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.failed: 1, .blocked: 1])
    let blocked = try #require(edits.first { $0.verdict == .blocked })
    let values = Dictionary(
      uniqueKeysWithValues: blocked.detail.fields.map { ($0.name, $0.device) })
    #expect(values["LastName"] == "Keel" && values["Phone"] == "0800")
    #expect(blocked.detail.message?.contains("AccountId") == true)
  }
}
