import Foundation
import Pipelines
import System
import TestSupport
import Testing

@Suite struct InboxPlaceTests {
  private func world(_ inbox: String) throws -> World {
    try World { $0.replacing(#""inbox": {"#, with: #""inbox": { "path": "\#(inbox)","#) }
  }

  @Test(arguments: [
    ".", "./", "issued/x", "processing", "quarantine", "state.sqlite", "users", "/",
  ])
  func `an inbox with attache's own files is refused with the file`(_ path: String) throws {
    let error = #expect(throws: (any Error).self) { try world(path).pipeline }
    #expect(error.map { "\($0)".contains("contains attache's own files") } == true)
  }

  @Test func `an inbox linked to the data or pipeline directory takes nothing`() async throws {
    let place = TemporaryDirectory.untilExit("inbox-place").file("link")
    let world = try world(place)
    let other = TemporaryDirectory.untilExit("inbox-other").path
    try Files.makeDirectory(other + "/night/done")
    for name in ["state.sqlite", "format"] {
      try DurableFile.write([1], to: other + "/night/" + name)
    }
    let schema = try #require(world.pipeline.stores.first).schemaFile
    for target in [
      world.data.path, world.root, Files.parent(of: world.pipeline.file) ?? "/", other,
      other + "/night", other + "/night/done", Files.parent(of: schema) ?? "/",
    ] {
      try Files.makeDirectory(target)
      try? FileManager.default.removeItem(atPath: place)
      try FileManager.default.createSymbolicLink(atPath: place, withDestinationPath: target)
      let before = try Files.list(target)
      let error = await #expect(throws: PipelineError.self) { try await world.run() }
      #expect(error?.code == "inbox.own", "\(target)")
      let checked = try await world.program(["check"])
      #expect(checked.status == 4, "\(target): \(checked.everything)")
      #expect(checked.messages.contains("[inbox.own]"), "\(target): \(checked.everything)")
      #expect(try Files.list(target) == before)
    }
  }

  /// Says what `check` and a run of the pipeline say, with some of its text replaced.
  private func refusals(
    _ world: World, _ changes: [(String, String)], _ more: [String] = []
  ) async throws -> [ProgramRun] {
    let before = try Files.read(world.pipeline.file)
    defer { try? DurableFile.write(before, to: world.pipeline.file) }
    let text = changes.reduce(String(decoding: before, as: UTF8.self)) { text, change in
      #expect(text.contains(change.0))
      return text.replacing(change.0, with: change.1)
    }
    try DurableFile.write(Array(text.utf8), to: world.pipeline.file)
    return [try await world.program(["check"], more), try await world.program(["run"], more)]
  }

  @Test func `an inbox that is yet to be created, or has a secret, is refused by check and run`()
    async throws
  {
    let world = try World()
    let place = TemporaryDirectory.untilExit("inbox-new").path
    try Files.makeDirectory(world.data.path)
    symlink(world.data.path, place + "/link")
    let inbox = #""inbox": {"#
    for changes in [
      [(inbox, #""inbox": { "path": "\#(place)/link/done/new/one","#)],
      [
        (inbox, #""inbox": { "path": "\#(place)/new","#),
        (#"{ "env": "ATTACHE_JWT_KEY" }"#, #"{ "file": "\#(place)/new/jwt.key" }"#),
      ],
    ] {
      for said in try await refusals(world, changes, []) {
        #expect(said.status == 4, "\(said.everything)")
        #expect(
          said.messages.contains("[inbox.own]") || said.messages.contains("new/jwt.key is missing"),
          "\(said.everything)")
      }
      #expect(try Files.list(place) == ["link"])
    }
  }

  @Test func `what a run writes is refused among returns and attache's files`() async throws {
    let world = try World()
    let inbox = TemporaryDirectory.untilExit("inbox").file("returns")
    let named = (#""inbox": {"#, #""inbox": { "path": "\#(inbox)","#)
    for (key, section) in [
      ("report.metricsFile", #""report": { "metricsFile": "\#(inbox)/x.prom" }"#),
      ("report.metricsFile", #""report": { "metricsFile": "\#(world.data.path)/x.prom" }"#),
      ("report.metricsFile", #""report": { "metricsFile": "\#(world.data.reports)/r/x.prom" }"#),
      ("publish.store.directory", #""publish": { "store": { "directory": "\#(inbox)" } }"#),
      ("publish.store.directory", #""publish": { "store": { "directory": "\#(world.root)" } }"#),
      ("work.store.directory", #""work": { "store": { "directory": "\#(inbox)/new" } }"#),
    ] {
      let report = (#""report": { "mask": ["Email"] }"#, section)
      for said in try await refusals(world, [named, report]) {
        #expect(said.status == 4, "\(section): \(said.everything)")
        #expect(
          said.messages.contains("[output.place]") && said.messages.contains("in \(key), "),
          "\(section): \(said.everything)")
      }
      #expect(!Files.exists(world.data.path) && !Files.exists(inbox))
    }
  }

  @Test func `a log file among returns, attache's files or those of the pipeline is refused`()
    async throws
  {
    let world = try World()
    for place in [
      world.data.inbox("inbox") + "/run.log", world.data.path + "/run.log", world.pipeline.file,
      try #require(world.pipeline.stores.first).schemaFile,
    ] {
      let before = try? Files.read(place)
      let said = try await world.program(["run"], ["--log-file", place])
      #expect(said.status == 4 && said.messages.contains("in --log-file"), "\(said.everything)")
      #expect((try? Files.read(place)) == before, "\(place)")
    }
  }

  @Test func `a file with the name of a ledger above the inbox does not matter`() async throws {
    let place = TemporaryDirectory.untilExit("inbox-below").path
    try DurableFile.write([1], to: place + "/state.sqlite")
    let world = try world(place + "/returns")
    #expect(try await world.run().exitStatus == .done)
  }

  @Test func `an ingested return that cannot be moved away is not refused`() async throws {
    let world = try await World.primed()
    let elsewhere = "/dev/shm/done-\(UUID().uuidString)"
    try Files.makeDirectory(elsewhere)
    defer { try? FileManager.default.removeItem(atPath: elsewhere) }
    guard try Files.status(elsewhere).device != Files.status(world.data.path).device else { return }
    try Files.remove(world.data.done)
    try FileManager.default.createSymbolicLink(
      atPath: world.data.done, withDestinationPath: elsewhere)
    let device = try world.device("ada")
    let account = try world.ids("accounts", on: device)[0]
    try world.handBack(device, as: "ada.sqlite", edited: account, ["Phone": "8"])
    let first = try await world.run()
    #expect(first.verdicts == [.updated: 1])
    #expect(first.returns.quarantined == 0 && first.returns.ingested == 1)
    #expect(first.warnings.contains { $0.contains("stays in") && $0.contains("/processing/") })
    // It happens as soon as possible.
    try Files.remove(world.data.done)
    try Files.makeDirectory(world.data.done)
    let second = try await world.run()
    #expect(second.returns.quarantined == 0 && second.exitStatus == .done)
    #expect(try Files.list(world.data.done).count == 1)
    #expect(try Files.list(world.data.processing).isEmpty)
  }
}
