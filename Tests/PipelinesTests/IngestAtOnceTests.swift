import Pipelines
import Rehearsal
import SQLite
import System
import TestSupport
import Testing

@Suite struct IngestAtOnceTests {
  @Test(arguments: 0..<3)
  func `ledger, files and messages are as with one return at a time`(_ round: Int) async throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    print("returns at once, \(round): seed \(seed)")
    var dice = HistoryRandom(seed)
    let world = try await World.primed()
    var scene = try InboxScene(world)
    // Some arrived before: the outcomes of their rows are looked up in the later ones.
    try scene.fill(4, &dice)
    try await world.run(.ingest)
    try scene.fill(14, &dice)
    let before = world.directory.file("before")
    try Tree.copy(world.root, to: before)
    var plays: [(remains: [String], told: [String])] = []
    for jobs in [1, 4, 2] {
      try Tree.copy(before, to: world.root)
      plays.append(try await play(world, jobs: jobs))
    }
    for play in plays.dropFirst() {
      #expect(play.told == plays[0].told, "seed \(seed)")
      #expect(play.remains.difference(from: plays[0].remains).map { "\($0)" } == [], "seed \(seed)")
    }
    #expect(plays[0].told.contains { $0.contains("ingested") }, "seed \(seed)")
  }

  private func play(_ world: World, jobs: Int) async throws -> (remains: [String], told: [String]) {
    var pipeline = world.pipeline
    pipeline.limits.jobs = jobs
    let told = Locked<[String]>([])
    var options = RunOptions()
    options.stages = [.ingest]
    _ = try await PipelineRun.execute(
      pipeline, root: world.root, variables: world.variables, options: options
    ) { event in
      switch event {
      case .returnIngested(let name, _, _, let edits, let new, _):
        told.withLock { $0.append("\(name): ingested, \(edits) edits, \(new) new") }
      case .returnKnown(let name, _): told.withLock { $0.append("\(name): known") }
      case .returnQuarantined(let name, let code, let reason),
        .returnLeft(let name, let code, let reason):
        told.withLock { $0.append("\(name): \(code), \(reason)") }
      case .warning(let words): told.withLock { $0.append(words) }
      default: break
      }
    }
    var remains = try LedgerOrder.lines(world.data.state)
    for place in [
      world.data.inbox("inbox"), world.data.processing, world.data.done, world.data.quarantine,
    ] { remains += try Tree.files(place).filter { !$0.hasSuffix(".reason.json") } }
    return (remains, told.withLock { $0 })
  }
}

private struct InboxScene {
  private let world: World
  private var devices: [Device]
  private let accounts: [String]
  private var number = 0
  private var locals = 0
  /// The returns so far.
  private var handed: [String] = []
  init(_ world: World) throws {
    self.world = world
    devices = [
      try world.device("ada"), try world.device("ada", as: "ada's other"),
      try world.device("ben", .android), try world.device("cleo"),
    ]
    accounts = try world.ids("accounts", on: devices[0])
  }

  /// Puts a number of files into the inbox, under names that do not reflect their order.
  mutating func fill(_ count: Int, _ dice: inout HistoryRandom) throws {
    for _ in 0..<count {
      number += 1
      let name = "\(dice.below(1000))-\(number).db"
      let path = world.data.inbox("inbox") + "/" + name
      switch dice.below(12) {
      case 0: try DurableFile.write(Array("no store, \(dice.below(3))".utf8), to: path)
      case 1 where !handed.isEmpty: try Files.copy(handed[dice.below(handed.count)], to: path)
      case 2 where !handed.isEmpty:
        // A device's file with a page that was lost on disk.
        var bytes = try Files.read(handed[dice.below(handed.count)])
        let start = 4096 * (1 + dice.below(bytes.count / 4096 - 1))
        for place in start..<start + 4096 { bytes[place] = 0xFF }
        try DurableFile.write(bytes, to: path)
      default: try handBack(dice.below(devices.count), as: name, &dice)
      }
    }
  }

  private mutating func handBack(_ index: Int, as name: String, _ dice: inout HistoryRandom) throws
  {
    let device = devices[index]
    for _ in 0..<dice.below(4) {
      let now = world.org.now() + Int64(dice.below(3_600_000))
      let soup = dice.below(2) == 0 ? "accounts" : "contacts"
      let ids = try world.ids(soup, on: device).filter { !$0.hasPrefix("local_") }
      let id = ids[dice.below(min(ids.count, 4))]
      switch dice.below(5) {
      case 0: try device.clean(soup, id: id, now: now)
      case 1:
        locals += 1
        try device.create(
          "accounts", type: "Account", ["Name": .string("Account \(locals)")],
          localID: "local_\(index)_\(locals)", now: now)
      default:
        let member = soup == "accounts" ? "Phone" : "Title"
        try device.edit(soup, id: id, [member: .string("+1 555 \(dice.below(5))")], now: now)
      }
    }
    try world.handBack(device, as: name)
    let kept = world.directory.file("handed-\(number)")
    try Files.copy(world.data.inbox("inbox") + "/" + name, to: kept)
    handed.append(kept)
  }
}

/// The rows of a ledger with their IDs, so that their order counts, without runs and wall-clock
/// times.
private enum LedgerOrder {
  static func lines(_ path: String) throws -> [String] {
    let connection = try Connection(path, mode: .readWrite)
    defer { connection.close() }
    var lines: [String] = []
    for table in try connection.texts(
      """
      SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
        AND name NOT IN ('run', 'meta', 'stage', 'cost') ORDER BY name
      """)
    {
      let columns = try connection.texts("SELECT name FROM pragma_table_info(\(table))").filter {
        !$0.contains("run") && !$0.hasSuffix("_by") && $0 != "arrived_ms"
      }
      var rows: [String] = []
      let list = columns.map { SQL.quoted(name: $0) }.joined(separator: ", ")
      try connection.rows("SELECT \(raw: list) FROM \(name: table)") {
        rows.append(table + ": " + RowText.text($0).replacing(/"arrived":"[^"]*",/, with: ""))
      }
      lines += rows.sorted()
    }
    return lines
  }
}
