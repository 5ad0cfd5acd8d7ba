import HTTP
import JSON
import Ledger
import Rehearsal
import Reports
import System
import TestSupport
import Testing

/// What the values tell if dates and soups do not: one record in two soups, changes within one
/// second, values that the sender cannot read, and texts and numbers to the last byte.
@Suite struct SharedRecordsTests {
  private static let fields = ["Name", "Phone", "Website", "Description", "AnnualRevenue"]

  static func twoSoups(
    _ mode: String = "LEAVE_IF_CHANGED", change: (String) -> String = { $0 }
  ) throws -> World {
    let directory = TemporaryDirectory("world")
    try OrgTemplate.small.get().copy(to: directory.file("org"))
    let copy = directory.file("pipelines")
    try Tree.copy(World.repository + "/pipelines", to: copy)
    let indexes = #"[{"path":"Id","type":"string"},{"path":"__local__","type":"string"}]"#
    try append(
      #"{"soupName":"vips","indexes":\#(indexes)}"#, to: "soups", copy + "/demo/userstore.json")
    let names = fields.map { "\"\($0)\"" }.joined(separator: ",")
    let query =
      "SELECT Id, \(fields.joined(separator: ", ")), LastModifiedDate FROM Account "
      + "ORDER BY LastModifiedDate"
    let syncs = copy + "/demo/usersyncs.json"
    try append(
      #"{"syncName":"downVips","syncType":"syncDown","soupName":"vips","target":"#
        + #"{"type":"soql","query":"\#(query)"},"options":{"mergeMode":"OVERWRITE"}}"#,
      to: "syncs", syncs)
    try append(
      #"{"syncName":"upVips","syncType":"syncUp","soupName":"vips","target":{},"#
        + #""options":{"fieldlist":[\#(names)],"mergeMode":"\#(mode)"}}"#, to: "syncs", syncs)
    let text = String(decoding: try Files.read(syncs), as: UTF8.self)
    try DurableFile.write(
      Array(text.replacing("\"LEAVE_IF_CHANGED\"", with: "\"\(mode)\"").utf8), to: syncs)
    return try World(directory, file: World.repository + "/pipelines/demo.json", change: change)
  }

  private func world(_ mode: String = "LEAVE_IF_CHANGED") throws -> World {
    try Self.twoSoups(mode)
  }

  private static func append(_ element: String, to name: String, _ path: String) throws {
    var file = try #require(try JSONValue(parsing: try Files.read(path)).object)
    file[name] = .array((file[name]?.array ?? []) + [try JSONValue(parsing: element)])
    try DurableFile.write(JSONValue.object(file).bytes, to: path)
  }

  private func account(_ device: Device, _ world: World) throws -> String {
    let ada = try world.user("ada").id
    return try #require(
      try world.ids("accounts", on: device).first {
        try world.record("Account", $0)["OwnerId"]?.string == ada
      })
  }

  private func details(_ run: String, _ world: World) throws -> [OutcomeDetail] {
    let state = try LedgerDatabase(path: world.data.state)
    return try ReportModel(state: state, run: run, called: "demo").edits.all().map(\.detail)
  }

  // MARK: one record in two soups

  @Test(arguments: ["LEAVE_IF_CHANGED", "OVERWRITE"])
  func `edits of one record in two soups merge in different fields`(_ mode: String) async throws {
    let world = try world(mode)
    let device = try await world.primed("ada")
    let id = try account(device, world)
    try device.edit("accounts", id: id, ["Phone": "+1 555 0001"], now: world.org.now())
    try device.edit("vips", id: id, ["Website": "https://vip.example"], now: world.org.now())
    try world.handBack(device, as: "one.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 2])
    #expect(try world.record("Account", id)["Phone"] == "+1 555 0001")
    #expect(try world.record("Account", id)["Website"] == "https://vip.example")
    // Another run, before the device got a new bundle: the third field, in either soup.
    try device.edit("accounts", id: id, ["Description": "later"], now: world.org.now() + 60_000)
    #expect(try await world.verdicts(device, as: "two.sqlite", .ingest, .reconcile)[.updated] == 1)
    let record = try world.record("Account", id)
    #expect(record["Phone"] == "+1 555 0001")
    #expect(record["Website"] == "https://vip.example")
    #expect(record["Description"] == "later")
  }

  @Test func `different values of a field in two soups are a device conflict`() async throws {
    let world = try world("OVERWRITE")
    let device = try await world.primed("ada")
    let id = try account(device, world)
    let other = try #require(try world.ids("accounts", on: device).first { $0 != id })
    let before = try world.record("Account", id)["Phone"]
    for (soup, phone) in [("accounts", "+1 555 0001"), ("vips", "+1 555 0002")] {
      try device.edit(soup, id: id, ["Phone": .string(phone)], now: world.org.now())
      try device.edit(soup, id: other, ["Phone": "+1 555 0003"], now: world.org.now())
    }
    let run = try await world.run(device, as: "one.sqlite", .ingest, .reconcile)
    #expect(run.verdicts == [.deviceConflict: 2, .updated: 1, .alreadyInOrg: 1])
    #expect(try world.record("Account", id)["Phone"] == before)
    #expect(try world.record("Account", other)["Phone"] == "+1 555 0003")
    let clashes = try details(run.run, world).filter { $0.recordID == id }
    #expect(clashes.allSatisfy { $0.otherEdits.count == 1 && $0.fields.map(\.name) == ["Phone"] })
  }

  @Test func `a device conflict is over for a bundle of the run that reported it`() async throws {
    let world = try world("LEAVE_IF_CHANGED")
    try await world.run()
    let phones = [try world.device("ada", as: "one"), try world.device("ada", as: "two")]
    let id = try account(phones[0], world)
    for (number, phone) in phones.enumerated() {
      try phone.edit("accounts", id: id, ["Phone": .string("\(number)")], now: world.org.now())
      try world.handBack(phone, as: "phone-\(number).sqlite")
    }
    // There is something new to bring to the phones.
    let admin = try world.user("admin")
    _ = world.org.update("Account", id: id, ["Website": "https://new.example"], as: admin)
    #expect(try await world.run().verdicts == [.deviceConflict: 2])
    let next = try world.device("ada", as: "three")
    #expect(
      try next.elements("accounts").contains { $0["Website"]?.string == "https://new.example" })
    try world.handBack(next, as: "three.sqlite", edited: id, ["Phone": "3"])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    #expect(try world.record("Account", id)["Phone"] == "3")
  }

  @Test func `deleting in one soup and editing in the other is a device conflict`() async throws {
    let world = try world("OVERWRITE")
    let device = try await world.primed("ada")
    let id = try account(device, world)
    try device.delete("accounts", id: id, now: world.org.now())
    try device.edit("vips", id: id, ["Website": "https://vip.example"], now: world.org.now())
    #expect(
      try await world.verdicts(device, as: "one.sqlite", .ingest, .reconcile) == [
        .deviceConflict: 2
      ])
    #expect(try world.record("Account", id)["Website"] != "https://vip.example")
  }

  // MARK: one second

  /// The first account that ada owns.
  private func owned(_ world: World) throws -> String {
    let ada = try world.user("ada").id
    let ids = try world.column("SELECT Id FROM Account WHERE OwnerId = '\(ada)' ORDER BY Id")
    return try #require(ids.first)
  }

  @Test func `another user's change seen by the second soup's prime is a conflict`() async throws {
    let world = try World()
    try world.org.setClockStep(0)
    let id = try owned(world)
    try world.change(id, ["Phone": "+1 555 0000"])
    let device = try await world.primed("ada")
    try device.edit("accounts", id: id, ["Website": "https://a.example"], now: world.org.now())
    let date = try world.record("Account", id)["LastModifiedDate"]
    try world.change(id, ["Phone": "+1 555 9999"])
    #expect(try world.record("Account", id)["LastModifiedDate"] == date)
    let run = try await world.run(device, as: "one.sqlite", .ingest, .reconcile)
    #expect(run.verdicts == [.conflict: 1])
    #expect(try world.record("Account", id)["Phone"] == "+1 555 9999")
    let fields = try #require(try details(run.run, world).first).fields
    #expect(fields.map(\.name) == ["Phone", "Website"])
    #expect(fields.first?.server == "+1 555 9999")
  }

  @Test(arguments: [true, false])
  func `an overwrite in one second is listed, a deletion conflicts`(_ deletes: Bool) async throws {
    let world = try world(deletes ? "LEAVE_IF_CHANGED" : "OVERWRITE")
    try world.org.setClockStep(0)
    let id = try owned(world)
    try world.change(id, ["Phone": "+1 555 0000"])
    let device = try await world.primed("ada")
    if deletes {
      try device.delete("accounts", id: id, now: world.org.now())
    } else {
      try device.edit("accounts", id: id, ["Website": "https://a.example"], now: world.org.now())
    }
    try world.change(id, ["Phone": "+1 555 9999"])
    let run = try await world.run(device, as: "one.sqlite", .ingest, .reconcile)
    #expect(run.verdicts == [deletes ? .conflict : .updated: 1])
    let detail = try #require(try details(run.run, world).first)
    let phone = try #require(detail.fields.first { $0.name == "Phone" })
    #expect(phone.server == "+1 555 9999")
    #expect(phone.base == "+1 555 0000")
  }

  // MARK: values

  @Test func `clearing a field that the sender cannot read is sent`() async throws {
    let world = try World()
    let device = try await world.primed("ada")
    let id = try account(device, world)
    try world.change(id, ["Phone": "+1 555 0000"])
    let fresh = try await world.primed("ada", as: "fresh")
    try fresh.edit("accounts", id: id, ["Phone": .null], now: world.org.now())
    // The administrator hides the field from ada: the descriptions that she gets no longer have it.
    let objects = ["Account", "Contact", "WorkOrder"]
    let answer = try await described(objects, to: "ada@example.com", without: "Phone", world)
    world.server.faults.add(
      .init(kind: .composite, user: "ada@example.com"), nth: 1, .respond(.json(200, answer.text)))
    let night = try await world.run(fresh, as: "one.sqlite", .ingest, .reconcile)
    #expect(night.verdicts == [.updated: 1])
    #expect(night.warnings.contains { $0.contains("Account has no field \"Phone\"") })
    #expect(try world.record("Account", id)["Phone"] == .null)
  }

  private func described(
    _ objects: [String], to user: String, without field: String, _ world: World
  ) async throws -> JSONValue {
    let token = try world.server.token(for: user, app: OrgTemplate.clientID)
    let parts = objects.map { name -> JSONValue in
      [
        "method": "GET", "url": .string("/services/data/v66.0/sobjects/\(name)/describe"),
        "referenceId": .string(name),
      ]
    }
    var request = HTTPRequest("POST", world.server.url + "/services/data/v66.0/composite")
    request.headers = ["Authorization": "Bearer " + token, "Content-Type": "application/json"]
    request.body = JSONValue.object(["compositeRequest": .array(parts)]).bytes
    let answer = try JSONValue(parsing: try await HTTPClient().send(request).body)
    let results = try #require(answer["compositeResponse"]?.array)
    return [
      "compositeResponse": .array(
        results.map { result in
          var result = result.object ?? [:]
          var describe = result["body"]?.object ?? [:]
          let fields = describe["fields"]?.array ?? []
          describe["fields"] = .array(fields.filter { $0["name"]?.string != field })
          result["body"] = .object(describe)
          return .object(result)
        })
    ]
  }

  @Test func `an edit from composed to decomposed characters is sent as it is`() async throws {
    let world = try await World.primed()
    let id = try account(try world.device("ada"), world)
    let (composed, decomposed) = ("Caf\u{E9}", "Cafe\u{301}")
    try world.change(id, ["Name": .string(composed)])
    let device = try await world.primed("ada", as: "fresh")
    try world.handBack(device, as: "one.sqlite", edited: id, ["Name": .string(decomposed)])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    let name = try #require(try world.record("Account", id)["Name"]?.string)
    #expect(Array(name.utf8) == Array(decomposed.utf8))
  }

  @Test func `a number that the org cannot hold is sent as it is, and reported`() async throws {
    let world = try world("OVERWRITE")
    let device = try await world.primed("ada")
    let id = try account(device, world)
    try world.handBack(
      device, as: "one.sqlite", edited: id, ["AnnualRevenue": .number("9007199254740993")],
      in: "vips")
    let run = try await world.run(.ingest, .reconcile)
    #expect(run.verdicts == [.updated: 1])
    let held = try #require(try world.record("Account", id)["AnnualRevenue"])
    #expect(held != .number("9007199254740993"))
    let detail = try #require(try details(run.run, world).first)
    #expect(detail.kept.map(\.name) == ["AnnualRevenue"])
    #expect(detail.kept.first?.device == .number("9007199254740993"))
    #expect(detail.kept.first?.server == held)
    #expect(detail.message?.contains("AnnualRevenue") == true)
  }

  @Test func `a number that the org can hold arrives digit by digit`() async throws {
    let world = try world("OVERWRITE")
    let device = try await world.primed("ada")
    let id = try account(device, world)
    try world.handBack(
      device, as: "one.sqlite", edited: id, ["AnnualRevenue": .number("123456789012345")],
      in: "vips")
    let run = try await world.run(.ingest, .reconcile)
    #expect(try world.record("Account", id)["AnnualRevenue"]?.double == 123_456_789_012_345)
    #expect(try details(run.run, world).first?.kept == [])
  }
}
