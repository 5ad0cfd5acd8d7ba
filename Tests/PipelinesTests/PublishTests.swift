import Crypto
import HTTP
import JSON
import ObjectStore
import Pipelines
import Rehearsal
import System
import TestSupport
import Testing

/// Runs of a pipeline that publishes its bundles.
@Suite struct PublishTests {
  let scratch = TemporaryDirectory("published")

  /// The demo's pipeline with a section `publish`.
  private static func publishing(_ section: String, _ more: String = "") -> (String) -> String {
    { text in
      text.replacing(
        #""pack": { "format": "tar.zst" }"#,
        with: #""pack": { "format": "tar.zst" }, "publish": \#(section)\#(more)"#)
    }
  }

  private var directory: String { scratch.file("store") }
  private var store: DirectoryStore { DirectoryStore(directory) }
  private var toDirectory: (String) -> String {
    Self.publishing(#"{"store": {"directory": "\#(directory)"}}"#)
  }

  @discardableResult
  private func publishedGenerations() async throws -> [String: Int64] {
    try await store.publishedGenerations(scratch)
  }

  /// Changes what ada's devices get in the next run.
  private func change(_ world: World, _ phone: String) throws {
    for id in try world.ids("accounts", on: world.device("ada", as: "phone \(phone)")).prefix(2) {
      try world.change(id, ["Phone": .string(phone)])
    }
    try world.org.moveClock(by: 60_000)
  }

  @Test func `a run publishes what is new, and removes what keep has pruned`() async throws {
    let world = try World(
      change: Self.publishing(
        #"{"store": {"directory": "\#(directory)"}}"#, #", "keep": {"generations": 1}"#))
    let first = try await world.run()
    #expect(first.findings.isEmpty, "\(first.warnings)")
    #expect(first.published.paths.count == first.bundles.count)
    #expect(world.told.withLock { $0.contains(.published(first.published)) })
    #expect(Set(try await publishedGenerations().keys) == Set(first.published.users))
    #expect(try await world.run().published.isEmpty)
    for phone in ["1", "2", "3"] {
      try change(world, phone)
      #expect(try await world.run().published.users.contains(world.user("ada").id))
    }
    let ada = "\(world.pipeline.name)/users/\(try world.user("ada").id)/"
    let objects = try await store.list(ada)
    let generations = Set(objects.compactMap { $0.key.dropFirst(ada.count).first })
    // Those of the last pruned generation are removed by the next run.
    #expect(generations == ["3", "4", "l"])
    try await publishedGenerations()
  }

  @Test func `a directory with bundles that is missing is not made again`() async throws {
    let world = try World(change: toDirectory)
    _ = try await world.run()
    let aside = directory + ".aside"
    try Files.rename(directory, to: aside)
    for words in [["publish"], ["publish", "--dry-run"]] {
      let told = try await world.program([words[0]], Array(words.dropFirst()))
      #expect(
        told.status == 6 && told.messages.contains("directory \(directory) does not exist"),
        "\(told.everything)")
    }
    try change(world, "1")
    let run = try await world.run()
    #expect(run.findings == [.limitReached], "\(run.warnings)")
    #expect(!Files.exists(directory))
    try Files.rename(aside, to: directory)
    #expect(try await world.run().published.users.contains(world.user("ada").id))
  }

  @Test func `after a restore, a recovery continues after the published generation`() async throws {
    let world = try World(change: toDirectory)
    _ = try await world.run()
    let copy = world.directory.file("copy")
    try Tree.copy(world.data.path, to: copy)
    try change(world, "1")
    _ = try await world.run()
    try Tree.copy(copy, to: world.data.path)
    try change(world, "2")
    let refused = try await world.run()
    #expect(refused.findings.contains(.notPublished), "\(refused.warnings)")
    let ada = try world.user("ada").id
    #expect(try await publishedGenerations()[ada] == 2)
    let publisher = try await Publisher.open(
      world.pipeline, root: world.root, variables: world.variables)
    let published = try #require(try await publisher?.published())
    #expect(published.generations[ada] == 2)
    #expect(published.outdated.contains(ada))
    // The store shows that the directory is an older copy.
    let findings = try world.recover { $0.published = published }
    #expect(findings.outdated == published.outdated.count)
    let run = try await world.run()
    #expect(!run.findings.contains(.notPublished), "\(run.warnings)")
    #expect(try #require(try await publishedGenerations()[ada]) > 2)
  }

  @Test func `a store that ignores conditions is refused before the run changes anything`()
    async throws
  {
    let count = Locked(0)
    let server = try HTTPServer { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return ServerResponse(
        status: 200,
        headers: ["ETag": "\"\(number)\"", "Last-Modified": "Fri, 24 May 2013 00:00:00 GMT"])
    }
    defer { server.stop() }
    let secret = scratch.file("secret")
    try DurableFile.write(Array("the-secret".utf8), to: secret)
    let world = try World(
      change: Self.publishing(
        """
        {"store": {"s3": {"endpoint": "\(server.url)", "region": "r", "bucket": "b",
         "accessKeyId": "the-key", "secretAccessKey": {"file": "\(secret)"}}}}
        """))
    let run = try await world.program(["run"])
    #expect(run.status == 4)
    #expect(run.messages.contains("ignores conditional writes"), "\(run.messages)")
    #expect(run.messages.contains("store.no-conditions"))
    #expect(!run.everything.contains("the-secret"))
    #expect(try world.data.snapshots() == [])
  }

  // MARK: by a command

  private var program: String { scratch.file("publish.sh") }

  /// Writes a program that copies files below the store, as many as are allowed, and none of one
  /// user.
  private func writeProgram(without user: String = "none") throws {
    let text = """
      #!/bin/sh
      left=$(cat '\(scratch.file("allowed"))')
      env > '\(scratch.file("environment"))'
      case "$4" in */\(user)/*) echo 'not this one' >&2; exit 1;; esac
      [ "$left" -gt 0 ] || { echo "no more for $2" >&2; exit 1; }
      head -c 2000000 /dev/zero
      echo $((left - 1)) > '\(scratch.file("allowed"))'
      mkdir -p "$(dirname '\(directory)/'"$4")"
      echo "$5  $3" | sha256sum --check --quiet && cp "$3" '\(directory)/'"$4"
      """
    try DurableFile.write(Array(text.utf8), to: program, mode: 0o700)
  }

  private var byProgram: (String) -> String {
    Self.publishing(#"{"command": ["\#(program)", "--token", "word-of-mouth"]}"#)
  }

  @Test func `a command that fails after any number of files is called again by the next run`()
    async throws
  {
    let world = try World(change: byProgram)
    try writeProgram()
    var calls = 0
    while true {
      try DurableFile.write(Array("\(calls)\n".utf8), to: scratch.file("allowed"))
      let run = try await world.run()
      try await publishedGenerations()
      #expect(!run.json.text.contains("word-of-mouth"))
      if run.findings.isEmpty { break }
      #expect(run.findings == [.limitReached])
      #expect(
        run.warnings.contains { $0.hasSuffix("exit status 1: no more for •••") }, "\(run.warnings)")
      calls += 1
      try #require(calls < 100)
    }
    #expect(calls > 1)
    #expect(!(try await publishedGenerations()).isEmpty)
    let environment = String(
      decoding: try Files.read(scratch.file("environment")), as: UTF8.self)
    #expect(environment.contains("PATH=") || world.variables["PATH"] == nil)
    #expect(!environment.contains("ATTACHE_JWT_KEY"))
    // An org's address is not a secret, but the pipeline file names its variable too.
    #expect(!environment.contains("ATTACHE_ORG_URL"))
    try DurableFile.write(Array("#!/bin/sh\nexec sleep 1000\n".utf8), to: program, mode: 0o700)
    let late = try await world.program(["publish"], ["--deadline", "1"])
    #expect(late.status == 6, "\(late.everything)")
    #expect(late.messages.contains("[publication.deadline]"))
  }

  @Test func `a command that fails for one user publishes the others`() async throws {
    let world = try World(change: byProgram)
    let ada = try world.user("ada").id
    try writeProgram(without: ada)
    try DurableFile.write(Array("100\n".utf8), to: scratch.file("allowed"))
    let run = try await world.run()
    #expect(run.findings == [.limitReached])
    #expect(run.published.failures.count == 1)
    let generations = try await publishedGenerations()
    #expect(generations[ada] == nil && !generations.isEmpty)
    #expect(Set(generations.keys) == Set(run.published.users))
  }

  // MARK: a bucket, from the command line

  @Test(.enabled(if: ForeignS3.isThere, "moto is missing: make deps-test"))
  func `the command line publishes to a bucket, and shows no secret`() async throws {
    let s3 = try #require(ForeignS3.shared)
    let (secret, log, http) = (scratch.file("secret"), scratch.file("log"), scratch.file("http"))
    let section = """
      {"store": {"s3": {"endpoint": "\(s3.url)", "region": "\(ForeignS3.region)", \
      "bucket": "\(ForeignS3.bucket)", "prefix": "\(RandomBytes.uuid())", \
      "accessKeyId": "\(s3.accessKeyID)", "secretAccessKey": {"file": "\(secret)"}}}}
      """
    let world = try World(change: Self.publishing(section))
    var texts: [String] = []
    func attache(_ command: String..., more: [String] = []) async throws -> ProgramRun {
      let run = try await world.program(command, more)
      texts.append(run.everything)
      return run
    }
    try DurableFile.write(Array("a-wrong-secret".utf8), to: secret)
    let wrong = try await attache("publish")
    #expect(wrong.status == 5 && wrong.messages.contains("SignatureDoesNotMatch"))
    try DurableFile.write(Array(s3.secret.utf8), to: secret)
    let run = try await attache("run", more: ["--log-file", log, "--debug-http", http])
    #expect(run.status == 0, "\(run.everything)")
    #expect(run.everything.contains("publish: "))
    let plan = try await attache("publish", more: ["--dry-run"])
    #expect(plan.status == 0)
    #expect(plan.output == "dry run: nothing to do\n")
    let urls = try await attache("publish", "url", more: ["ada@example.com"])
    #expect(urls.status == 0, "\(urls.everything)")
    let lines = urls.output.split(separator: "\n").map(String.init)
    #expect(lines.count == 3)
    let (got, changed) = try await StoreThread(name: "curl").run { () throws in
      (
        try ChildProcess.run("/usr/bin/curl", ["--silent", "--fail", lines[0]]),
        try ChildProcess.run("/usr/bin/curl", ["--silent", "--fail", lines[0] + "0"])
      )
    }
    let latest = try JSONValue(parsing: got.output)
    #expect(latest["user"]?.string == (try world.user("ada").id))
    #expect(changed.status == 22)
    // The addresses carry the ID of the key, but not its secret.
    for file in [log, http] { texts.append(String(decoding: try Files.read(file), as: UTF8.self)) }
    for text in texts {
      #expect(!text.contains(s3.secret) && !text.contains("a-wrong-secret"))
      #expect(text == urls.everything || !text.contains(s3.accessKeyID))
    }
    for file in try Tree.files(world.data.path) {
      let text = String(decoding: try Files.read(world.data.path + "/" + file), as: UTF8.self)
      #expect(!text.contains(s3.secret), "\(file)")
    }
  }
}
