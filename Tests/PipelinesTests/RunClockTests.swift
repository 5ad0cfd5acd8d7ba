import Ledger
import Pipelines
import Rehearsal
import Reports
import SQLite
import System
import Testing

/// What is ordered by time when a clock is wrong: this machine's, the org's, or an interrupted
/// run's.
@Suite struct RunClockTests {
  let world: World
  init() throws { world = try World() }

  /// Two phones edit one account that a third one has too.
  ///
  /// Returns the third one and the account.
  ///
  /// `first` are the newest bundles now; the third phone gets its own on request.
  private func rivals() throws -> (left: Device, right: Device, account: String) {
    let (left, right) = (try world.device("ada", as: "left"), try world.device("ben", as: "right"))
    let account = try #require(
      Set(try world.ids("accounts", on: left)).intersection(try world.ids("accounts", on: right))
        .min())
    try left.edit("accounts", id: account, ["Phone": "of the left"], now: world.org.now())
    try right.edit("accounts", id: account, ["Phone": "of the right"], now: world.org.now())
    return (left, right, account)
  }

  private func handBack(_ devices: (left: Device, right: Device, account: String)) throws {
    try world.handBack(devices.left, as: "left.sqlite")
    try world.handBack(devices.right, as: "right.sqlite")
  }

  /// A phone with Ada's newest bundle returns an edit of the account.
  ///
  /// Two others have a device conflict there, which it cannot know.
  private func thirdConflicts(_ account: String, _ device: Device) async throws {
    try world.handBack(device, as: "third.sqlite", edited: account, ["Phone": "of the third"])
    let verdicts = try await world.run().verdicts
    #expect(verdicts == [.deviceConflict: 1], "\(verdicts)")
    #expect(try world.record("Account", account)["Phone"]?.string?.hasPrefix("of the") != true)
  }

  @Test func `a report lists a device's edits before their return, by any clock`() async throws {
    let (device, id) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: id, ["Phone": "1"], now: world.org.now() + 3 * 86_400_000)
    let run = try await world.run(device, as: "ada.sqlite")
    let ledger = try LedgerDatabase(path: world.data.state)
    defer { ledger.close() }
    let model = try ReportModel(state: ledger, run: run.run, called: "field")
    #expect(model.timeline.map(\.kind) == [.edited, .returned, .run])
  }

  private func times() throws -> [Int64] {
    let ledger = try LedgerDatabase(path: world.data.state)
    defer { ledger.close() }
    return try ledger.runs(limit: 20).reversed().map(\.now)
  }

  @Test func `if the org's clock goes back, runs and edits stay in order`() async throws {
    try await world.run()
    let devices = try rivals()
    let third = try world.device("ada", as: "third")
    try world.org.moveClock(by: -3_600_000)
    try handBack(devices)
    #expect(try await world.run().verdicts == [.deviceConflict: 2])
    try await thirdConflicts(devices.account, third)
    let times = try times()
    #expect(times == Array(Set(times)).sorted(), "\(times)")
  }

  @Test func `a return ingested by hand under a slow clock is new`() async throws {
    // Years ahead of this machine.
    try world.org.moveClock(by: 20 * 365 * 86_400_000)
    try await world.run()
    let devices = try rivals()
    let third = try world.device("ada", as: "third")
    try handBack(devices)
    try await world.run(.ingest)
    #expect(try await world.run(.reconcile).verdicts == [.deviceConflict: 2])
    try await thirdConflicts(devices.account, third)
  }

  @Test func `returns taken by a resumed run are new to what it published before`() async throws {
    try await world.run()
    let devices = try rivals()
    // There is something new, so that the interrupted run has bundles to publish.
    _ = world.org.update(
      "Account", id: devices.account, ["Description": "new"], as: try world.user("admin"))
    try await world.die { event in
      if case .snapshotPrimed = event {
        false
      } else if case .stageFinished(let cost) = event {
        cost.stage == .pack
      } else {
        false
      }
    }
    let third = try world.device("ada", as: "third")
    try world.org.moveClock(by: 3_600_000)
    try handBack(devices)
    let resumed = try await world.run()
    #expect(resumed.verdicts == [.deviceConflict: 2], "\(resumed.verdicts)")
    try await thirdConflicts(devices.account, third)
    #expect(try times().count == 3)
  }

  @Test func `a return released after a recovery has its ingest time`() async throws {
    // Years ahead of this machine.
    try world.org.moveClock(by: 20 * 365 * 86_400_000)
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "+1 555 0153"], now: world.org.now())
    try world.loseLedger()
    for name in ["users", "global", "issued"] { try Files.remove(world.data.path + "/" + name) }
    try await world.run(device, as: "old.sqlite")
    var request = PipelineRecovery.Request(by: "olga", now: Clock.wallMilliseconds() + 1000)
    request.isRestored = true
    _ = try PipelineRecovery.perform(world.pipeline, root: world.root, request)
    try world.org.moveClock(by: 86_400_000)
    _ = try PipelineReturns(world.pipeline, root: world.root).release(["old.sqlite"])
    try await world.run()
    let ledger = try LedgerDatabase(path: world.data.state)
    defer { ledger.close() }
    let arrived = try ledger.connection.integer("SELECT max(arrived_ms) FROM returned")
    #expect(try arrived == ledger.runs(limit: 1).first?.now)
  }

  @Test func `returns that a recovery ingests again keep their first date and order`() async throws
  {
    let device = try await world.primed("ada")
    let accounts = try world.ids("accounts", on: device)
    try world.handBack(device, as: "one.sqlite", edited: accounts[0], ["Phone": "+1 555 0101"])
    try await world.run()
    try world.handBack(device, as: "two.sqlite", edited: accounts[1], ["Phone": "+1 555 0102"])
    try await world.run()
    let times = try times()
    // This machine's clock was years behind when the second one was ingested.
    for sha256 in try Files.list(world.data.done) {
      let path = world.data.done + "/" + sha256 + "/.return.json"
      let text = String(decoding: try Files.read(path), as: UTF8.self)
      guard text.contains("two.sqlite") else { continue }
      let wound = text.replacing(#/"arrived": "[0-9]{4}/#, with: #""arrived": "2001"#)
      try DurableFile.write(Array(wound.utf8), to: path)
    }
    try world.loseLedger()
    _ = try PipelineRecovery.perform(
      world.pipeline, root: world.root, .init(by: "olga", now: Clock.wallMilliseconds()))
    try await world.run()
    let ledger = try LedgerDatabase(path: world.data.state)
    defer { ledger.close() }
    let rows = try ledger.connection.all("SELECT source_name, arrived_ms FROM returned ORDER BY id")
    #expect(rows.map { $0[0].text } == ["one.sqlite", "two.sqlite"])
    #expect(rows.map { $0[1].integer } == Array(times.suffix(2)))
  }
}
