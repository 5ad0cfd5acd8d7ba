import Ledger
import Pipelines
import SQLite
import System
import Testing

@Suite struct DataFormatTests {
  let world: World
  init() throws { world = try World() }

  private func files() throws -> [String: [UInt8]] {
    try Tree.entries(world.data.path).mapValues(\.bytes)
  }

  @Test func `the first run writes the format, and later runs keep it`() async throws {
    for _ in 1...2 {
      try await world.run(.ingest)
      #expect(try Files.read(world.data.format) == Array("2\n".utf8))
    }
  }

  @Test(arguments: [1, 3])
  func `every command refuses a directory of another format with one sentence`(
    format: Int
  ) async throws {
    try await world.run(.ingest)
    try DurableFile.write(Array("\(format)\n".utf8), to: world.data.format)
    let before = try files()
    func refused(_ body: () async throws -> Void) async {
      let error = await #expect(throws: PipelineError.self) { try await body() }
      #expect(error?.code == "data.newer-format")
      #expect(error?.kind == .configuration)
      #expect(error?.message.contains("format \(format)") == true)
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
    var after = try files()
    after["lock"] = before["lock"]
    #expect(after == before)
  }

  @Test func `a format that is not a number is an error`() async throws {
    try await world.run(.ingest)
    try DurableFile.write(Array("two\n".utf8), to: world.data.format)
    let error = await #expect(throws: PipelineError.self) { try await world.run() }
    #expect(error?.code == "data.format")
  }

  @Test(arguments: [17, LedgerSchema.version + 1])
  func `a ledger of another version is refused, and no recovery replaces it`(
    version: Int64
  ) async throws {
    try await world.run(.ingest)
    let ledger = try Connection(world.data.state)
    try ledger.execute("PRAGMA user_version = \(version)")
    ledger.close()
    for command in ["run", "report", "recover"] {
      let program = try await world.program([command])
      #expect(program.status == 4, "\(command): \(program.everything)")
      #expect(program.everything.contains("(ledger version \(version), "), "\(command)")
    }
    let kept = try Connection(world.data.state, mode: .readOnly)
    #expect(try kept.integer("PRAGMA user_version") == version)
    kept.close()
  }

  // MARK: ledgers of earlier versions

  /// Makes the ledger one of version 18.
  private func age(_ path: String? = nil) throws {
    let ledger = try Connection(path ?? world.data.state)
    try ledger.execute(
      """
      ALTER TABLE operation DROP COLUMN purpose;
      ALTER TABLE operation DROP COLUMN sights;
      ALTER TABLE decision DROP COLUMN restriction;
      PRAGMA user_version = 18
      """)
    ledger.close()
  }

  private func version() throws -> Int64? {
    let ledger = try Connection(world.data.state, mode: .readOnly)
    defer { ledger.close() }
    return try ledger.integer("PRAGMA user_version")
  }

  @Test(arguments: [
    ("run", []), ("status", []), ("report", []), ("decide", ["--list"]),
    ("decide", ["--verdict", "failed", "--discard", "--dry-run"]), ("prune", ["--dry-run"]),
    ("recover", ["--restored", "--dry-run"]),
  ])
  func `any command converts an earlier version's ledger, unless a run is active`(
    command: String, more: [String]
  ) async throws {
    try await world.run()
    try age()
    let lock = try FileLock(world.data.lock)
    let busy = try await world.program([command], more)
    #expect(busy.everything.contains("run.locked"), "\(busy.everything)")
    #expect(try version() == 18)
    lock.close()
    let program = try await world.program([command], more)
    #expect(program.status == 0, "\(program.everything)")
    #expect(try version() == LedgerSchema.version)
  }

  @Test func `a dry run converts only its copy`() async throws {
    try await world.run()
    try age()
    try await world.run { $0.isDryRun = true }
    #expect(try version() == 18)
    try await world.run()
    #expect(try version() == LedgerSchema.version)
  }
}
