import Bundles
import JSON
import Ledger
import Pipelines
import System
import Testing

@Suite struct ReconcileModesTests {
  private static func setting(_ words: String) -> (String) -> String {
    { $0.replacing("\"reconcile\": {", with: "\"reconcile\": { \(words), ") }
  }

  // MARK: merging by field

  @Test func `an edit merges with another user's changes in other fields`() async throws {
    let scene = try DecisionScene(Self.setting("\"mode\": \"mergeFields\""))
    let device = try await scene.world.primed("ada")
    let ids = try (0..<2).map { try scene.account(device, $0) }
    for id in ids {
      try device.edit(
        "accounts", id: id, ["Phone": "device", "Description": "mine"], now: scene.world.org.now())
    }
    try scene.office(ids[0], ["Website": "https://office.example"])
    try scene.office(ids[1], ["Website": "https://office.example", "Phone": "office"])
    try scene.world.handBack(device, as: "ada.sqlite")
    let dry = try await scene.world.run(.ingest, .reconcile) { $0.isDryRun = true }
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.updated: 1, .conflict: 1])
    #expect(dry.verdicts == verdicts)
    #expect(
      edits.first { $0.verdict == .updated }?.detail.fields.map(\.name).sorted() == [
        "Description", "Phone",
      ])
    #expect(try scene.field("Phone", of: ids[0]) == "device")
    #expect(try scene.field("Website", of: ids[0]) == "https://office.example")
    #expect(try scene.field("Phone", of: ids[1]) == "office")
    #expect(try scene.field("Description", of: ids[1])?.string != "mine")
    let number = try #require(edits.first { $0.verdict == .conflict }?.number)
    try scene.decide(number, .server)
    #expect(try await scene.night().verdicts == [.discarded: 1])
    try await scene.expectClosed()
  }

  @Test func `after a user's directory was removed, no number is used twice`() async throws {
    let scene = try DecisionScene(Self.setting("\"mode\": \"mergeFields\""))
    let device = try await scene.world.primed("ada")
    let id = try scene.account(device, 0)
    try device.edit("accounts", id: id, ["Phone": "device"], now: scene.world.org.now())
    try scene.office(id, ["Website": "https://office.example"])
    let ada = try scene.world.user("ada").id
    try Files.remove(scene.world.data.snapshot(ada))
    try await scene.world.run()
    #expect(try scene.world.data.generations(of: ada) == [2])
    // The device is still compared with the first one's issued records.
    try scene.world.handBack(device, as: "ada.sqlite")
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == [.updated: 1])
    #expect(edits.first?.detail.fields.map(\.name) == ["Phone"])
    #expect(try scene.field("Website", of: id) == "https://office.example")
    #expect(try scene.world.device("ada", as: "again").elements("accounts").count > 0)
  }

  // MARK: edits without flags

  @Test(arguments: ["flags", "compare"])
  func `an app's unflagged edit is found only by comparison`(_ detection: String) async throws {
    let scene = try DecisionScene(Self.setting("\"detectEdits\": \"\(detection)\""))
    let world = scene.world
    let device = try await world.primed("ada")
    let ids = try (0..<4).map { try scene.account(device, $0) }
    // With a clock that is years behind.
    let past = world.org.now() - 100_000_000_000
    try device.write("accounts", id: ids[0], ["Phone": "unflagged"], now: past)
    // Rewritten with the same values, with a member of the app's own, or by the device's own sync.
    try device.write("accounts", id: ids[1], [:], now: past)
    try device.write("accounts", id: ids[2], ["_app_note": "seen"], now: past)
    try device.write(
      "accounts", id: ids[3],
      ["Phone": "newer", "LastModifiedDate": "2030-01-01T00:00:00.000+0000"], now: past)
    try world.handBack(device, as: "ada.sqlite")
    let (verdicts, edits) = try await scene.night()
    #expect(verdicts == (detection == "compare" ? [.updated: 1] : [:]))
    #expect(
      edits.flatMap { $0.detail.fields.map(\.name) } == (detection == "compare" ? ["Phone"] : []))
    #expect(
      try scene.field("Phone", of: ids[0]) == (detection == "compare" ? "unflagged" : "+1 555 0100")
    )
    // The same store again brings nothing new.
    try world.handBack(device, as: "again.sqlite")
    #expect(try await scene.night().verdicts[.updated] == nil)
    try await scene.expectClosed(handback: 2)
  }

  @Test func `an unflagged edit is not sent if another user changed the record`() async throws {
    let scene = try DecisionScene(Self.setting("\"detectEdits\": \"compare\""))
    let (device, id) = try await scene.primed()
    try device.write(
      "accounts", id: id, ["Phone": "unflagged"], now: scene.world.org.now() + 60_000)
    try scene.office(id, ["Phone": "office"])
    try scene.world.handBack(device, as: "ada.sqlite")
    #expect(try await scene.night().verdicts == [.conflict: 1])
    try scene.decide(1, .device)
    #expect(try await scene.night().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: id) == "unflagged")
    try await scene.expectClosed()
  }

  @Test func `if the issued records are unreadable, edits are found by flags`() async throws {
    let scene = try DecisionScene(Self.setting("\"detectEdits\": \"compare\""))
    let world = scene.world
    let device = try await world.primed("ada")
    let ids = try (0..<2).map { try scene.account(device, $0) }
    let now = world.org.now() + 60_000
    try device.edit("accounts", id: ids[0], ["Phone": "flagged"], now: now)
    try device.write("accounts", id: ids[1], ["Phone": "unflagged"], now: now)
    try world.handBack(device, as: "ada.sqlite")
    let issued = world.data.issued(1, of: try world.user("ada").id)
    try DurableFile.write(Array(try Files.read(issued).dropLast(20)), to: issued)
    let run = try await world.run(.ingest, .reconcile)
    #expect(run.verdicts == [.updated: 1])
    #expect(run.warnings.contains { $0.contains("edits without flags cannot be detected") })
    #expect(try scene.field("Phone", of: ids[0]) == "flagged")
  }

  @Test(arguments: ["damaged", "absent", "flags"])
  func `an open unflagged edit stays open if comparison is turned off`(_ way: String) async throws {
    let scene = try DecisionScene(Self.setting("\"detectEdits\": \"compare\""))
    let world = scene.world
    let device = try await world.primed("ada")
    let ids = try (0..<2).map { try scene.account(device, $0) }
    let now = world.org.now() + 60_000
    try device.write("accounts", id: ids[0], ["Phone": "unflagged"], now: now)
    try scene.office(ids[0], ["Phone": "office"])
    try world.handBack(device, as: "one.sqlite")
    #expect(try await scene.night().verdicts == [.conflict: 1])

    let issued = world.data.issued(1, of: try world.user("ada").id)
    switch way {
    case "damaged": try DurableFile.write(Array(try Files.read(issued).dropLast(20)), to: issued)
    case "absent": try Files.remove(issued)
    default:
      try world.rewrite(
        #""detectEdits": "compare""#, #""detectEdits": "flags", "returnOpenEdits": false"#)
    }
    // Its app has saved the row again.
    try device.write("accounts", id: ids[0], [:], now: now + 60_000)
    try device.edit("accounts", id: ids[1], ["Phone": "flagged"], now: now + 60_000)
    try world.handBack(device, as: "two.sqlite")
    #expect(try await world.runAsWritten([.ingest, .reconcile]).verdicts == [.updated: 1])
    #expect(try scene.open() == [.conflict: 1])
    _ = try await world.runAsWritten([.prime, .pack])
    #expect(try BundleReader.inspect(world.bundle("ada")).includes.isEmpty)

    try scene.decide(1, .device)
    #expect(try await world.runAllAsWritten().verdicts == [.updated: 1])
    #expect(try scene.field("Phone", of: ids[0]) == "unflagged")
    #expect(try BundleReader.inspect(world.bundle("ada")).includes.map(\.handback) == [2])
  }

  @Test func `an open unflagged edit that is reverted is closed`() async throws {
    let scene = try DecisionScene(Self.setting("\"detectEdits\": \"compare\""))
    let world = scene.world
    let device = try await world.primed("ada")
    let id = try scene.account(device)
    let before = try scene.field("Phone", of: id)
    let now = world.org.now() + 60_000
    try device.write("accounts", id: id, ["Phone": "unflagged"], now: now)
    try scene.office(id, ["Phone": "office"])
    try world.handBack(device, as: "one.sqlite")
    #expect(try await scene.night().verdicts == [.conflict: 1])
    try device.write("accounts", id: id, ["Phone": before ?? .null], now: now + 60_000)
    try world.handBack(device, as: "two.sqlite")
    #expect(try await scene.night().verdicts == [.superseded: 1])
    try await scene.expectClosed(handback: 2)
  }

  // MARK: guard

  @Test func `a guard holds a disproportionate return, not the other devices`() async throws {
    let scene = try DecisionScene(Self.setting("\"maxChanges\": {\"perSnapshot\": 2}"))
    let world = scene.world
    try await world.run()
    let (phone, tablet) = (try world.device("ada"), try world.device("ada", as: "tablet"))
    let ids = try world.ids("accounts", on: phone)
    for id in ids.prefix(3) {
      try phone.edit("accounts", id: id, ["Phone": "phone"], now: world.org.now())
    }
    try tablet.edit("accounts", id: ids[3], ["Phone": "tablet"], now: world.org.now())
    try world.handBack(phone, as: "phone.sqlite")
    let run = try await world.run(tablet, as: "tablet.sqlite", .ingest, .reconcile)
    #expect(run.verdicts == [.notAttempted: 3, .updated: 1])
    #expect(try scene.field("Phone", of: ids[3]) == "tablet")
    let command = try #require(run.confirm.first)
    let called = world.pipeline.called
    #expect(run.confirm.count == 1 && command.hasPrefix("attache reconcile \(called) --confirm "))
    let page = String(
      decoding: try Files.read(world.data.report(run.run) + "/report.html"), as: UTF8.self)
    let place = try #require(page.firstRange(of: command.suffix(16))?.lowerBound)
    #expect(place < (try #require(page.firstRange(of: "id=\"edit-")?.lowerBound ?? page.endIndex)))
    let named = command.replacing(called, with: world.called)
    let held = try await world.program(["reconcile"], [])
    #expect(held.output.contains("to send the held changes: \(named)"))
    #expect(try await world.program(["reconcile"], ["--quiet"]).everything.contains(named))
    // A run of some edits has not examined the others.
    #expect(try await world.run(.reconcile) { $0.only = [4] }.waiting[.changesHeld] == 1)
    let digest = try #require(command.split(separator: " ").last.map(String.init))
    let sent = try await world.run(.reconcile) { $0.confirmed = [digest] }
    #expect(sent.verdicts == [.updated: 3] && sent.confirm.isEmpty)
    #expect(try scene.open().isEmpty)
  }

  // MARK: device conflicts of earlier runs

  @Test(arguments: ["firstWins", "lastWins"])
  func `a device conflict's choice applies to earlier edits too`(_ policy: String) async throws {
    let scene = try DecisionScene()
    let world = scene.world
    let id = try await scene.deviceConflict(
      ada: ["Description": "firstWins"], ben: ["Description": "lastWins"])
    #expect(try await scene.night().verdicts == [:])
    try world.rewrite("\"reconcile\": {", "\"reconcile\": { \"deviceConflicts\": \"\(policy)\",")
    func night(_ isDry: Bool = false) async throws -> [Verdict: Int] {
      try await world.runAsWritten([.ingest, .reconcile]) { $0.isDryRun = isDry }.verdicts
    }
    #expect(try await night(true) == [.updated: 1])
    #expect(try await night() == [.updated: 1])
    #expect(try scene.field("Description", of: id) == .string(policy))
    // The other one needs a decision, and is not new again.
    #expect(try await night() == [:])
    #expect(try scene.open() == [.deviceConflict: 1])
    try scene.decide(policy == "firstWins" ? 2 : 1, .server)
    #expect(try await night() == [.discarded: 1])
    try await scene.expectClosed("ada")
    try await scene.expectClosed("ben")
  }

  @Test(arguments: [
    ("\"detectEdits\": \"compare\", \"returnOpenEdits\": true", "by the flags of their rows"),
    ("\"detectEdits\": \"compare\"", "overwrites, and with"),
  ])
  func `unflagged edits are refused with redelivery or overwriting sync ups`(
    _ settings: String, _ words: String
  ) throws {
    let problems = #expect(throws: Problems.self) {
      if !settings.contains("returnOpenEdits") {
        let world = try World()
        let path = world.pipeline.directory + "/demo/usersyncs.json"
        let text = String(decoding: try Files.read(path), as: UTF8.self)
        try DurableFile.write(
          Array(text.replacing("LEAVE_IF_CHANGED", with: "OVERWRITE").utf8), to: path)
        let file = world.pipeline.directory + "/demo.json"
        let pipeline = String(decoding: try Files.read(file), as: UTF8.self)
        try DurableFile.write(Array(Self.setting(settings)(pipeline).utf8), to: file)
        _ = try PipelineFile.read(path: file, variables: world.variables)
      } else {
        _ = try World(change: Self.setting(settings))
      }
    }
    #expect(problems?.list.contains { $0.message.contains(words) } == true)
  }
}
