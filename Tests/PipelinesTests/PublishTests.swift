import Crypto
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

  private func publish(_ world: World, isDryRun: Bool = false) async throws -> PublishSummary {
    try await Publisher.publish(
      world.pipeline, root: world.root, variables: world.variables, isDryRun: isDryRun)
  }

  /// The `latest.json` of each user.
  private func latest(_ world: World) async throws -> [String: JSONValue] {
    var found: [String: JSONValue] = [:]
    for object in try await store.list(world.pipeline.name + "/users/")
    where object.key.hasSuffix("/latest.json") {
      found[object.key] = try JSONValue(parsing: Files.read(directory + "/" + object.key))
    }
    return found
  }

  /// Expects that every file that a `latest.json` names is there with its digest.
  private func expectWhole(_ world: World) async throws {
    for (key, json) in try await latest(world) {
      let place = Files.parent(of: directory + "/" + key) ?? ""
      let bundles = json["bundles"]?.array ?? []
      #expect(!bundles.isEmpty)
      for bundle in bundles {
        let path = try place + "/" + #require(bundle["path"]?.string)
        #expect(try Digest.sha256Hex(file: path) == bundle["sha256"]?.string)
      }
    }
  }

  @Test func `a run publishes its bundles, and the next one only what is new`() async throws {
    let world = try World(change: toDirectory)
    let first = try await world.run()
    #expect(first.findings.isEmpty, "\(first.warnings)")
    #expect(!first.published.users.isEmpty)
    #expect(first.published.files == first.bundles.count)
    try await expectWhole(world)
    let again = try await world.run()
    #expect(again.published.isEmpty)
    // The command compares everything, and finds nothing to write.
    #expect(try await publish(world).isEmpty)
    #expect(try await publish(world, isDryRun: true).files == first.published.files)
  }

  @Test func `a lower generation is never published over a higher one`() async throws {
    let world = try World(change: toDirectory)
    let run = try await world.run()
    let user = try #require(run.published.users.first)
    let key = "\(world.pipeline.name)/users/\(user)/latest.json"
    let found = try #require(try await store.head(key))
    let newer = ObjectContent(Array(#"{"format": 1, "generation": 9}"#.utf8))
    try await store.put(key, newer, if: .matching(found.version))
    let summary = try await publish(world)
    #expect(summary.failures.count == 1)
    #expect(summary.failures.first?.contains("generation 9 is published") == true)
    #expect(try await store.head(key)?.sha256 == newer.sha256)
    // A recovery continues after it.
    let publisher = try #require(
      try Publisher(world.pipeline, root: world.root, variables: world.variables))
    #expect(try await publisher.generations()[user] == 9)
  }

  @Test func `other content under the key of a bundle is an error, and stays`() async throws {
    let world = try World(change: toDirectory)
    let run = try await world.run()
    let user = try #require(run.published.users.first)
    let objects = try await store.list("\(world.pipeline.name)/users/\(user)/")
    let bundle = try #require(objects.first { $0.key.contains(".bundle.") })
    let other = ObjectContent(Array("other".utf8))
    try await store.put(bundle.key, other, if: .matching(bundle.version))
    let summary = try await publish(world)
    #expect(summary.failures.count == 1)
    #expect(summary.failures.first?.contains("with other content") == true)
    #expect(try await store.head(bundle.key)?.sha256 == other.sha256)
  }

  @Test func `a publication that ends between any two files is completed by the next`()
    async throws
  {
    let world = try World(change: Self.publishing(#"{"command": ["\#(program)"]}"#))
    try writeProgram()
    // The program fails from its nth call on; each call is tried three times.
    var calls = 0
    while true {
      try DurableFile.write(Array("\(calls)\n".utf8), to: scratch.file("allowed"))
      let run = try await world.run()
      try await expectWhole(world)
      if run.findings.isEmpty { break }
      #expect(run.findings == [.limitReached])
      #expect(run.warnings.contains { $0.hasPrefix("the bundles were not published") })
      calls += 1
      try #require(calls < 100)
    }
    #expect(calls > 0)
    #expect(!(try await latest(world)).isEmpty)
  }

  private var program: String { scratch.file("publish.sh") }

  /// Writes a program that copies files below the store, as many as are allowed.
  private func writeProgram() throws {
    let text = """
      #!/bin/sh
      left=$(cat '\(scratch.file("allowed"))')
      [ "$left" -gt 0 ] || { echo 'no more' >&2; exit 1; }
      echo $((left - 1)) > '\(scratch.file("allowed"))'
      mkdir -p "$(dirname '\(directory)/'"$2")"
      echo "$3  $1" | sha256sum --check --quiet && cp "$1" '\(directory)/'"$2"
      """
    try DurableFile.write(Array(text.utf8), to: program, mode: 0o700)
  }

  @Test func `pruned generations are removed from the store, and no other`() async throws {
    let world = try World(
      change: Self.publishing(
        #"{"store": {"directory": "\#(directory)"}}"#, #", "keep": {"generations": 1}"#))
    _ = try await world.run()
    let before = try await store.list("")
    for phone in ["1", "2", "3"] {
      for id in try world.ids("accounts", on: world.device("ada")).prefix(2) {
        try world.change(id, ["Phone": .string(phone)])
      }
      try world.org.moveClock(by: 60_000)
      _ = try await world.run()
    }
    _ = try await publish(world)
    let after = try await store.list("")
    let gone = Set(before.map(\.key)).subtracting(after.map(\.key))
    #expect(gone.contains { $0.contains("/1/") })
    try await expectWhole(world)
  }

  @Test(.enabled(if: ForeignS3.isThere, "moto is missing: make deps-test"))
  func `a run publishes to a bucket, and its summary has no secret`() async throws {
    let s3 = try #require(ForeignS3.shared)
    let prefix = RandomBytes.uuid()
    let secret = scratch.file("secret")
    try DurableFile.write(Array(s3.secret.utf8), to: secret)
    let section = """
      {"store": {"s3": {"endpoint": "\(s3.url)", "region": "\(ForeignS3.region)", \
      "bucket": "\(ForeignS3.bucket)", "prefix": "\(prefix)", \
      "accessKeyId": "\(s3.accessKeyID)", "secretAccessKey": {"file": "\(secret)"}}}}
      """
    let world = try World(change: Self.publishing(section))
    let run = try await world.run()
    #expect(run.findings.isEmpty, "\(run.warnings)")
    #expect(run.published.files == run.bundles.count)
    #expect(!run.json.text.contains(s3.secret))
    let publisher = try #require(
      try Publisher(world.pipeline, root: world.root, variables: world.variables))
    let generations = try await publisher.generations()
    #expect(Set(generations.keys) == Set(run.published.users))
    #expect(Set(generations.values) == [1])
  }
}
