import Crypto
import JSON
import Ledger
import ObjectStore
import Pipelines
import SQLite
import System
import TestSupport
import Testing

/// A primed world whose next run is performed by one process, or by workers.
///
/// The org's clock stands still, so that both ways make the same bytes.
struct WorkScene: Sendable {
  typealias Kind = PublishScene.Kind

  let world: World
  /// The store of orders and results.
  let store: any ObjectStore
  private let decisions: DecisionScene
  private let scratch = TemporaryDirectory("work")

  /// `ordersOf` is the number of users in an order.
  private init(_ kind: Kind, ordersOf: Int) throws {
    let (store, section) = try PublishScene.store(kind, scratch.path)
    // Users who fetch records for each other would write them in the order of their arrival.
    let work =
      #""work": {"store": \#(section), "ordersOf": \#(ordersOf)}, "prime": {"share": "never"}, "inbox""#
    decisions = try CarriedScene { $0.replacing(#""inbox""#, with: work) }.scene
    (world, self.store) = (decisions.world, store)
  }

  /// The directory of a store of that kind.
  var directory: String { scratch.file("store") }

  /// Makes a first run, an edit that the next generation redelivers, and changes in the org.
  static func prepared(_ kind: Kind = .directory, ordersOf: Int = 1) async throws -> WorkScene {
    let scene = try WorkScene(kind, ordersOf: ordersOf)
    _ = try await scene.decisions.conflict()
    try scene.change("Changed once")
    return scene
  }

  /// Changes an account of each user in the org.
  func change(_ text: String) throws {
    for name in ["ada", "ben"] {
      guard let id = try world.ids("accounts", on: world.device(name, as: text + name)).last else {
        continue
      }
      try world.change(id, ["Phone": .string(text)])
    }
    try world.org.moveClock(by: 86_400_000)
  }

  /// Returns a copy of the data directories.
  func copy(_ name: String) throws -> String {
    let root = world.directory.file(name)
    try Tree.copy(world.root, to: root)
    return root
  }

  // MARK: runs

  @discardableResult
  func run(
    in root: String, _ part: RunPart = .whole, options change: (inout RunOptions) -> Void = { _ in }
  ) async throws -> RunSummary {
    var options = RunOptions()
    (options.part, options.retryPause) = (part, .none)
    if part == .collect { options.stages = [.prime, .pack] }
    change(&options)
    return try await PipelineRun.execute(
      world.pipeline, root: root, variables: world.variables, options: options,
      report: { _ in })
  }

  @discardableResult
  func work(
    _ index: Int, of count: Int, options change: (inout Worker.Options) -> Void = { _ in }
  ) async throws -> WorkSummary {
    guard let shard = Shard(index, of: count) else { throw SystemError.tooShort("\(index)") }
    var options = Worker.Options(shard)
    options.retryPause = .none
    change(&options)
    return try await Worker.perform(
      world.pipeline, variables: world.variables, options: options, report: { _ in })
  }

  /// The program, which may be killed.
  func program(_ words: [String], killedAt point: KillPoint? = nil) async throws -> ChildRun {
    // Waiting for children must not block the other tests.
    let run = try await StoreThread(name: "kill").run { [world] () throws in
      try ChildRun(words, world, killedAt: point)
    }
    if run.status == 137 { try PublishScene.ageLocks(scratch.path) }
    return run
  }

  /// Several workers at the same time.
  func work(_ shards: [Int], of count: Int) async throws -> [WorkSummary] {
    try await withThrowingTaskGroup(of: WorkSummary.self) { group in
      for shard in shards { group.addTask { try await work(shard, of: count) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
  }

  // MARK: what they made

  /// The generations, bundles and issued records, and the rows of the ledger, by name; without the
  /// times of this machine, and the costs.
  func state(_ root: String) throws -> [String: String] {
    let data = DataDirectory(root: root, name: world.pipeline.name)
    var state: [String: String] = [:]
    for (name, entry) in try Tree.entries(data.path) {
      if name.hasPrefix("issued/") {
        let connection = try Connection(data.path + "/" + name, mode: .readOnly)
        state[name] = try Self.rows(
          connection,
          "SELECT s.name, i.id, i.modified, i.fields FROM issued i JOIN soup s ON s.number = i.soup"
        )
        connection.close()
      } else if !name.hasPrefix("state.sqlite"), !name.hasPrefix("reports/"), name != "lock" {
        state[name] = Digest.sha256Hex(entry.bytes)
      }
    }
    let ledger = try LedgerDatabase(path: data.state)
    defer { ledger.close() }
    let own: [String: SQL] = [
      "run": "SELECT number, id, now_ms, config_hash, wanted, finished, exit_status FROM run",
      "meta": "SELECT * FROM meta WHERE name NOT IN ('orders', 'wide calls', 'work store')",
    ]
    for table in try ledger.connection.texts("SELECT name FROM sqlite_master WHERE type = 'table'")
    {
      state["table \(table)"] = try Self.rows(
        ledger.connection, own[table] ?? SQL("SELECT * FROM " + SQL.quoted(name: table)))
    }
    return state
  }

  private static func rows(_ connection: Connection, _ sql: SQL) throws -> String {
    try connection.all(sql).map { "\($0)" }.sorted().joined(separator: "\n")
  }

  /// The names of what differs between two data directories.
  func differences(_ one: String, _ other: String) throws -> [String] {
    let (one, other) = (try state(one), try state(other))
    return Set(one.keys).union(other.keys).filter { one[$0] != other[$0] }.sorted()
  }

  /// The newest generation of each user.
  func generations(_ root: String) throws -> [String: Int] {
    let data = DataDirectory(root: root, name: world.pipeline.name)
    return try data.snapshots().reduce(into: [:]) { $0[$1] = try data.generations(of: $1).last }
  }

  /// The digests of the files of each generation that workers have made, by user and by path; the
  /// issued records have the path `issued`.
  func results() async throws -> [String: Set<[String: String]>] {
    var results: [String: Set<[String: String]>] = [:]
    for key in try await keys() where key.contains("/results/") {
      let copy = scratch.file("result-" + RandomBytes.uuid())
      _ = try #require(try await store.get(key, to: copy, limit: .max))
      for snapshot in try JSONValue(parsing: Files.read(copy))["snapshots"]?.array ?? [] {
        guard let user = snapshot["user"]?.string, let issued = snapshot["issued"] else { continue }
        var digests = ["issued": issued["sha256"]?.string ?? ""]
        for file in snapshot["files"]?.array ?? [] {
          digests[file["path"]?.string ?? ""] = file["sha256"]?.string
        }
        results[user, default: []].insert(digests)
      }
    }
    return results
  }

  /// Whether all files of a user's generation are those of one of the results.
  func isOne(
    of results: Set<[String: String]>, _ root: String, _ user: String, _ generation: Int
  ) throws -> Bool {
    let data = DataDirectory(root: root, name: world.pipeline.name)
    return try results.contains { digests in
      try digests.allSatisfy { path, digest in
        let file =
          path == "issued"
          ? data.issued(generation, of: user) : data.generation(generation, of: user) + "/" + path
        return try Files.exists(file) && Digest.sha256Hex(file: file) == digest
      }
    }
  }

  /// The keys of the objects in a directory of the work store.
  func keys(_ prefix: String = "") async throws -> [String] {
    try await store.list("demo/work/" + prefix).map(\.key)
  }
}
