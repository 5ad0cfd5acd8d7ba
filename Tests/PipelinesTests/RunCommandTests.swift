import JSON
import Pipelines
import System
import Testing

@Suite struct RunCommandTests {
  private let world: World
  init() throws { world = try World() }

  /// A shell that runs these commands as root, and the program as a user who can read the
  /// pipeline's files.
  private static func asSomebodyElse(_ world: World, _ commands: String...) -> String {
    (["chmod -R a+rX '\(world.directory.file("pipelines"))'"] + commands
      + [#"exec setpriv --reuid=65534 --regid=65534 --clear-groups "$@""#])
      .joined(separator: "\n")
  }

  private func documents(_ text: String) throws -> [JSONValue] {
    try text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
  }

  @Test func `a dry run prints the plan and leaves no trace`() async throws {
    let run = try await world.program(["run"], ["--dry-run"])
    #expect(run.status == 0, "\(run.everything)")
    #expect(!run.output.isEmpty)
    #expect(!Files.exists(world.data.path))
    #expect(world.server.log.writes == [])
  }

  @Test func `a dry run forecasts exactly the missing bundles`() async throws {
    try await world.run(.prime)
    let before = try await world.program(["pack"], ["--dry-run"])
    #expect(before.output.contains("pack: generation 1 of ada@example.com (ios, android)"))
    try await world.run(.pack)
    let after = try await world.program(["pack"], ["--dry-run"])
    #expect(after.status == 0 && !after.output.contains("pack:"), "\(after.everything)")
  }

  @Test func `a named return that does not exist starts no run`() async throws {
    let world = try await World.primed()
    let runs = try PipelineStatus.read(world.pipeline, root: world.root).runs.map(\.id)
    let told = try await world.program(["ingest"], [world.directory.file("none.sqlite")])
    #expect(told.status == 4 && told.messages.contains("the file to ingest does not exist"))
    let folder = try await world.program(["ingest"], [world.directory.path])
    #expect(folder.status == 4 && folder.messages.contains("name the file itself"))
    #expect(try PipelineStatus.read(world.pipeline, root: world.root).runs.map(\.id) == runs)
  }

  @Test(
    .asSomebodyElse,
    arguments: [
      ["status"], ["report"], ["decide", "--list"], ["returns", "list"], ["explain", "1"],
    ])
  func `a user who cannot read the data gets its owner's name`(_ command: [String]) async throws {
    try await world.run(.prime)
    let words = command.first == "returns" ? command : Array(command.prefix(1))
    let told = try await world.program(
      words, Array(command.dropFirst(words.count)), shell: Self.asSomebodyElse(world))
    #expect(told.status == 4, "\(told.everything)")
    #expect(told.output.isEmpty && told.messages.contains("it belongs to root"))
    #expect(told.messages.contains("sudo -u root attache"))
  }

  @Test(.asSomebodyElse)
  func `a user who cannot read their own data gets the command to fix it`() async throws {
    try await world.run(.prime)
    let told = try await world.program(
      ["status"],
      shell: Self.asSomebodyElse(
        world, "chown -R 65534 '\(world.root)'", "chmod 500 '\(world.data.path)'"))
    #expect(told.status == 4, "\(told.everything)")
    #expect(told.messages.contains("the mode of \(world.data.path) denies access to its owner"))
    #expect(told.messages.contains("chmod u+rwX \(world.data.path)"))
    #expect(!told.messages.contains("sudo"))
  }

  @Test(.asSomebodyElse)
  func `a ledger that root left in another user's directory is reported`() async throws {
    try await world.run(.prime)
    let told = try await world.program(
      ["status"],
      shell: Self.asSomebodyElse(
        world, "chown -R 65534 '\(world.root)'", "chown 0 '\(world.data.state)'",
        "chmod 600 '\(world.data.state)'"))
    let home = try #require(Files.owner(of: world.data.path))
    #expect(home != "root")
    #expect(told.status == 4, "\(told.everything)")
    #expect(told.messages.contains("it belongs to root, and its directory to \(home)"))
    #expect(told.messages.contains("sudo chown -R \(home) \(world.data.path)"))
    #expect(!told.messages.contains("sudo -u root"))
  }

  @Test(.asSomebodyElse)
  func `if a return cannot be copied, the required permission is named`() async throws {
    try await world.run(.prime, .pack)
    let device = try world.device("ada")
    try world.handBack(device, as: "ada.sqlite")
    let told = try await world.program(
      ["run"], ["--only", "ingest"],
      shell: Self.asSomebodyElse(
        world, "chown -R 65534 '\(world.root)'", "chown 0 '\(world.data.processing)'",
        "chmod 555 '\(world.data.processing)'"))
    #expect(
      told.everything.contains("let the user who runs attache write to \(world.data.processing)"),
      "\(told.everything)")
    #expect(!told.everything.contains("ulimit"))
  }

  @Test func `only the requested stages run`() async throws {
    let prime = try await world.program(["run"], ["--only", "prime"])
    #expect(prime.status == 0, "\(prime.everything)")
    let files = try Tree.files(world.data.path)
    #expect(files.contains { $0.hasSuffix("store.sqlite") })
    #expect(!files.contains { $0.contains(".bundle.") })
    let pack = try await world.program(["pack"])
    #expect(pack.status == 0, "\(pack.everything)")
    #expect(try Tree.files(world.data.path).contains { $0.contains("ios.bundle.") })
    let place = world.directory.file("unpacked")
    let told = try await ProgramRun.blocking(
      ["bundle", "extract", try world.bundle("ada"), place, "--json"])
    let document = try JSONValue(parsing: told.output)
    #expect(document["directory"] == .string(place))
    let stores = document["stores"]?.array?.compactMap(\.string) ?? []
    #expect(!stores.isEmpty && stores.allSatisfy { Files.exists($0) })
  }

  @Test func `as JSON a run is events, and the last has the summary and status`() async throws {
    let run = try await world.program(["run"], ["--json"])
    let lines = try documents(run.output)
    #expect(lines.first?["type"] == "runStarted")
    let last = try #require(lines.last)
    #expect(last["type"] == "summary")
    #expect(last["status"]?.int == Int64(run.status))
    #expect(last["result"]?["pipeline"] == "demo")
    #expect(lines.filter { $0["type"] == "summary" }.count == 1)
    #expect(run.messages == "")
    // Also if the pipeline cannot be read.
    let none = try await ProgramRun.blocking(["run", "/no/such.json", "--json"])
    #expect(none.status == 4)
    let error = try #require(try documents(none.output).last)
    #expect(error["status"]?.int == 4)
    #expect(error["error"]?["problems"]?[0]?["message"]?.string?.isEmpty == false)
  }

  @Test func `status shows the result of a run as text and as one document`() async throws {
    let before = try await world.program(["status"], [])
    #expect(before.status == 0, "\(before.everything)")
    #expect(before.output.contains("open edits: 0"))
    #expect(before.output.contains("nothing has run in \(world.data.path)"))
    #expect(try await world.program(["run"]).status == 0)
    try Files.makeDirectory(world.data.inbox("inbox"))
    // A store's companion, or an upload in progress, is not a return.
    for name in ["late.sqlite", "late.sqlite-wal", "later.sqlite.part"] {
      try DurableFile.write(Array("x".utf8), to: world.data.inbox("inbox") + "/" + name)
    }
    let words = try await world.program(["status"])
    #expect(words.output.contains("ada@example.com: generation 1"))
    #expect(words.output.contains("inbox: 1 file"))
    let document = try JSONValue(parsing: try await world.program(["status"], ["--json"]).output)
    #expect(document["pipeline"] == "demo")
    #expect(document["inbox"]?.array?.count == 1)
    #expect(document["runs"]?[0]?["exitStatus"] == 0)
    #expect(document["snapshots"]?.array?.count == 4)
    #expect(!words.output.contains("nothing has run"))
  }

  @Test func `status counts the edits that no run has processed yet`() async throws {
    let scene = try DecisionScene()
    let world = scene.world
    let (device, id) = try await scene.primed()
    try world.handBack(device, as: "ada.sqlite", edited: id, ["Phone": "device"])
    #expect(try await world.program(["ingest"]).status == 0)
    let told = try await world.program(["status"])
    #expect(told.output.contains("edits waiting for the next reconciliation: 1"))
    let document = try JSONValue(parsing: try await world.program(["status"], ["--json"]).output)
    #expect(document["notReconciled"] == 1)
    #expect(try await world.program(["reconcile"]).status == 0)
    #expect(!(try await world.program(["status"]).output.contains("next reconciliation")))
  }

  @Test func `status reports a lost ledger`() async throws {
    #expect(try await world.program(["run"]).status == 0)
    for file in try Files.list(world.data.path) where file.hasPrefix("state.sqlite") {
      try Files.remove(world.data.path + "/" + file)
    }
    for words in [["status"], ["report"], ["decide", "--list"], ["prune", "--dry-run"]] {
      let looked = try await world.program([words[0]], Array(words.dropFirst()))
      #expect(looked.status == 4, "\(words): \(looked.everything)")
      #expect(looked.messages.contains("[ledger.behind]"))
    }
  }

  @Test func `a pipeline that never ran has no report, which is not an error`() async throws {
    let none = try await world.program(["report"])
    #expect(none.status == 0)
    #expect(none.output.contains("there is no report yet: nothing has run"))
    #expect(try await world.program(["run"]).status == 0)
    let empty = try await world.program(["report"])
    #expect(empty.status == 0, "\(empty.everything)")
    #expect(empty.output.contains("no run had anything to report"))
    #expect(try await world.program(["report"], ["--format", "json"]).output == "null\n")
  }

  @Test func `a damaged ledger is reported with its repair`() async throws {
    #expect(try await world.program(["run"]).status == 0)
    for file in ["-wal", "-shm"] { try Files.remove(world.data.state + file) }
    var bytes = try Files.read(world.data.state)
    for place in 0..<4096 { bytes[place] = 0x58 }
    try DurableFile.write(bytes, to: world.data.state)
    for verb in ["run", "status"] {
      let told = try await world.program([verb])
      #expect(told.status == 4, "\(told.everything)")
      #expect(told.messages.contains("[ledger.damaged]"))
      #expect(told.messages.contains("attache recover"))
    }
  }

  @Test func `an unknown user of a pipeline is refused with the nearest name`() async throws {
    let run = try await world.program(["run"], ["--user", "ada@exampel.com"])
    #expect(run.status == 4)
    #expect(run.messages.contains("ada@exampel.com is not a user of the pipeline"))
    #expect(run.messages.contains("did you mean ada@example.com?"))
  }

  @Test func `a query of users that the org refuses is reported at its position`() async throws {
    try world.rewrite("IsActive = true AND", "IsActve = true AND")
    let run = try await world.program(["run"])
    #expect(run.status == 4, "\(run.everything)")
    #expect(run.messages.contains("\(world.pipeline.file):"), "\(run.everything)")
    #expect(run.messages.contains("correct users.query in"), "\(run.everything)")
  }

  @Test func `if the file lists users, an unknown one is refused without the org`() async throws {
    let world = try World {
      $0.replacing(#/"users": \{[^}]*\}[^}]*\}/#, with: #""users": {"list": ["ada@example.com"]}"#)
    }
    world.goAway()
    let run = try await world.program(["run"], ["--user", "ada@exampel.com"])
    #expect(run.status == 4, "\(run.everything)")
    #expect(run.messages.contains("did you mean ada@example.com?"))
    #expect(!Files.exists(world.data.path))
    #expect(try await world.program(["run"], ["--user", "ADA@example.com"]).status == 6)
  }

  @Test(arguments: [
    (["run"], "PIPELINE is missing"), (["run", "p", "q"], "q"),
    (["run", "p", "--only", "pirme"], "prime"), (["run", "p", "--deadline", "0"], "at least 1"),
    (["run", "p", "--api-budget", "-5"], "at least 1"),
    (["statsu", "p"], "status"), (["run", "p", "--dry-rnu"], "--dry-run"),
    (["reconcile", "retry", "p"], "attache decide PIPELINE --retry"),
    (["org", "serve", "--port", "70000"], "65535"),
    (["org", "serve", "--app", "x"], "write ID=CERT.pem"),
    (["ingest", "--generation", "005/1", "ada.sqlite"], "PIPELINE or FILE is missing"),
    (
      ["ingest", "p", "--generation", "005/1", "a", "b"],
      "attache ingest PIPELINE --generation 005/1 FILE"
    ),
    (["ingest", "p", "--as", "005/1", "a"], "write --generation SNAPSHOT/GENERATION"),
    (["decide", "p", "1", "--record", "x"], "write --match-record ID"),
    (["decide", "p", "--not-permitted"], "write --verdict exceeds-user-access"),
    (["decide", "p", "1", "--retry", "--discard"], "give --take, --set or both, or one of"),
    (["decide", "p", "1", "--file", "d.json"], "remove the edit numbers, --verdict and"),
    (["sync", "status", "--store", "s", "--name", "a", "--id", "1"], "give one of them"),
    (["sync", "status", "--store", "s"], "give --name NAME or --id ID"),
    (["store", "seal", "s", "--out", "t"], "a passphrase is needed"),
    (
      ["store", "seal", "s", "--out", "t", "--passphrase-env", "A", "--passphrase-file", "B"],
      "--passphrase-env and --passphrase-file exclude each other"
    ),
    (
      ["store", "seal", "s", "--out", "t", "--passphrase-env", "A", "--salt", "zz"],
      "--plain-header makes and prints a random salt"
    ),
    (
      ["store", "unseal", "s", "--out", "t", "--passphrase-env", "A", "--salt", "zz"],
      "that store seal printed"
    ),
  ])
  func `a usage error is status 2, with a correction`(words: [String], hint: String) async throws {
    let run = try await ProgramRun.blocking(words)
    #expect(run.status == 2)
    #expect(run.output == "")
    #expect(run.messages.contains(hint), "\(run.messages)")
  }

  @Test func `with --quiet nothing is printed if nothing needs review`() async throws {
    let run = try await world.program(["run"], ["--quiet"])
    #expect(run.status == 0)
    #expect(run.everything == "")
  }
}

extension Trait where Self == ConditionTrait {
  fileprivate static var asSomebodyElse: Self {
    .enabled(
      if: ProcessEnvironment.isRoot() && Files.exists("/usr/bin/setpriv"),
      "needs root and setpriv, to run as another user")
  }
}
