import JSON
import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

@Suite struct OtherDatesTests {
  struct Dates: Sendable, CustomTestStringConvertible {
    var down: String
    var up: String
    var testDescription: String { "\(down) down, \(up) up" }

    static let all = [
      Dates(down: "LastModifiedDate", up: "LastModifiedDate"),
      Dates(down: "SystemModstamp", up: "SystemModstamp"),
      Dates(down: "CreatedDate", up: "CreatedDate"),
      Dates(down: "SystemModstamp", up: "LastModifiedDate"),
      Dates(down: "LastModifiedDate", up: "SystemModstamp"),
    ]
  }

  private func scene(_ dates: Dates, mode: String = "config") throws -> DecisionScene {
    let directory = TemporaryDirectory("world")
    try OrgTemplate.small.get().copy(to: directory.file("org"))
    let copy = directory.file("pipelines")
    try Tree.copy(World.repository + "/pipelines", to: copy)
    let syncs = copy + "/demo/usersyncs.json"
    let list = #"["Name", "Phone", "Website", "Industry", "Description", "BillingCity"]"#
    var text = String(decoding: try Files.read(syncs), as: UTF8.self)
    for (key, date) in [("fieldlist", dates.down), ("createFieldlist", dates.up)] {
      let old = "\"\(key)\": \(list)"
      #expect(text.contains(old))
      text = text.replacing(old, with: "\(old), \"modificationDateFieldName\": \"\(date)\"")
    }
    try DurableFile.write(Array(text.utf8), to: syncs)
    return DecisionScene(
      try World(directory, file: World.repository + "/pipelines/demo.json") {
        $0.replacing(
          "\"reconcile\": {",
          with: "\"reconcile\": { \"conditionalUpdates\": false, \"mode\": \"\(mode)\", ")
      })
  }

  /// A phone with two accounts that the org changed within the second of the prime.
  private func phone(_ scene: DecisionScene) async throws -> (Device, [String]) {
    let world = scene.world
    let first = try await scene.phone()
    let ids = try (0..<2).map { try scene.account(first, $0) }
    try world.org.moveClock(by: 86_400_000)
    try world.org.setClockStep(0)
    for id in ids { try scene.office(id, ["Website": "https://first.example"]) }
    try await world.run()
    return (try world.device("ada", as: "second"), ids)
  }

  @Test(arguments: Dates.all, [true, false])
  func `an issued record is a base with any date`(_ dates: Dates, isSameSecond: Bool) async throws {
    let scene = try scene(dates)
    let (device, ids) = try await phone(scene)
    let given = try scene.field("Phone", of: ids[0])
    if !isSameSecond { try scene.world.org.moveClock(by: 3_600_000) }
    try scene.office(ids[0], ["Phone": "office"])
    try scene.office(ids[1], ["Phone": "office"])
    try device.edit("accounts", id: ids[0], ["Phone": "device"], now: scene.world.org.now())
    try scene.world.handBack(device, as: "ada.sqlite", edited: ids[1], ["Name": "Named"])
    let (verdicts, found) = try await scene.night()
    let edits = ids.compactMap { id in found.first { $0.recordID == id } }
    try #require(edits.count == 2)
    #expect(verdicts == [.conflict: 2])
    #expect(edits[0].detail.fields.map(\.base) == [given])
    #expect(edits.allSatisfy { !$0.detail.hasNoBase })
    // After a decision for the device, the device's old copy of the org's field is not restored.
    try scene.decide(edits[1].number, .device)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Name", of: ids[1]) == "Named")
    for id in ids { #expect(try scene.field("Phone", of: id) == "office") }
  }

  @Test(arguments: Dates.all)
  func `an edit merges with another user's change under any date`(_ dates: Dates) async throws {
    let scene = try scene(dates, mode: "mergeFields")
    let (device, ids) = try await phone(scene)
    try scene.office(ids[0], ["Phone": "office"])
    try scene.office(ids[1], ["Phone": "office"])
    try device.edit("accounts", id: ids[0], ["Phone": "device"], now: scene.world.org.now())
    try scene.world.handBack(device, as: "ada.sqlite", edited: ids[1], ["Name": "Named"])
    #expect(try await scene.night().verdicts == [.conflict: 1, .updated: 1])
    #expect(try scene.field("Name", of: ids[1]) == "Named")
    for id in ids { #expect(try scene.field("Phone", of: id) == "office") }
  }

  @Test(arguments: [Dates.all[3], Dates.all[4]])
  func `another date in an element shows that its copy is newer`(_ dates: Dates) async throws {
    let scene = try scene(dates, mode: "mergeFields")
    let (device, ids) = try await phone(scene)
    try scene.world.org.moveClock(by: 3_600_000)
    try scene.office(ids[0], ["Phone": "office"])
    let record = try scene.world.record("Account", ids[0])
    // Its own sync has fetched the org's value, which its user corrects.
    try device.edit(
      "accounts", id: ids[0], ["Phone": "device", dates.down: record[dates.down] ?? .null],
      now: scene.world.org.now())
    try scene.world.handBack(device, as: "ada.sqlite")
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.conflict: 1])
    #expect(edits[0].detail.hasNoBase && edits[0].detail.fields.allSatisfy { $0.base == nil })
  }

  @Test(arguments: ["none", "of the app's clock"], ["config", "mergeFields"])
  func `an app's own date takes no base from an edit`(_ date: String, mode: String) async throws {
    let scene = try scene(Dates.all[0], mode: mode)
    let (device, ids) = try await phone(scene)
    let given = try scene.field("Phone", of: ids[0])
    try scene.world.org.moveClock(by: 3_600_000)
    for id in ids { try scene.office(id, ["Phone": "office"]) }
    let written: JSONValue = date == "none" ? .null : "2040-01-01T00:00:00.000+0000"
    for (id, fields) in zip(ids, [["Phone": "device"], ["Name": "Named"]] as [JSONObject]) {
      var fields = fields
      fields["LastModifiedDate"] = written
      try device.edit("accounts", id: id, fields, now: scene.world.org.now())
    }
    try scene.world.handBack(device, as: "ada.sqlite")
    let (verdicts, found) = try await scene.night()
    let edits = found.filter { $0.recordID == ids[0] }
    try #require(edits.count == 1)
    #expect(verdicts == (mode == "config" ? [.conflict: 2] : [.conflict: 1, .updated: 1]))
    #expect(edits[0].detail.fields.map(\.base) == [given])
    for id in ids { #expect(try scene.field("Phone", of: id) == "office") }
  }

  @Test(arguments: ["config", "mergeFields"])
  func `without other dates than an app's own there is no base`(_ mode: String) async throws {
    let scene = try scene(Dates.all[0], mode: mode)
    let (device, ids) = try await phone(scene)
    try scene.world.org.moveClock(by: 3_600_000)
    try scene.office(ids[0], ["Phone": "office"])
    try scene.world.handBack(
      device, as: "ada.sqlite", edited: ids[0],
      ["Phone": "device", "LastModifiedDate": "2040-01-01T00:00:00.000+0000"])
    let ada = try scene.world.user("ada").id
    for number in try scene.world.data.generations(of: ada) {
      try Files.remove(scene.world.data.issued(number, of: ada))
    }
    let (verdicts, edits) = try await scene.night()
    // Without it, the SDK's own rule applies, which uses the date in the element.
    #expect(verdicts == (mode == "config" ? [.updated: 1] : [.conflict: 1]))
    #expect(edits[0].detail.hasNoBase && edits[0].detail.fields.allSatisfy { $0.base == nil })
  }

  @Test(arguments: Dates.all)
  func `check reports a sync up with a date that no sync down fetches`(_ dates: Dates) throws {
    let world = try scene(dates).world
    let notes = PipelineFile.reading(path: world.pipeline.file, thoroughly: [:]).notes
    let note = "syncUpAccounts uses \(dates.up) as the modification date"
    let count = notes.filter { $0.contains(note) }.count
    #expect(count == (dates.up == dates.down ? 0 : 1), "\(notes)")
  }
}
