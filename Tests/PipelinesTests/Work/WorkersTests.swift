import Crypto
import JSON
import Ledger
import ObjectStore
import Pipelines
import System
import TestSupport
import Testing

/// A run whose snapshots are primed by workers.
@Suite struct WorkersTests {
  @Test(arguments: WorkScene.Kind.installed)
  func `workers make what one process makes, and their number may change in every run`(
    _ kind: WorkScene.Kind
  ) async throws {
    let scene = try await WorkScene.prepared(kind)
    let (alone, divided) = (try scene.copy("alone"), try scene.copy("divided"))
    var made: Set<String> = []
    for (round, count) in [4, 3].enumerated() {
      let expected = try await scene.run(in: alone)
      let ordered = try await scene.run(in: divided, .orders)
      let work = try #require(ordered.work)
      #expect(work.isWaiting && work.orders == work.snapshots && work.orders >= count)
      // One of them is doubled.
      let worked = try await scene.work(Array(0..<count) + [1], of: count)
      #expect(worked.map(\.done).reduce(0, +) >= work.orders)
      #expect(worked.allSatisfy { $0.exitStatus == .done }, "\(worked)")
      let collected = try await scene.run(in: divided, .collect)
      #expect(collected.work?.missing == 0 && collected.warnings == expected.warnings)
      #expect(collected.exitStatus == expected.exitStatus)
      #expect(collected.open == expected.open && collected.waiting == expected.waiting)
      // The run's summary has the counts of its first part too.
      #expect(collected.verdicts == expected.verdicts && collected.requests > ordered.requests)
      #expect(collected.costs.map(\.stage) == expected.costs.map(\.stage))
      for (one, other) in zip(collected.snapshots, expected.snapshots) {
        #expect(one.id == other.id && one.generation == other.generation)
        #expect(one.changed == other.changed && one.soups == other.soups)
        if one.changed { made.insert("\(round) \(one.username)") }
      }
      #expect(collected.snapshots.count == expected.snapshots.count)
      #expect(try scene.differences(alone, divided) == [])
      // Only what the next orders name is left.
      #expect(try await scene.keys().allSatisfy { $0.hasPrefix("demo/work/files/") })
      try scene.change("Changed after run \(round)")
    }
    #expect(made.isSuperset(of: ["0 ada@example.com", "0 ben@example.com", "1 ada@example.com"]))
    // Files that the last run did not change are written once.
    let files = try await scene.keys("files/")
    try await scene.run(in: divided, .orders)
    #expect(try await Set(scene.keys("files/")) == Set(files))
  }

  @Test func `users who read alike are in one order`() async throws {
    let scene = try await WorkScene.prepared(ordersOf: 2)
    let ledger = try LedgerDatabase(path: scene.world.data.state)
    let users = try scene.world.data.snapshots().filter { $0 != SnapshotID.global }
    for (user, name) in zip(users, ["one", "other", "one"]) {
      try ledger.store(name, as: .readingClass(user))
    }
    ledger.close()
    try await scene.run(in: scene.world.root, .orders)
    let orders = try await scene.keys().filter { $0.contains("/orders/") }.sorted().map { key in
      try JSONValue(parsing: Files.read(scene.directory + "/" + key))["snapshots"]?.array?
        .compactMap { $0["order"]?["user"]?.string } ?? []
    }
    #expect(orders.map { $0.sorted() } == [[SnapshotID.global], [users[0], users[2]], [users[1]]])
  }

  @Test(arguments: [true, false])
  func `orders of an interrupted worker are performed by others, or when it starts again`(
    isRestarted: Bool
  ) async throws {
    let scene = try await WorkScene.prepared()
    let (alone, divided) = (try scene.copy("alone"), try scene.copy("divided"))
    try await scene.run(in: alone)
    let orders = try #require(try await scene.run(in: divided, .orders).work?.orders)
    // It ends when its first result is complete but for the last object.
    let hasEnded = Locked(false)
    let dying = DyingStore(scene.store) { request, key throws(ObjectStoreError) in
      let ends = hasEnded.withLock { ended in
        ended = ended || request == .put && key.contains("/results/")
        return ended
      }
      if ends { throw ObjectStoreError(.unreachable("it ended"), "the store") }
    }
    let error = await #expect(throws: ObjectStoreError.self) {
      try await scene.work(1, of: 2) { $0.store = dying }
    }
    #expect(error.map { PipelineError(describing: $0).kind } == .tryLater)
    // The order that it was performing is claimed for a while.
    let other = try await scene.work(0, of: 2)
    #expect(other.done == orders - 1 && other.elsewhere == 0 && other.claimed == 1)
    #expect(other.text.hasSuffix(", 1 left to workers who have claimed them"), "\(other.text)")
    let again = try await scene.work(0, of: 2)
    #expect(again.done == 0 && again.elsewhere == orders - 1 && again.claimed == 1)
    if !isRestarted {
      for name in try Tree.files(scene.directory) where name.contains("/claims/") {
        try Files.setModificationTime(
          of: scene.directory + "/" + name, nanoseconds: 1_000_000_000)
      }
    }
    #expect(try await scene.work(isRestarted ? 1 : 0, of: 2).done == 1)
    #expect(try await scene.run(in: divided, .collect).work?.missing == 0)
    #expect(try scene.differences(alone, divided) == [])
  }

  @Test func `a worker that reaches the request limit leaves the other users to its next attempt`()
    async throws
  {
    let scene = try await WorkScene.prepared(ordersOf: 100)
    let (alone, divided) = (try scene.copy("alone"), try scene.copy("divided"))
    try await scene.run(in: alone)
    try await scene.run(in: divided, .orders)
    let requests = try await scene.work(0, of: 1).requests
    let work = try await scene.run(in: divided, .orders).work
    let path = scene.directory + "/demo/work/orders.json"
    var list = try #require(try JSONValue(parsing: Files.read(path)).object)
    list["requests"] = JSONValue(requests * 2 / 3)
    try DurableFile.write(JSONValue.object(list).bytes, to: path)
    var attempts: [WorkSummary] = []
    repeat {
      attempts.append(try await scene.work(0, of: 1))
    } while attempts.last?.exitStatus == .tryLater && attempts.count < 20
    #expect(attempts.count > 1 && attempts.last?.exitStatus == .done, "\(attempts)")
    #expect(try await scene.keys().contains { $0.hasSuffix(".part") })
    // No user is primed twice.
    #expect(attempts.map(\.snapshots).reduce(0, +) == work?.snapshots)
    #expect(try await scene.run(in: divided, .collect).work?.missing == 0)
    // The second orders superseded the first ones, which is a finding.
    #expect(try scene.differences(alone, divided) == ["table finding"])
  }

  @Test func `a snapshot that no worker primed is reported, and the others are published`()
    async throws
  {
    let scene = try await WorkScene.prepared()
    let divided = try scene.copy("divided")
    let orders = try #require(try await scene.run(in: divided, .orders).work?.orders)
    // Without the global stores nothing can be packed, and the results can be collected later.
    let missing = await #expect(throws: PipelineError.self) {
      try await scene.run(in: divided, .collect)
    }
    #expect(missing?.code == "work.no-result" && missing?.kind == .tryLater)
    #expect(missing?.message == "no worker has primed the global store")
    for shard in 0..<orders - 1 {
      #expect(try await scene.work(shard, of: orders) { $0.onlyOwn = true }.done == 1)
    }
    let collected = try await scene.run(in: divided, .collect)
    #expect(collected.exitStatus == .tryLater && collected.work?.missing == 1)
    #expect(collected.skipped.count == 1 && collected.snapshots.count == orders - 1)
    // The next run primes it.
    #expect(try await scene.run(in: divided).skipped == [])
  }

  @Test(arguments: [RunPart.whole, .orders])
  func `results of superseded orders are not adopted`(_ part: RunPart) async throws {
    let scene = try await WorkScene.prepared()
    let divided = try scene.copy("divided")
    try await scene.run(in: divided, .orders)
    _ = try await scene.work([0], of: 1)
    let results = try await scene.store.list("demo/work/").filter { $0.key.contains("/results/") }
    #expect(!results.isEmpty)
    let next = try await scene.run(in: divided, part)
    #expect(next.warnings.contains { $0.contains("superseded") })
    let state = try scene.state(divided)
    let error = await #expect(throws: PipelineError.self) {
      try await scene.run(in: divided, .collect)
    }
    #expect(error?.code == (part == .whole ? "work.no-orders" : "work.no-result"))
    #expect(error?.kind == (part == .whole ? .configuration : .tryLater))
    if part == .whole {
      #expect(try await scene.work(0, of: 1).orders == nil)
      #expect(try await scene.keys().allSatisfy { $0.hasPrefix("demo/work/files/") })
      let changed = Set(state.keys).filter { $0.hasPrefix("users/") }
      #expect(
        try scene.state(divided).filter { changed.contains($0.key) }
          == state.filter { changed.contains($0.key) })
    }
  }

  @Test(
    arguments: [(.whole, "users.unknown"), (.collect, "work.other-pipeline")]
      as [(RunPart, String)])
  func `a run that is refused leaves the orders and their results`(
    _ part: RunPart, _ code: String
  ) async throws {
    let scene = try await WorkScene.prepared()
    let divided = try scene.copy("divided")
    try await scene.run(in: divided, .orders)
    _ = try await scene.work([0], of: 1)
    for stages in [[.prime], Set(Stage.allCases)] as [Set<Stage>] {
      var options = RunOptions()
      (options.part, options.stages, options.retryPause) = (part, stages, .none)
      var pipeline = scene.world.pipeline
      if part == .collect {
        pipeline.platforms.removeLast()
      } else {
        options.users = ["ada@example.con"]
      }
      let error = await #expect(throws: PipelineError.self) {
        try await PipelineRun.execute(
          pipeline, root: divided, variables: scene.world.variables, options: options,
          report: { _ in })
      }
      #expect(error?.code == code && error?.kind.exitStatus == .configuration)
    }
    let collected = try await scene.run(in: divided, .collect)
    #expect(collected.work?.missing == 0)
    #expect(!collected.warnings.contains { $0.contains(" is not used") })
  }

  /// What differs between a worker and the run that wrote its orders.
  enum Difference: String, CaseIterable, Sendable {
    case version = "work.other-version"
    case pipeline = "work.other-pipeline"
    case org = "work.other-org"
    case workers = "work.workers"
    case conditions = "store.no-conditions"
  }

  @Test(arguments: Difference.allCases)
  func `a worker that would make other stores refuses the orders`(
    _ difference: Difference
  ) async throws {
    let scene = try await WorkScene.prepared()
    try await scene.run(in: scene.copy("divided"), .orders)
    let path = scene.directory + "/demo/work/orders.json"
    var list = try #require(try JSONValue(parsing: Files.read(path)).object)
    switch difference {
    case .version: list["version"] = "0.9"
    case .pipeline: list["definitions"] = "0"
    case .org: list["organization"] = "00D000000000001AAA"
    case .workers, .conditions: break
    }
    try DurableFile.write(JSONValue.object(list).bytes, to: path)
    let error = await #expect(throws: (any Error).self) {
      try await scene.work(0, of: difference == .workers ? 1000 : 1) {
        if difference == .conditions { $0.store = ForgetfulStore(scene.store) }
      }
    }
    let failure = try PipelineError(describing: #require(error))
    #expect(failure.code == difference.rawValue && failure.kind == .configuration)
    #expect(try await scene.keys().allSatisfy { !$0.contains("/results/") })
    if difference == .workers {
      #expect(try await scene.work(0, of: 1000) { $0.oversubscribes = true }.done > 0)
    }
  }

  /// A store that ignores conditions.
  private struct ForgetfulStore: ObjectStore {
    let store: any ObjectStore

    init(_ store: any ObjectStore) { self.store = store }

    var location: String { store.location }
    func put(
      _ key: String, _ content: ObjectContent, if condition: PutCondition
    ) async throws(ObjectStoreError) -> ObjectVersion {
      if let old = try await store.head(key) { try await store.delete(key, matching: old.version) }
      return try await store.put(key, content, if: .absent)
    }
    func get(
      _ key: String, to path: String, limit: Int64
    ) async throws(ObjectStoreError) -> ObjectEntry? {
      try await store.get(key, to: path, limit: limit)
    }
    func head(_ key: String) async throws(ObjectStoreError) -> ObjectEntry? {
      try await store.head(key)
    }
    func page(of prefix: String, after mark: String?) async throws(ObjectStoreError) -> ObjectPage {
      try await store.page(of: prefix, after: mark)
    }
    func delete(_ key: String, matching version: ObjectVersion) async throws(ObjectStoreError) {
      try await store.delete(key, matching: version)
    }
    func url(_ method: String, _ key: String, seconds: Int) -> String? { nil }
  }

  /// What may be wrong with a result.
  enum Damage: CaseIterable, Sendable { case content, generation, file }

  @Test(arguments: Damage.allCases)
  func `of two results the one that verifies is adopted, and the other is reported`(
    _ damage: Damage
  ) async throws {
    let scene = try await WorkScene.prepared(ordersOf: 100)
    let (alone, divided) = (try scene.copy("alone"), try scene.copy("divided"))
    try await scene.run(in: alone)
    try await scene.run(in: divided, .orders)
    _ = try await scene.work([0], of: 1)
    // An older result of the users' order.
    let key = try #require(
      try await scene.keys().first { $0.contains("/results/1.") && $0.hasSuffix(".done") })
    let path = scene.directory + "/" + key
    let text = String(decoding: try Files.read(path), as: UTF8.self)
    let other =
      switch damage {
      case .content: text
      case .generation: text.replacing(#""generation":2"#, with: #""generation":7"#)
      case .file: text.replacing(#/"sha256":"[0-9a-f]{8}/#, with: #""sha256":"00000000"#)
      }
    let digest = Digest.sha256Hex(Array((damage == .content ? "other" : other).utf8))
    #expect(damage == .content || other != text)
    let older = try #require(Files.parent(of: path)) + "/1.\(digest).done"
    try DurableFile.write(Array(other.utf8), to: older)
    try Files.setModificationTime(of: older, nanoseconds: 1_000_000_000)
    let collected = try await scene.run(in: divided, .collect)
    #expect(collected.work?.missing == 0)
    #expect(collected.warnings.contains { $0.contains(" is not used: ") })
    #expect(try scene.differences(alone, divided) == ["table finding"])
  }

  @Test func `no order, claim or result contains a secret`() async throws {
    let scene = try await WorkScene.prepared()
    let divided = try scene.copy("divided")
    try await scene.run(in: divided, .orders)
    _ = try await scene.work([0], of: 1)
    let key = try Files.read(divided + "/demo/stamp.key")
    let secrets =
      [String(decoding: key, as: UTF8.self).split(separator: "\n").first.map(String.init)]
      + (scene.world.variables["ATTACHE_JWT_KEY"] ?? "").split(separator: "\n").map(String.init)
    for key in try await scene.keys() {
      for secret in secrets.compactMap(\.self) where secret.utf8.count > 20 {
        #expect(try !Tree.contains(secret, in: scene.directory + "/" + key), "\(key)")
      }
    }
    #expect(secrets.count > 5)
  }

  @Test func `the commands divide a run, and report a wrong shard`() async throws {
    let scene = try await WorkScene.prepared()
    let world = scene.world
    func attache(_ words: [String], _ variables: [String: String] = [:]) async throws -> ProgramRun
    {
      try await ProgramRun.blocking(
        words, variables: world.variables.merging(variables) { $1 })
    }
    let file = world.pipeline.file
    // Only home makes the directory of the store, once.
    func expectMissing(_ run: ProgramRun) {
      #expect(
        run.status == 6 && run.messages.contains("directory \(scene.directory) does not exist")
          && run.messages.contains("mount it, or create it"), "\(run.everything)")
      #expect(!Files.exists(scene.directory))
    }
    try Files.remove(scene.directory)
    expectMissing(try await attache(["work", file, "--shard", "0/1"]))
    let orders = try await world.program(["run"], ["--until", "orders"])
    #expect(
      orders.status == 3 && orders.output.contains("written for workers"), "\(orders.everything)")
    for (words, variables, message) in [
      (["--shard", "4/4"], [:], "the worker's index is 4, and there are 4 workers"),
      (["--shard", "auto/4"], [:], "needs the index of an array"),
      (["--shard", "4"], [:], "I/N or auto/N"), ([], [:], "--shard"),
      (
        ["--shard", "auto/2"], ["JOB_COMPLETION_INDEX": "2"], "index is 2, and there are 2 workers"
      ),
      (
        ["--shard", "auto/1"], ["SLURM_ARRAY_TASK_ID": "8", "SLURM_ARRAY_TASK_MIN": "7"],
        "index is 1, and there is 1 worker"
      ),
    ] as [([String], [String: String], String)] {
      let wrong = try await attache(["work", file] + words, variables)
      #expect(wrong.status == 2 && wrong.messages.contains(message), "\(wrong.everything)")
    }
    let slurm = ["SLURM_ARRAY_TASK_ID": "8", "SLURM_ARRAY_TASK_MIN": "7"]
    let worked = try await attache(["work", file, "--shard", "auto/2", "--only-own"], slurm)
    #expect(worked.status == 0 && worked.output.contains("worker 1/2: "), "\(worked.everything)")
    let aside = scene.directory + ".aside"
    try Files.rename(scene.directory, to: aside)
    expectMissing(try await attache(["work", file, "--shard", "0/2"]))
    expectMissing(try await world.program(["run"], ["--from", "collect"]))
    try Files.rename(aside, to: scene.directory)
    let batch = ["AWS_BATCH_JOB_ARRAY_INDEX": "0"]
    let json = try await attache(["work", file, "--shard", "auto/2", "--json"], batch)
    let last = try #require(json.output.split(separator: "\n").last)
    #expect(try JSONValue(parsing: String(last))["result"]?["unfinished"]?.int == 0)
    let collected = try await world.program(["run"], ["--from", "collect"])
    #expect(collected.status == 3, "\(collected.everything)")
    let again = try await world.program(["run"], ["--from", "collect"])
    #expect(again.status == 4 && again.messages.contains("no orders to collect"))
    let none = try await attache(["work", file, "--shard", "0/1"])
    #expect(none.status == 0 && none.output.contains("there are no orders"), "\(none.everything)")
    let part = try await world.program(["run"], ["--from", "orders"])
    #expect(part.status == 2 && part.messages.contains("it must be collect"), "\(part.messages)")
    for words in [["--until", "orders", "--dry-run"], ["--from", "collect", "--user", "ada"]] {
      #expect(try await world.program(["run"], words).status == 2)
    }
  }
}
