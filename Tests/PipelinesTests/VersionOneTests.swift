import Crypto
import JSON
import Ledger
import Pipelines
import Reconciliation
import Rehearsal
import SQLite
import System
import TestSupport
import Testing

/// A data directory of the first version: the demo's, with its org and a device that has not
/// returned (`Tests/Fixtures/version-1.tar.gz`).
///
/// The verdicts in its ledger have the labels of version 1.0.
@Suite struct VersionOneTests {
  let world: World

  init() throws {
    let directory = TemporaryDirectory("version-1")
    let archive = World.repository + "/Tests/Fixtures/version-1.tar.gz"
    let unpacked = try ChildProcess.run(
      "/usr/bin/env", ["tar", "-xzf", archive, "-C", directory.path],
      environment: ProcessEnvironment.variables())
    #expect(unpacked.status == 0, "\(String(decoding: unpacked.error, as: UTF8.self))")
    world = try World(
      directory, file: World.repository + "/pipelines/demo.json", change: { $0 })
    try world.org.setClock(Self.end + 3_600_000)
    earlier = Set(try Files.list(world.data.reports))
  }

  /// The runs whose reports that version wrote.
  private let earlier: Set<String>

  /// When its last run started, by the org's clock.
  private static let end: Int64 = 1_795_319_805_000
  /// Its run that sent edits.
  private static let reconciled = "20261122T035645Z-3"

  /// The device that installed generation 1, returned it once, and was edited since.
  private func device() throws -> Device {
    let device = Device(platform: .ios, storePath: world.directory.file("device/ada.sqlite"))
    let accounts = try world.ids("accounts", on: device)
    let untouched = try #require(accounts.last)
    try device.edit(
      "accounts", id: untouched, ["Phone": "+1 555 0177"], now: Self.end + 1_800_000)
    return device
  }

  /// Changes the ledger as the first version could have left it.
  private func change(_ sql: String) throws {
    let ledger = try Connection(world.data.state)
    try ledger.execute(sql)
    ledger.close()
  }

  @Test func `the old ledger is migrated next to a copy, its key into a file`() async throws {
    let old = try Connection(world.data.state, mode: .readOnly)
    let key = try #require(try old.text("SELECT value FROM meta WHERE name = 'stampKey'"))
    old.close()
    let run = try await world.run()
    #expect(run.exitStatus == .needsAttention)
    let copy = world.data.state + ".version-1"
    #expect(try Files.status(copy).mode & 0o777 == 0o600)
    let kept = try Connection(copy, mode: .readOnly)
    #expect(try kept.integer("PRAGMA user_version") == 1)
    #expect(try kept.integer("SELECT count(*) FROM run") == 5)
    kept.close()
    let file = world.data.path + "/stamp.key"
    #expect(String(decoding: try Files.read(file), as: UTF8.self) == key + "\n")
    #expect(try Files.status(file).mode & 0o777 == 0o600)
    let ledger = try Connection(world.data.state, mode: .readOnly)
    #expect(try ledger.integer("SELECT count(*) FROM meta WHERE value = \(key)") == 0)
    ledger.close()
    // Only once: the next run has nothing to migrate.
    let before = try Files.read(copy)
    try await world.run()
    #expect(try Files.read(copy) == before)
  }

  @Test func `old reports still open, and open edits stay listed`() async throws {
    let run = try await world.run()
    let told = try Told(world, earlier: earlier)
    #expect(told.news(run.run) == [:])
    #expect(
      told.open(run.run).values.sorted() == [
        "conflict", "deleted on server", "device conflict", "device conflict", "failed",
        "not visible",
      ])
    let open = try #require(told.report(run.run)["stillOpen"]?.array)
    #expect(Set(open.map { $0["foundBy"]?.string }) == [Self.reconciled])
    let state = try LedgerDatabase(path: world.data.state)
    defer { state.close() }
    let model = try ReportModel(state: state, run: Self.reconciled, called: "demo")
    #expect(model.edits.count == 13)
    #expect(model.stillOpen.isEmpty)
    #expect(told.report(Self.reconciled)["edits"] == 13)
  }

  @Test func `a return of an old bundle is ingested and sent`() async throws {
    let device = try device()
    let run = try await world.run(device, as: "late.sqlite")
    #expect(run.returns.ingested == 1)
    #expect(run.returns.quarantined == 0)
    #expect(run.verdicts[.updated] == 1)
    #expect(try Quarantine.list(world.data.quarantine) == [])
    // Earlier open edits of that device are neither sent nor reported again.
    let told = try Told(world, earlier: earlier)
    #expect(told.news(run.run).values.contains("updated"))
    #expect(!told.news(run.run).values.contains("conflict"))
    #expect(told.open(run.run).values.contains("conflict"))
  }

  @Test func `verdicts that were never reported are in the next report`() async throws {
    // A run that was abandoned after a day, and one that `ingest` ended after a kill.
    try change(
      """
      INSERT INTO run (number, id, pipeline, now_ms, started_ms, ended_ms, config_hash, host,
        exit_status, summary) VALUES
        (6, '20261122T035646Z-6', 'demo', \(Self.end + 1000), 0, 1, 'c', 'h', 1,
          '{"abandoned":true}'),
        (7, '20261122T035647Z-7', 'demo', \(Self.end + 2000), 0, 1, 'c', 'h', 0,
          '{"returns":{"ingested":1}}');
      UPDATE meta SET value = '7' WHERE name = 'runNumber';
      UPDATE outcome SET run_id = '20261122T035646Z-6' WHERE edit_id = 1;
      UPDATE outcome SET run_id = '20261122T035647Z-7' WHERE edit_id = 8;
      """)
    let run = try await world.run()
    let told = try Told(world, earlier: earlier)
    #expect(told.news(run.run) == [1: "conflict", 8: "failed"])
    #expect(told.open(run.run).count == 4)
    let first = told.report(run.run)["records"]?.array?.first
    #expect(first?["run"]?.string == "20261122T035646Z-6")
  }

  @Test func `a run interrupted under the old version is resumed completely`() async throws {
    try change(
      """
      INSERT INTO run (number, id, pipeline, now_ms, started_ms, config_hash, host) VALUES
        (6, '20261122T035646Z-6', 'demo', \(Self.end + 1000), \(Clock.wallMilliseconds()), 'c', 'h');
      UPDATE meta SET value = '6' WHERE name = 'runNumber';
      """)
    let part = try await world.run(.ingest)
    #expect(part.run == "20261122T035646Z-6")
    let status = try PipelineStatus.read(world.pipeline, root: world.root)
    #expect(status.runs.first?.ended == nil)
    let whole = try await world.run()
    #expect(whole.run == part.run)
    #expect(try PipelineStatus.read(world.pipeline, root: world.root).runs.first?.ended != nil)
  }
}
