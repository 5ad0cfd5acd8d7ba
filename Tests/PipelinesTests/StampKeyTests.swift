import Pipelines
import SQLite
import System
import Testing

@Suite struct StampKeyTests {
  let world: World
  init() throws { world = try World() }

  private var file: String { world.data.path + "/stamp.key" }

  private func refusal(_ stages: Stage...) async throws -> PipelineError {
    let error = await #expect(throws: PipelineError.self) {
      try await world.run { if !stages.isEmpty { $0.stages = Set(stages) } }
    }
    return try #require(error)
  }

  /// The quarantined returns by name, with the code of the reason.
  private func refused() throws -> [String: String] {
    try Quarantine.list(world.data.quarantine).reduce(into: [:]) {
      $0[$1.detail["name"]?.string ?? ""] = $1.detail["code"]?.string
    }
  }

  @Test func `the key is in its own file, and nowhere in the ledger`() async throws {
    try await world.run()
    #expect(try Files.status(file).mode & 0o777 == 0o600)
    let text = String(decoding: try Files.read(file), as: UTF8.self)
    #expect(text.wholeMatch(of: /[0-9a-f]{64}\n/) != nil)
    let ledger = try Connection(world.data.state, mode: .readOnly)
    let values = try ledger.texts("SELECT value FROM meta")
    ledger.close()
    #expect(!values.contains { text.contains($0) && $0.count >= 32 })
    // It is the same in every run.
    try await world.run()
    #expect(String(decoding: try Files.read(file), as: UTF8.self) == text)
  }

  @Test func `a lost key is not recreated if devices have bundles`() async throws {
    try await world.run()
    let text = try Files.read(file)
    let before = try Tree.entries(world.data.path + "/users")
    try Files.remove(file)
    let error = try await refusal()
    #expect(error.kind == .configuration)
    #expect(error.code == "stamp-key.missing")
    #expect(!Files.exists(file))
    #expect(try Tree.entries(world.data.path + "/users") == before)
    try DurableFile.write(text, to: file, mode: 0o644)
    #expect(try await world.run().exitStatus == .done)
    #expect(try Files.status(file).mode & 0o777 == 0o600)
  }

  @Test(arguments: ["", "no key\n", String(repeating: "0", count: 64) + "\n"])
  func `a key other than the one the ledger signs with is refused`(_ text: String) async throws {
    try await world.run()
    try DurableFile.write(Array(text.utf8), to: file)
    let error = try await refusal()
    #expect(error.kind == .configuration)
    #expect(error.code.hasPrefix("stamp-key."))
  }

  @Test func `a lost ledger is not recreated next to published generations`() async throws {
    try await world.run()
    try world.loseLedger()
    for stages in [[], [Stage.ingest], [.pack]] {
      let error = await #expect(throws: PipelineError.self) {
        try await world.run { if !stages.isEmpty { $0.stages = Set(stages) } }
      }
      #expect(error?.code == "ledger.behind")
      #expect(error?.fix?.contains("attache recover") == true)
      #expect(!Files.exists(world.data.state))
    }
  }

  @Test func `a new ledger next to a lost one's key accepts earlier stamps`() async throws {
    let (device, account) = try await world.primed("ada", first: "accounts")
    try device.edit("accounts", id: account, ["Phone": "+1 555 0153"], now: world.org.now())
    try world.loseLedger()
    let aside = world.directory.file("aside")
    try Files.makeDirectory(aside)
    for name in ["users", "global", "issued"] {
      try Files.rename(world.data.path + "/" + name, to: aside + "/" + name)
    }
    let first = try await world.run(device, as: "old.sqlite")
    #expect(try refused() == ["old.sqlite": "return.earlier-ledger"])
    #expect(first.exitStatus == .needsAttention)
    #expect(world.server.log.writes == [])
    let next = try world.device("ada", as: "new")
    try world.handBack(next, as: "new.sqlite", edited: account, ["Phone": "+1 555 0154"])
    #expect(try await world.run().verdicts == [.updated: 1])
    #expect(try refused() == ["old.sqlite": "return.earlier-ledger"])
  }

  // MARK: expired bundles

  @Test func `a return of an expired bundle is refused if the pipeline says so`() async throws {
    for accepts in [true, false] {
      let world = try World {
        $0.replacingOccurrences(
          of: #""settleSeconds": 0"#, with: #""settleSeconds": 0, "acceptExpired": \#(accepts)"#)
      }
      let (device, account) = try await world.primed("ada", first: "accounts")
      try device.edit("accounts", id: account, ["Phone": "+1 555 0153"], now: world.org.now())
      try world.org.moveClock(by: 34 * 86_400_000)
      try world.handBack(device, as: "early.sqlite")
      #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
      try device.edit("accounts", id: account, ["Phone": "+1 555 0154"], now: world.org.now())
      try world.org.moveClock(by: 2 * 86_400_000)
      let late = try await world.run(device, as: "late.sqlite", .ingest, .reconcile)
      let codes = try Quarantine.list(world.data.quarantine).map { $0.detail["code"]?.string }
      #expect(codes == (accepts ? [] : ["return.expired"]))
      #expect(late.verdicts == (accepts ? [.updated: 1] : [:]))
    }
  }

  // MARK: two files with one name

  @Test func `two files of one name share no ledger, and a moved one keeps its own`() async throws {
    try await world.run()
    let text = try Files.read(world.pipeline.file)
    let other = world.directory.file("pipelines/copy.json")
    try DurableFile.write(text, to: other)
    func run(_ path: String) async throws -> RunSummary {
      let pipeline = try PipelineFile.read(path: path, variables: world.variables)
      return try await PipelineRun.execute(
        pipeline, root: world.root, variables: world.variables, options: RunOptions(),
        report: { _ in })
    }
    let error = await #expect(throws: PipelineError.self) { try await run(other) }
    #expect(error?.kind == .configuration)
    #expect(error?.code == "pipeline.twice")
    #expect(error?.description.contains(world.pipeline.file) == true)
    // The first one was renamed or no longer exists: it was moved.
    let renamed = String(decoding: text, as: UTF8.self)
      .replacingOccurrences(of: #""name": "demo""#, with: #""name": "second""#)
    try DurableFile.write(Array(renamed.utf8), to: world.pipeline.file)
    #expect(try await run(other).exitStatus == .done)
    try Files.rename(other, to: world.directory.file("pipelines/third.json"))
    #expect(try await run(world.directory.file("pipelines/third.json")).exitStatus == .done)
  }

  @Test func `a renamed file does not start from scratch next to its own data`() async throws {
    try await world.run()
    let left = try Tree.files(world.root)
    try world.rewrite(#""name": "demo""#, #""name": "second""#)
    for command in [["run"], ["run", "--dry-run"], ["status"], ["decide", "--list"], ["report"]] {
      let said = try await world.program(command)
      #expect(said.status == 4, "\(command): \(said.everything)")
      #expect(said.everything.contains("pipeline.renamed"))
      #expect(said.everything.contains("write \"name\": \"demo\" again"))
      #expect(said.everything.contains("move \(world.data.path) out of \(world.root) to start"))
    }
    let checked = try await ProgramRun.blocking(
      ["check", world.pipeline.file], variables: ["ATTACHE_DATA": world.root])
    #expect(checked.status == 4 && checked.everything.contains("pipeline.renamed"))
    #expect(!Files.exists(world.root + "/second"))
    let now = try Tree.files(world.root)
    #expect(now.filter { !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal") } == left)
    // An operator who wants that moves the old directory away.
    try Files.rename(world.data.path, to: world.directory.file("former"))
    #expect(try await world.runAsWritten().exitStatus == .done)
    // With its own data it is a pipeline like any other, whatever else exists.
    try Files.rename(world.directory.file("former"), to: world.data.path)
    #expect(try await world.runAsWritten().exitStatus == .done)
  }

  @Test func `another pipeline file's data do not prevent a new first run`() async throws {
    try await world.run()
    let text = String(decoding: try Files.read(world.pipeline.file), as: UTF8.self)
    let other = world.directory.file("pipelines/second.json")
    try DurableFile.write(
      Array(text.replacing(#""name": "demo""#, with: #""name": "second""#).utf8), to: other)
    let pipeline = try PipelineFile.read(path: other, variables: world.variables)
    let summary = try await PipelineRun.execute(
      pipeline, root: world.root, variables: world.variables, options: RunOptions(),
      report: { _ in })
    #expect(summary.exitStatus == .done)
  }
}
