import Foundation
import Snapshots
import SmartStore
import System
import Testing

@Suite struct RefusedByHeaderTests {
  @Test func `huge sparse files are refused by their headers, without a copy`() async throws {
    let world = try World()
    let device = try await world.primed("ada")
    let store = try Files.read(device.storePath)
    let inbox = world.data.inbox("inbox")
    let heads: [(name: String, bytes: [UInt8])] = [
      ("zeros", []), ("text", Array("no store".utf8)), ("head", Array(store[..<100])),
      ("store", store),
    ]
    for (name, bytes) in heads {
      let path = inbox + "/\(name).db"
      try DurableFile.write(bytes, to: path)
      let file = try #require(FileHandle(forWritingAtPath: path))
      try file.truncate(atOffset: 3 << 30)
      try file.close()
    }
    let summary = try await world.run(.ingest)
    #expect(summary.returns.left == heads.count && summary.returns.quarantined == 0)
    #expect(summary.exitStatus == .needsAttention)
    let codes = world.told.withLock { $0 }.compactMap {
      if case .returnLeft(let name, let code, _) = $0 { name + " " + code } else { nil }
    }
    #expect(
      codes.sorted() == [
        "head.db return.damaged", "store.db return.damaged", "text.db return.not-a-database",
        "zeros.db return.not-a-database",
      ])
    for (name, _) in heads { #expect(Files.exists(inbox + "/\(name).db")) }
    // A small file is quarantined with its reason, as before.
    try DurableFile.write(Array("no store".utf8), to: inbox + "/small.db")
    for (name, _) in heads { try Files.remove(inbox + "/\(name).db") }
    #expect(try await world.run(.ingest).returns.quarantined == 1)
  }

  @Test func `a store with another user's stamp is refused with both names`() async throws {
    let world = try await World.primed()
    let (ada, ben) = (try world.device("ada"), try world.device("ben"))
    let id = try #require(try world.ids("accounts", on: ada).first)
    try ada.edit("accounts", id: id, ["Phone": "device"], now: world.org.now())
    let (one, other) = (try Store(opening: ada.storePath), try Store(opening: ben.storePath))
    guard case .stamp(let stamp) = try Provenance.read(from: other) else {
      Issue.record("no stamp")
      return
    }
    try stamp.write(into: one)
    for store in [one, other] { try store.close() }
    let summary = try await world.run(ada, as: "ada.sqlite", .ingest, .reconcile)
    #expect(summary.returns.quarantined == 1 && summary.edits.found == 0)
    let reasons = world.told.withLock { $0 }.compactMap {
      if case .returnQuarantined(_, let code, let reason) = $0 { code + ": " + reason } else { nil }
    }
    let reason = try #require(reasons.first)
    #expect(reason.hasPrefix("return.contradiction: ada.sqlite has the stamp of the user"))
    for name in ["ada", "ben"] { #expect(reason.contains(try world.user(name).id)) }
    // Each user's own store is accepted.
    #expect(try await world.run(ben, as: "ben.sqlite", .ingest).returns.ingested == 1)
  }
}
