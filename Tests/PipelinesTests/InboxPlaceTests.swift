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
      #expect(try Files.list(target) == before)
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
