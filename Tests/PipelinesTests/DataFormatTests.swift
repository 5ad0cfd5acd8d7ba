import JSON
import Pipelines
import Rehearsal
import SmartStore
import System
import TestSupport
import Testing

/// A data directory of format 1 (`Tests/Fixtures/data-format-1.tar.gz`), which has no file `format`:
/// the small org of these tests after two runs, and two devices with generation 1 that have not come
/// back.
///
/// Between the runs the office gave two accounts of ada's another phone. On her device she changed the
/// phone of one that the office left alone, that of one which it changed, and saved the other such one
/// as it was; cleo changed the phone of one of her own.
@Suite struct DataFormatTests {
  let world: World

  init() throws {
    let directory = TemporaryDirectory("format-1")
    let archive = World.repository + "/Tests/Fixtures/data-format-1.tar.gz"
    let unpacked = try ChildProcess.run(
      "/usr/bin/env", ["tar", "-xzf", archive, "-C", directory.path],
      environment: ProcessEnvironment.variables())
    #expect(unpacked.status == 0, "\(String(decoding: unpacked.error, as: UTF8.self))")
    world = try World(
      directory, file: World.repository + "/pipelines/demo.json", change: { $0 })
    try world.org.setClock(1_769_817_665_000 + 3_600_000)
  }

  /// Hands both devices' stores back.
  private func handBack() throws {
    for (name, platform) in [("ada", Platform.ios), ("cleo", .android)] {
      let device = Device(
        platform: platform, storePath: world.directory.file("devices/\(name).sqlite"))
      try world.handBack(device, as: "\(name).sqlite")
    }
  }

  @Test func `its devices' returns are taken, and judged by what they were issued`() async throws {
    try handBack()
    let run = try await world.run()
    #expect(run.returns.ingested == 2)
    #expect(run.returns.quarantined == 0)
    #expect(run.verdicts == [.updated: 2, .conflict: 1, .unchanged: 1])
    #expect(run.warnings == [])
  }

  @Test func `a briefcase goes on from what it listed last`() async throws {
    let run = try await world.run(.prime)
    #expect(run.snapshots.map(\.changed) == [false, false, false, false])
    let users = run.snapshots.filter { $0.id != "global" }
    #expect(users.flatMap(\.soups).map(\.fetched).reduce(0, +) == 0)
  }
}
