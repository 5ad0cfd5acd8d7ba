import Ledger
import Pipelines
import SQLite
import Snapshots
import System
import Testing

@Suite struct DeadRunsTests {
  let world: World
  init() throws { world = try World() }

  private func latest() throws -> RunRow {
    try #require(try PipelineStatus.read(world.pipeline, root: world.root).runs.first)
  }

  @Test(arguments: [true, false])
  func `the report of a run interrupted days ago is still written`(_ hasFiles: Bool) async throws {
    try await world.runFieldDay()
    try await world.die { if case .reportWritten = $0 { true } else { false } }
    let dead = try latest()
    let ledger = try Connection(world.data.state)
    try ledger.run("UPDATE run SET report = 'begun' WHERE id = \(dead.id)")
    ledger.close()
    let report = world.data.report(dead.id)
    if hasFiles {
      try Files.remove(report + "/records.csv")
    } else {
      try Files.rename(report, to: world.data.reports + "/.tmp-1-half")
    }
    try world.org.moveClock(by: 49 * 3_600_000)
    let next = try await world.run()
    #expect(next.run != dead.id)
    let told = try Told(world)
    let first = hasFiles ? dead.id : next.run
    #expect(told.news(first).values.sorted() == ["conflict", "updated"])
    for edit in told.news(first).keys { #expect(told.times(edit) == 1) }
    #expect(Files.exists(report + "/records.csv") == hasFiles)
    #expect(next.exitStatus == .needsAttention)
  }

  @Test func `without a report, an interrupted run names the call to resume`() async throws {
    try await world.die { if case .snapshotPrimed = $0 { true } else { false } }
    let run = try latest().id
    let report = try await world.program(["report"])
    #expect(report.status == 0)
    #expect(report.output.contains("run \(run) was interrupted"), "\(report.everything)")
    #expect(report.output.contains("is resumed by attache run "), "\(report.everything)")
  }

  @Test func `a resumed run dates its generation by its own time and issues it`() async throws {
    try await world.run()
    try await world.die { if case .stageStarted(.prime) = $0 { true } else { false } }
    let dead = try latest()
    var changed: Set<String> = []
    for username in ["ada", "ben"] {
      let id = try #require(try world.ids("accounts", on: world.device(username)).first)
      changed.insert(id)
      try world.change(id, ["Phone": "changed"])
    }
    try world.org.moveClock(by: 2 * 3_600_000)
    #expect(try await world.run().run == dead.id)
    var (primed, issued) = (0, Set<String>())
    let changedText = Array("\"changed\"".utf8)
    for user in try world.data.snapshots() {
      let number = try #require(try world.data.generations(of: user).last)
      let record = try SnapshotDirectory(path: world.data.snapshot(user)).record(of: number)
      if record.run != dead.id { continue }
      let reader = try IssuedRecordReader(path: world.data.issued(number, of: user))
      for id in changed
      where try reader.records(id: id).contains(where: { $0.fields.contains(changedText) }) {
        issued.insert(id)
      }
      for store in record.stores {
        let path = world.data.generation(number, of: user)
        let rows = try Connection(
          "\(path)/\(store.platform.rawValue)/\(store.entry.path)", mode: .readOnly)
        let last = try rows.integer("SELECT max(lastModified) FROM TABLE_1") ?? 0
        #expect(last > 0 && last <= record.created)
        primed += 1
      }
    }
    #expect(primed > 0)
    #expect(issued == changed)
  }

  @Test func `a run that fails in all remaining work is finished`() async throws {
    try await world.run()
    try await world.ingestFails()
    #expect(try latest().ended != nil)
    #expect(try latest().exitStatus == 4)
  }

  @Test func `a dry run is not part of an interrupted run`() async throws {
    try await world.runFieldDay()
    try await world.die { if case .stageStarted(.reconcile) = $0 { true } else { false } }
    let dead = try latest()
    let before = try Tree.entries(world.data.path)
    let look = try await world.run { $0.isDryRun = true }
    #expect(look.run == "dry-run" && look.report == nil && !look.plan.isEmpty)
    #expect(look.verdicts == [.conflict: 1, .updated: 1])
    #expect(try Tree.entries(world.data.path) == before)
    #expect(world.server.log.writes.isEmpty)
    #expect(try latest() == dead)
    #expect(try await world.run().verdicts == look.verdicts)
  }
}
