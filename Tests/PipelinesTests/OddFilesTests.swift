import JSON
import Pipelines
import Returns
import SQLite
import SmartStore
import System
import Testing

@Suite struct OddFilesTests {
  private static let maker = World.repository + "/Tests/Python/odd_files.py"

  private func python(_ script: String, _ arguments: [String]) throws -> JSONValue {
    let result = try ChildProcess.run("/usr/bin/env", ["python3", script] + arguments)
    let words = String(decoding: result.error, as: UTF8.self).split(separator: "\n").last ?? ""
    #expect(result.status == 0, "\(words)")
    return try JSONValue(parsing: result.output)
  }

  /// The reports of returns by name: those refused and those left in the inbox.
  private func odd(_ world: World) -> [String: String] {
    var told: [String: String] = [:]
    for event in world.told.withLock({ $0 }) {
      switch event {
      case .returnQuarantined(let name, let code, _), .returnLeft(let name, let code, _):
        told[name] = code
      default: break
      }
    }
    return told
  }

  @Test func `odd files in the inbox are named, and valid returns continue`() async throws {
    let seed = Int.random(in: 0..<1 << 32)
    print("odd files: seed \(seed)")
    let world = try World()
    let device = try await world.primed("ada")
    let other = try world.device("ben", .android)
    var stores: [String] = []
    for number in 0..<10 {
      let path = world.directory.file("store\(number)")
      try other.handBack(to: path, now: world.org.now())
      stores.append(path)
    }
    let account = try #require(try world.ids("accounts", on: device).first)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0160"], now: world.org.now())
    let made = try python(
      Self.maker, [world.data.inbox("inbox"), try world.bundle("cleo"), String(seed)] + stores)
    let names = try #require(made.array).compactMap(\.string)
    #expect(names.count >= 45)
    try world.handBack(device, as: "good.db")

    let summary = try await world.run()
    #expect(summary.returns.ingested == 1)
    #expect(summary.verdicts == [.updated: 1])
    #expect(summary.exitStatus == .needsAttention)
    #expect(try world.record("Account", account)["Phone"]?.string == "+1 555 0160")
    let told = odd(world)
    for name in names { #expect(told[name] != nil, "seed \(seed): \(name.debugDescription)") }
    #expect(Set(told.keys) == Set(names), "seed \(seed)")
    #expect(try Files.list(world.data.processing) == [])
    let quarantined = try Files.list(world.data.quarantine).filter { $0.hasSuffix(".reason.json") }

    // No file is ingested twice, and files left in the inbox are reported again.
    let again = try await world.run(.ingest, .reconcile)
    #expect(again.returns.ingested == 0)
    #expect(again.verdicts == [:])
    #expect(again.exitStatus == .needsAttention, "things are left in the inbox")
    #expect(
      try Files.list(world.data.quarantine).filter { $0.hasSuffix(".reason.json") } == quarantined)
  }

  /// Makes an element as long as one with a photograph, which a connection to an untrusted file
  /// does not read whole.
  private func lengthen(_ soup: String, id: String, in path: String) throws {
    let connection = try Connection(path)
    let number = try #require(
      try connection.integer("SELECT id FROM soup_attrs WHERE soupName = \(soup)"))
    try connection.execute(
      """
      UPDATE TABLE_\(number) SET soup = substr(soup, 1, length(soup) - 1) || ',"Photo":"'
        || hex(zeroblob(20000000)) || '"}' WHERE json_extract(soup, '$.Id') = '\(id)'
      """)
    connection.close()
  }

  @Test(arguments: [Platform.ios, .android])
  func
    `a row that is longer than is read stops nobody: a clean one is passed over, a changed one is told`(
      _ platform: Platform
    ) async throws
  {
    let world = try World()
    let device = try await world.primed("ada", platform)
    let ids = try world.ids("accounts", on: device)
    try #require(ids.count >= 3)
    try lengthen("accounts", id: ids[0], in: device.storePath)
    try device.edit("accounts", id: ids[1], ["Phone": "+1 555 0161"], now: world.org.now())
    try world.handBack(device, as: "clean.db", edited: ids[2], ["Phone": "+1 555 0162"])
    let clean = try await world.run(.ingest, .reconcile)
    #expect(clean.verdicts == [.updated: 2])
    #expect(clean.exitStatus == .done)
    try device.edit("accounts", id: ids[1], ["Phone": "+1 555 0163"], now: world.org.now())
    try device.edit("accounts", id: ids[2], ["Phone": "+1 555 0164"], now: world.org.now())
    try lengthen("accounts", id: ids[2], in: device.storePath)
    let changed = try await world.run(device, as: "changed.db", .ingest, .reconcile)
    #expect(changed.verdicts == [.updated: 1, .failed: 1])
    #expect(changed.exitStatus == .needsAttention)
    #expect(try world.record("Account", ids[1])["Phone"]?.string == "+1 555 0163")
    #expect(try world.record("Account", ids[2])["Phone"]?.string == "+1 555 0162")
  }

  /// A world in which ada has edited an account and returned her store as `ada.db`.
  private func handedBack(phone: JSONValue) async throws -> World {
    let world = try World()
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.db", edited: account, ["Phone": phone])
    return world
  }

  @Test func `unreadable issued records degrade the comparison, never refuse`() async throws {
    let world = try await handedBack(phone: "+1 555 0165")
    let issued = world.data.issued(1, of: try world.user("ada").id)
    try DurableFile.write(Array(try Files.read(issued).dropLast(20)), to: issued)
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.returns.ingested == 1)
    #expect(summary.verdicts == [.updated: 1])
    #expect(summary.warnings.contains { $0.hasPrefix("ada.db: ") && $0.contains("compared as") })
  }

  @Test func `a generation's unreadable record is reported once per return`() async throws {
    let world = try await handedBack(phone: "+1 555 0165")
    let record = world.data.generation(1, of: try world.user("ada").id) + "/generation.json"
    try DurableFile.write(Array("{".utf8), to: record)
    let summary = try await world.run(.ingest)
    #expect(summary.returns.ingested == 1)
    let words = "ada.db: its issued records cannot be read"
    #expect(summary.warnings.count { $0.hasPrefix(words) } == 1)
  }

  @Test func `a foreign file in processing is reported and counted`() async throws {
    let world = try await World.primed()
    try Files.makeDirectory(world.data.processing + "/somebody's")
    let summary = try await world.run(.ingest)
    #expect(odd(world) == ["somebody's": "return.unknown"])
    #expect(summary.exitStatus == .needsAttention)
    let status = try PipelineStatus.read(world.pipeline, root: world.root)
    #expect(status.processing == ["somebody's"])
    #expect(status.json["processing"]?.int == 1)
  }

  @Test func `returns taken by an interrupted run are ingested by the next`() async throws {
    let world = try await handedBack(phone: "+1 555 0166")
    let inbox = Inbox(directory: world.data.inbox("inbox"), root: world.data.path, settleSeconds: 0)
    let now = Clock.wallMilliseconds()
    let candidate = try #require(try inbox.candidates(now: now).first)
    _ = try inbox.take(candidate, now: now)
    #expect(try Files.list(inbox.directory) == [])
    let next = try await world.run(.ingest, .reconcile)
    #expect(next.returns.ingested == 1)
    #expect(next.verdicts == [.updated: 1])
    #expect(try Files.list(world.data.processing) == [])
    #expect(try await world.run(.ingest, .reconcile).returns.ingested == 0)
  }

  @Test func `a file that may still be written waits for a run without a finding`() async throws {
    let world = try World { $0.replacing("\"settleSeconds\": 0", with: "\"settleSeconds\": 600") }
    let (device, account) = try await world.primed("ada", first: "accounts")
    try world.handBack(device, as: "ada.db", edited: account, ["Phone": "+1 555 0167"])
    let path = world.data.inbox("inbox") + "/ada.db"
    let first = try await world.run(.ingest, .reconcile)
    #expect(first.returns.ingested == 0)
    #expect(first.exitStatus == .done)
    #expect(Files.exists(path))
    try Files.setModificationTime(
      of: path, nanoseconds: (Clock.wallMilliseconds() - 601_000) * 1_000_000)
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
  }
}
