import Ledger
import Pipelines
import Rehearsal
import System
import Testing

@Suite struct RestoredLedgerTests {
  let world: World
  init() throws { world = try World() }

  private var backup: String { world.directory.file("backup.sqlite") }

  private func restore() throws {
    try world.loseLedger()
    try Files.copy(backup, to: world.data.state)
  }

  /// Ada's phone, whose edit a run has sent since the backup without publishing anything.
  private func sentSince() async throws -> (device: Device, account: String) {
    try await world.run()
    try Files.copy(world.data.state, to: backup)
    let device = try world.device("ada")
    let account = try world.ids("accounts", on: device)[0]
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "8"])
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    return (device, account)
  }

  @Test func `a ledger older than a report is refused even before publishing`() async throws {
    _ = try await sentSince()
    try restore()
    for stages in [[Stage.ingest, .reconcile], Stage.allCases] {
      let error = await #expect(throws: PipelineError.self) {
        try await world.run { $0.stages = Set(stages) }
      }
      #expect(error?.code == "ledger.behind")
      #expect(error?.reason?.contains("/reports/") == true)
      #expect(error?.fix?.contains("attache recover") == true)
    }
    // Other files next to the reports are not runs.
    for name in try Files.list(world.data.reports) {
      try Files.rename(world.data.reports + "/" + name, to: world.data.reports + "/kept-" + name)
    }
    let error = await #expect(throws: PipelineError.self) { try await world.run() }
    #expect(error?.reason?.contains("/done/") == true)
    try Files.remove(world.data.done)
    #expect(try await world.run().exitStatus == .done)
  }

  @Test func `a ledger whose last run had a fast clock is refused as well`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "8"])
    // It does not contact the org, and this machine's clock is ahead of the org's.
    let ahead = try await world.run(.ingest)
    try Files.copy(world.data.state, to: backup)
    let sent = try await world.run(.reconcile)
    #expect(RunRow.time(ofID: sent.run) < RunRow.time(ofID: ahead.run))
    try restore()
    let error = await #expect(throws: PipelineError.self) { try await world.run(.reconcile) }
    #expect(error?.code == "ledger.behind")
    #expect(error?.reason?.contains(sent.run) == true)
  }

  @Test func `a ledger that lacks an ingested return is refused`() async throws {
    try await world.run()
    try Files.copy(world.data.state, to: backup)
    let device = try world.device("ada")
    let account = try world.ids("accounts", on: device)[0]
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "8"])
    #expect(try await world.program(["ingest"]).status == 0)
    try restore()
    let run = try await world.program(["run"])
    #expect(run.status == 4)
    #expect(run.messages.contains("ledger.behind") || run.messages.contains("attache recover"))
    #expect(try await world.program(["recover"]).status == 0)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
    #expect(try world.record("Account", account)["Phone"] == "8")
  }

  @Test func `a return that the ledger does not know is ingested again`() async throws {
    let (device, account) = try await sentSince()
    try restore()
    for place in [world.data.reports, world.data.done] { try Files.remove(place) }
    try Files.copy(device.storePath, to: world.data.inbox("inbox") + "/ada.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.alreadyInOrg: 1])
    #expect(try world.record("Account", account)["Phone"] == "8")
    // Now it is known.
    try Files.copy(device.storePath, to: world.data.inbox("inbox") + "/again.sqlite")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [:])
    #expect(try Files.list(world.data.inbox("inbox")).isEmpty)
  }

  @Test func `a restored data directory refuses a bundle that it never issued`() async throws {
    try await world.run()
    let image = world.directory.file("image")
    try Tree.copy(world.data.path, to: image)
    let admin = try world.user("admin")
    let account = try world.ids("accounts", on: try world.device("ada"))[0]
    #expect(world.org.update("Account", id: account, ["Phone": "7"], as: admin).errors.isEmpty)
    let device = try await world.primed("ada", as: "ada-2")
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "8"])
    #expect(try await world.run().verdicts == [.updated: 1])
    #expect(world.org.update("Account", id: account, ["Phone": "9"], as: admin).errors.isEmpty)
    try Files.remove(world.data.path)
    try Tree.copy(image, to: world.data.path)
    try world.handBack(device, as: "again.sqlite")
    let error = await #expect(throws: PipelineError.self) { try await world.run() }
    #expect(error?.code == "ledger.behind")
    #expect(error?.reason?.contains("again.sqlite comes from generation 2 of ") == true)
    #expect(error?.fix?.contains("--restored") == true)
    #expect(try world.record("Account", account)["Phone"] == "9")
  }
}
