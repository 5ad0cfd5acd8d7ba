import Crypto
import System
import TestSupport
import Testing

@Suite struct ExamplePipelinesTests {
  static let directory = World.repository + "/pipelines"
  static let examples = ((try? Files.list(directory)) ?? []).filter { $0.hasSuffix(".json") }
  static let pairs = ((try? Files.list(directory + "/samples")) ?? [])
    .filter { $0.hasSuffix(".userstore.json") }
    .map { String($0.dropLast(".userstore.json".count)) }

  @Test func `there are examples to run`() {
    #expect(Self.examples.contains("demo.json"))
    #expect(Self.pairs.count == 4)
  }

  /// Primes, packs, edits a record, and does all of it again.
  func expectRun(_ world: World, soup: String = "contacts") async throws {
    let first = try await world.run()
    #expect(world.skipped == [])
    #expect(first.findings == [])
    #expect(first.snapshots.allSatisfy { $0.changed })
    let total = first.snapshots.flatMap(\.soups).reduce(0) { $0 + $1.total }
    #expect(total > 0)
    #expect(!first.bundles.isEmpty)
    #expect(try ForeignReader.violations(world.stores()) == [])
    let again = try await world.run()
    #expect(again.snapshots.allSatisfy { !$0.changed })
    #expect(again.bundles == [])
    #expect(world.server.log.writes == [])
  }

  @Test(arguments: examples) func `the example runs unchanged`(_ name: String) async throws {
    try await expectRun(try World(file: Self.directory + "/" + name))
  }

  @Test func `the minimal sample runs with a key`() async throws {
    let world = try World(file: Self.directory + "/samples/pipeline-minimal.json") {
      $0.replacingOccurrences(
        of: #""key": { "file": "/etc/attache/jwt.key" }"#,
        with: #""key": { "env": "ATTACHE_JWT_KEY" }"#)
    }
    try await expectRun(world)
  }

  @Test func `the sample of every key runs with paths of this machine`() async throws {
    let keys = TemporaryDirectory("sign")
    defer { withExtendedLifetime(keys) {} }
    let signing = keys.file("sign.key")
    try DurableFile.write(SigningKey.generate(.p256).pem(), to: signing)
    let world = try World(file: Self.directory + "/samples/pipeline-example.json") { text in
      var text = text
      // The paths of a production machine.
      for (pattern, replacement) in [
        (#""key": \{ "file": "/etc/attache/jwt.key" \}"#, #""key": { "env": "ATTACHE_JWT_KEY" }"#),
        (#"\n *"id": "00D[^\n]*"#, ""), (#"\n *"caFile": [^\n]*"#, ""),
        (
          #""passphrase": \{ "file": "/etc/attache/store.key" \}"#,
          #""passphrase": { "command": ["/bin/echo", "c3RvcmUga2V5"] }"#
        ),
        ("/etc/attache/sign.key", signing), (#""settleSeconds": 60"#, #""settleSeconds": 0"#),
        (#""freeDiskMiB": 2048"#, #""freeDiskMiB": 1"#),
      ] {
        text = text.replacingOccurrences(
          of: pattern, with: replacement, options: .regularExpression)
      }
      return text
    }
    try await expectRun(world)
  }

  @Test(arguments: pairs) func `a pair of sample files runs`(_ name: String) async throws {
    let world = try World(file: Self.directory + "/samples/pipeline-minimal.json") {
      $0.replacingOccurrences(
        of: #""key": { "file": "/etc/attache/jwt.key" }"#,
        with: #""key": { "env": "ATTACHE_JWT_KEY" }"#
      )
      .replacingOccurrences(of: "contacts.user", with: name + ".user")
      .replacingOccurrences(of: #"["ios"]"#, with: #"["ios", "android"]"#)
    }
    try await expectRun(world)
  }
}
