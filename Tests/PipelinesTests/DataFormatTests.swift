import JSON
import Pipelines
import Rehearsal
import SmartStore
import System
import TestSupport
import Testing

/// A data directory of format 1 (`Tests/Fixtures/data-format-1.tar.gz`), which has no file
/// `format`: the small org of these tests after two runs, and two devices with generation 1 that
/// have not returned yet.
///
/// Between the runs, another user changed the phone of two of ada's accounts. On her device she
/// changed the phone of an account that the other user left alone, and of one of the two, and saved
/// the second one unchanged. Cleo changed the phone of one of her own.
@Suite struct DataFormatTests {
  let world: World

  init() throws {
    let directory = TemporaryDirectory("format-1")
    try Self.unpack(into: directory.path)
    world = try World(
      directory, file: World.repository + "/pipelines/demo.json", change: { $0 })
    try world.org.setClock(1_769_817_665_000 + 3_600_000)
  }

  private static func unpack(into directory: String, _ members: [String] = []) throws {
    let archive = World.repository + "/Tests/Fixtures/data-format-1.tar.gz"
    let unpacked = try ChildProcess.run(
      "/usr/bin/env", ["tar", "-xzf", archive, "-C", directory] + members,
      environment: ProcessEnvironment.variables())
    #expect(unpacked.status == 0, "\(String(decoding: unpacked.error, as: UTF8.self))")
  }

  private func handBack() throws {
    for (name, platform) in [("ada", Platform.ios), ("cleo", .android)] {
      let device = Device(
        platform: platform, storePath: world.directory.file("devices/\(name).sqlite"))
      try world.handBack(device, as: "\(name).sqlite")
    }
  }

  @Test func `returns of older devices are compared with their issued records`() async throws {
    try handBack()
    let run = try await world.run()
    #expect(run.returns.ingested == 2)
    #expect(run.returns.quarantined == 0)
    #expect(run.verdicts == [.updated: 2, .conflict: 1, .unchanged: 1])
    #expect(run.warnings == [])
  }

  @Test func `a briefcase continues from its last list`() async throws {
    let run = try await world.run(.prime)
    #expect(run.snapshots.map(\.changed) == [false, false, false, false])
    // They were created less than the overlap before they were read, and are read again.
    let next = try await world.run(.prime)
    let users = next.snapshots.filter { $0.id != "global" }
    #expect(users.flatMap(\.soups).map(\.fetched).reduce(0, +) == 0)
  }

  // MARK: migration

  private func files(_ part: String) throws -> [String: [UInt8]] {
    try Tree.entries(world.data.path + "/" + part).mapValues(\.bytes)
  }

  private func text(_ name: String) throws -> String {
    String(decoding: try Files.read(world.data.path + "/" + name), as: UTF8.self)
  }

  @Test func `an old directory is migrated once, and the replaced files are kept`() async throws {
    let bases = try files("bases")
    #expect(bases.count == 5)
    try await world.run(.ingest)
    #expect(try text("format") == "2\n")
    #expect(try files("bases.format-1") == bases)
    #expect(!Files.exists(world.data.path + "/bases"))
    let issued = try Tree.entries(world.data.issued)
    #expect(
      issued.keys.map { $0.replacing(".sqlite", with: ".base") }.sorted() == bases.keys.sorted())
    for name in issued.keys {
      #expect(try Files.status(world.data.issued + "/" + name).mode & 0o777 == 0o600)
    }
    try await world.run(.ingest)
    #expect(try Tree.entries(world.data.issued) == issued)
  }

  @Test func `unreadable files are reported, and the rest is migrated`() async throws {
    let id = try world.user("ada").id
    let base = "\(world.data.path)/bases/\(id)/1.base"
    try DurableFile.write(Array(try Files.read(base).dropLast(20)), to: base)
    try handBack()
    let run = try await world.run()
    #expect(!Files.exists(world.data.issued(1, of: id)))
    #expect(Files.exists(world.data.issued(2, of: id)))
    #expect(
      world.told.withLock { $0 }.contains {
        if case .warning(let text) = $0 {
          text.hasPrefix("returns of generation 1 of \(id)")
        } else {
          false
        }
      })
    // Without the issued values, the dates alone decide.
    #expect(run.verdicts == [.updated: 2, .conflict: 2])
  }

  @Test func `a dry run uses the issued records and leaves them as they are`() async throws {
    try handBack()
    try await world.run(.ingest)
    let state = try Files.read(world.data.state)
    try Files.remove(world.data.path)
    try Self.unpack(into: world.directory.path, ["snapshots"])
    try DurableFile.write(state, to: world.data.state)
    func left() throws -> [String: [UInt8]] { try files("").filter { $0.key != "lock" } }
    let before = try left()
    let plan = try await world.run(.reconcile) { $0.isDryRun = true }
    #expect(plan.verdicts == [.updated: 2, .conflict: 1, .unchanged: 1])
    #expect(try left() == before)
    // It writes its look-ups to a separate directory.
    let seen = try DataFormat.preview(world.data, in: world.directory.file("aside")) { _ in }
    #expect(try Tree.files(seen.issued).count == 5)
    #expect(try left() == before)
  }

  @Test func `every command refuses a newer directory with one sentence`() async throws {
    try await world.run(.ingest)
    try DurableFile.write(Array("3\n".utf8), to: world.data.format)
    let before = try files("")
    func refused(_ body: () async throws -> Void) async {
      let error = await #expect(throws: PipelineError.self) { try await body() }
      #expect(error?.code == "data.newer-format")
      #expect(error?.kind == .configuration)
      #expect(error?.message.contains("format 3") == true)
    }
    await refused { try await world.run() }
    await refused { try await world.run { $0.isDryRun = true } }
    await refused { _ = try PipelineStatus.read(world.pipeline, root: world.root) }
    for (command, more) in [
      ("report", []), ("decide", ["--list"]), ("decide", ["1", "--discard"]), ("explain", ["1"]),
    ] {
      let program = try await world.program([command], more)
      #expect(program.status == 4, "\(command)")
      #expect(program.everything.contains("data.newer-format"), "\(command)")
    }
    var after = try files("")
    after["lock"] = before["lock"]
    #expect(after == before)
    try DurableFile.write(Array("two\n".utf8), to: world.data.format)
    let error = await #expect(throws: PipelineError.self) { try await world.run() }
    #expect(error?.code == "data.format")
  }

  /// Kills a run at a call that creates, renames, removes or synchronizes a file.
  private func kill(at call: Int, before: Bool) throws -> Bool {
    var environment = world.variables
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH"] {
      environment[name] = ProcessEnvironment.variable(name)
    }
    environment["LD_PRELOAD"] = try KillShim.shared.get().path
    environment["KILL_FROM"] = "start"
    environment.merge(
      KillPoint(event: .names, number: call, moment: before ? .before : .after).environment
    ) { $1 }
    let result = try ChildProcess.run(
      ChildRun.executable,
      ["run", world.pipeline.file, "--only", "ingest", "--quiet", "--data", world.root],
      environment: environment)
    return result.status == 137
  }

  @Test func `an interrupted migration is repeated with the same result`() async throws {
    let bases = try files("bases")
    try await world.run(.ingest)
    let (issued, users) = (try files("issued"), try files("users"))
    var steps = 0
    for call in stride(from: 1, to: 1000, by: 3) {
      try Files.remove(world.data.path)
      try Self.unpack(into: world.directory.path, ["snapshots"])
      guard try kill(at: call, before: call.isMultiple(of: 2)) else { break }
      let isDone = Files.exists(world.data.format)
      if !isDone, Files.isDirectory(world.data.issued) { steps += 1 }
      try await world.run(.ingest)
      #expect(try files("issued") == issued, "killed at \(call)")
      #expect(try files("users") == users, "killed at \(call)")
      #expect(try files("bases.format-1") == bases, "killed at \(call)")
      #expect(try text("format") == "2\n")
      if isDone { break }
    }
    #expect(steps >= 8, "or it did not die in it")
    try handBack()
    #expect(try await world.run().verdicts == [.updated: 2, .conflict: 1, .unchanged: 1])
  }
}
