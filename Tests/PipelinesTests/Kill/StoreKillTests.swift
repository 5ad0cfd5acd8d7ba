import ObjectStore
import Pipelines
import System
import TestSupport
import Testing

/// `kill -9` of the program at a request to a store, then the program again.
@Suite struct StoreKillTests {
  typealias Kind = PublishScene.Kind

  /// A program that can be killed, and the world that it works in.
  private struct Victim {
    let world: World
    let kind: Kind
    let scratch: TemporaryDirectory
    /// The command that is killed, and the one that completes its work.
    let commands: (killed: [String], next: [String])

    private func run(_ command: [String], killedAt point: KillPoint? = nil) async throws -> ChildRun
    {
      let arguments = command + [world.pipeline.file, "--data", world.root]
      // Waiting for children must not block the other tests.
      return try await StoreThread(name: "kill").run { [world] () throws in
        try ChildRun(arguments, world, killedAt: point)
      }
    }

    /// Kills the program at requests that are spread over all of them, some before and some after
    /// they are sent.
    ///
    /// `check` gets whether the work must be complete. A request to a directory is a few calls that make and remove names.
    func play(
      reset: () async throws -> Void, check: (_ isFinished: Bool) async throws -> Void
    ) async throws {
      try await reset()
      let event = kind == .s3 ? KillPoint.Event.sends : .names
      let whole = try await run(commands.killed)
      let count = whole.counts[event, default: 0]
      #expect(whole.status == 0, "\(whole.story)")
      try #require(count > 0)
      try await check(true)
      var deaths = 0
      let numbers = Array(1...count).spread(CampaignSize.killPoints.count)
      for (index, number) in numbers.enumerated() {
        try await reset()
        let point = KillPoint(
          event: event, number: number, moment: index % 2 == 0 ? .before : .after)
        if try await run(commands.killed, killedAt: point).status == 137 { deaths += 1 }
        try await check(false)
        try PublishScene.ageLocks(scratch.path)
        let next = try await run(commands.next)
        #expect(next.status == 0, "\(point) of \(count): \(next.story)")
        try await check(true)
      }
      print(
        "StoreKillTests: \(commands.killed[0]), \(kind): killed at \(deaths) of \(count) \(event)")
      #expect(deaths * 4 > numbers.count * 3)
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
    let ingest = ["run", "--only", "ingest"]
    let victim = Victim(
      world: scene.world, kind: kind, scratch: scene.scratch, commands: (ingest, ingest))
    try await victim.play {
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
    let notes = world.data.path + "/published.json"
    let old = try Files.read(notes)
    var first: [String: ObjectContent] = [:]
    for object in try await store.list("") {
      let file = scratch.file("object-\(first.count)")
      _ = try await store.get(object.key, to: file, limit: .max)
      first[object.key] = try ObjectContent(file: file)
    }
    let account = try #require(try world.ids("accounts", on: world.device("ada")).first)
    try world.change(account, ["Phone": "+1 555 0150"])
    try world.org.moveClock(by: 60_000)
    try await world.run(.prime, .pack)
    // The second generation is packed, and not yet published.
    try DurableFile.write(old, to: notes)
    let copy = scratch.file("copy")
    try Tree.copy(world.data.path, to: copy)
    let victim = Victim(
      world: world, kind: kind, scratch: scratch,
      commands: (["publish"], ["run", "--only", "pack"]))
    try await victim.play {
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
