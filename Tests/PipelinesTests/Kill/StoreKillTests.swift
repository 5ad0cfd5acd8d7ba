import ObjectStore
import Pipelines
import System
import TestSupport
import Testing

/// `kill -9` of the program at any call while it exchanges objects with a store, then the program
/// again.
@Suite struct StoreKillTests {
  typealias Kind = PublishScene.Kind

  /// The number of points of each test, spread over the program's calls.
  private static let points = max(6, CampaignSize.killPoints.count / 8)

  /// A program that can be killed, and the world that it works in.
  private struct Victim {
    let world: World
    let store: any ObjectStore
    let arguments: [String]

    /// Runs the program, and returns its exit status and the number of its calls.
    func run(killedAt call: Int? = nil, after: Bool = false) async throws -> (
      status: Int32, calls: Int, told: String
    ) {
      let counted = world.directory.file("calls")
      try Files.remove(counted)
      var variables = [
        "LD_PRELOAD": try KillShim.shared.get().path, "KILL_COUNT": counted, "KILL_FROM": "start",
        "KILL_SIDE": after ? "after" : "before",
      ]
      variables["KILL_AT"] = call.map { "\($0)" }
      // Only the program itself is killed, not the shell around it.
      let shell = "exec env " + variables.map { "\($0)='\($1)'" }.joined(separator: " ") + #" "$@""#
      let run = try await world.program(arguments, shell: shell)
      let text = (try? Files.read(counted)).map { String(decoding: $0, as: UTF8.self) } ?? ""
      let calls = text.split(separator: " ").first.flatMap { Int($0) } ?? 0
      return (run.status, calls, run.everything)
    }

    /// Lets the locks of a killed program count as old, so that no test waits for a minute.
    func ageLocks(_ directory: String) throws {
      for file in try Tree.files(directory) where Files.name(of: file).hasPrefix(".lock-") {
        try Files.setModificationTime(of: directory + "/" + file, nanoseconds: 1_000_000_000)
      }
    }

    /// Kills the program at points that are spread over its calls; `check` gets what was killed.
    func play(
      _ scratch: TemporaryDirectory, reset: () async throws -> Void,
      check: (_ isFinished: Bool) async throws -> Void
    ) async throws {
      try await reset()
      let whole = try await run()
      #expect(whole.status == 0 && whole.calls > 0, "\(whole)")
      try await check(true)
      var deaths = 0
      for point in 0..<StoreKillTests.points {
        try await reset()
        // The first third of the calls reads files of the pipeline.
        let low = whole.calls / 3
        let call = low + (whole.calls - low) * point / StoreKillTests.points
        let killed = try await run(killedAt: call, after: point % 2 == 1)
        if killed.status == 137 { deaths += 1 }
        try await check(false)
        try ageLocks(scratch.file("store"))
        let next = try await run()
        #expect(next.status == 0, "after call \(call) of \(whole.calls): \(next)")
        try await check(true)
      }
      #expect(deaths > StoreKillTests.points / 2)
    }
  }

  @Test(arguments: Kind.installed)
  func `a run that is killed while it collects loses no return, and takes none twice`(
    _ kind: Kind
  ) async throws {
    let scene = try await ObjectInboxTests.Scene(
      kind, inbox: #""settleSeconds": 0, "store": STORE"#)
    let (data, copy) = (scene.world.data.path, scene.scratch.file("copy"))
    try Tree.copy(data, to: copy)
    let contents = ["1.db": try scene.returned("one"), "2.db": try scene.returned("two")]
    let victim = Victim(
      world: scene.world, store: scene.store, arguments: ["run", "--only", "ingest"])
    try await victim.play(scene.scratch) {
      try Tree.copy(copy, to: data)
      for (key, content) in contents { try await scene.put(key, content) }
    } check: { isFinished in
      let left = try await scene.keys()
      for (key, content) in contents where isFinished || !left.contains(key) {
        #expect(try scene.isRecorded(content.sha256))
      }
      if isFinished {
        #expect(left == [])
        #expect(try scene.world.editVerdicts().count == 2)
        #expect(try Files.list(data + "/processing") == [])
      }
    }
  }

  @Test(arguments: Kind.installed)
  func `a publication that is killed leaves the old generation or the new one`(
    _ kind: Kind
  ) async throws {
    let scratch = TemporaryDirectory("published")
    let (store, section) = try PublishScene.store(kind, scratch.path)
    let world = try World {
      let pack = #""pack": { "format": "tar.zst" }"#
      return $0.replacing(pack, with: pack + #", "publish": {"store": \#(section)}"#)
    }
    try await world.run()
    let ada = try world.user("ada").id
    var first: [String: ObjectContent] = [:]
    for object in try await store.list("") {
      let file = scratch.file("object-\(first.count)")
      _ = try await store.get(object.key, to: file, limit: .max)
      first[object.key] = try ObjectContent(file: file)
    }
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    try world.change(account, ["Phone": "+1 555 0150"])
    try world.org.moveClock(by: 60_000)
    try await world.run(.prime)
    let copy = scratch.file("copy")
    try Tree.copy(world.data.path, to: copy)
    let victim = Victim(world: world, store: store, arguments: ["run", "--only", "pack"])
    try await victim.play(scratch) {
      try Tree.copy(copy, to: world.data.path)
      for object in try await store.list("") {
        try await store.delete(object.key, matching: object.version)
      }
      for (key, content) in first { try await store.put(key, content, if: .absent) }
    } check: { isFinished in
      let generation = try await store.publishedGenerations(scratch)[ada]
      #expect(generation == 2 || generation == 1 && !isFinished)
    }
  }
}
