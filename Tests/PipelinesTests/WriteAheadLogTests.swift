import SQLite
import SmartStore
import System
import Testing

@Suite struct WriteAheadLogTests {
  @Test(arguments: [Platform.ios, .android])
  func `an edit only in the log of a returned store is sent`(_ platform: Platform) async throws {
    let world = try World()
    let device = try await world.primed("ada", platform)
    let account = try #require(try world.ids("accounts", on: device).last)
    let inbox = world.data.inbox("inbox") + "/ada.db"
    try withOpenLog(device.storePath) {
      let untouched = try Files.read(device.storePath)
      try device.edit("accounts", id: account, ["Phone": "+1 555 0177"], now: world.org.now())
      // The edit is only in the log: the main file is unchanged.
      #expect(try Files.read(device.storePath) == untouched)
      #expect(try Tree.contains("+1 555 0177", in: device.storePath + "-wal"))
      // Copied while the app has it open, the log first, like a file that has been unchanged for a
      // while.
      try Files.copy(device.storePath + "-wal", to: inbox + "-wal")
      try Files.copy(device.storePath, to: inbox)
    }
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.returns.ingested == 1)
    #expect(summary.edits.found == 1)
    #expect(summary.verdicts == [.updated: 1])
    #expect(try world.record("Account", account)["Phone"]?.string == "+1 555 0177")
    #expect(try Tree.files(world.data.inbox("inbox")) == [])
  }

  @Test(arguments: ["flipped", "cut", "emptied"])
  func `a log damaged in transit is quarantined with its store`(_ harm: String) async throws {
    let world = try World()
    let device = try await world.primed("ada")
    let account = try #require(try world.ids("accounts", on: device).last)
    let inbox = world.data.inbox("inbox") + "/ada.db"
    try withOpenLog(device.storePath) {
      try device.edit("accounts", id: account, ["Phone": "+1 555 0178"], now: world.org.now())
      var log = try Files.read(device.storePath + "-wal")
      switch harm {
      case "flipped": log[25] ^= 4
      case "cut": log.removeLast(100)
      default: log.replaceSubrange(32..., with: repeatElement(0, count: log.count - 32))
      }
      try DurableFile.write(log, to: inbox + "-wal")
      try Files.copy(device.storePath, to: inbox)
    }
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.returns.quarantined == 1 && summary.returns.ingested == 0)
    #expect(summary.exitStatus == .needsAttention)
    let told = world.told.withLock { $0 }.contains {
      if case .returnQuarantined("ada.db", "return.log", _) = $0 { true } else { false }
    }
    #expect(told)
    let kept = try Tree.files(world.data.quarantine)
    #expect(kept.contains { $0.hasSuffix("/ada.db-wal") }, "the log is kept for review")
  }

  /// Runs `body` while a connection in WAL mode prevents a checkpoint.
  private func withOpenLog(_ path: String, _ body: () throws -> Void) throws {
    let app = try Connection(path)
    try app.execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0")
    try app.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    try app.execute("BEGIN; SELECT count(*) FROM sqlite_schema")
    try body()
    try app.execute("COMMIT")
    withExtendedLifetime(app) {}
  }
}
