import Foundation
import Testing

@testable import AttacheKit

@Suite(.serialized, .enabled(if: Scene.isThere)) struct InstallationTests {
  struct Stop: Error {}

  /// Stops a call before one of its steps; returns whether it was stopped.
  private func stopping(_ kit: Attache, at step: Int, _ body: () throws -> Void) throws -> Bool {
    var count = 0
    kit.step = { _ in
      defer { count += 1 }
      if count == step { throw Stop() }
    }
    defer { kit.step = { _ in } }
    do { try body() } catch is Stop { return true }
    return false
  }

  @Test func aBundleIsInstalled() throws {
    let scene = try Scene()
    let kit = try scene.installed("one")
    #expect(kit.generation == 1)
    #expect(try !kit.hasChanges())
    #expect(try kit.decide(now: Scene.now).action == .wait)
    let second = try kit.verify(scene.bundle(2))
    #expect(try kit.decide([second], now: Scene.now).action == .install)
    let first = try kit.verify(scene.bundle(1))
    #expect(refusal { try kit.install(first, now: Scene.now) } == .notAllowed)
    let before = try scene.stamps("one")[0]?.install
    try kit.install(second, now: Scene.now)
    #expect(kit.generation == 2)
    #expect(try scene.stamps("one")[0]?.install != before)
    #expect(refusal { try kit.install(first, now: Scene.now) } == .notAllowed)
  }

  @Test func unsentEditsAreReturnedFirst() throws {
    let scene = try Scene()
    let kit = try scene.installed("edited")
    try scene.edit("edited", 0)
    #expect(try kit.hasChanges())
    let second = try kit.verify(scene.bundle(2))
    #expect(try kit.decide([second], now: Scene.now).action == .returnFirst)
    #expect(refusal { try kit.install(second, now: Scene.now) } == .notAllowed)
    #expect(kit.generation == 1)
    #expect(try kit.reasons().map(\.sentence) == ["Not sent."])
  }

  @Test func aStoppedInstallationIsTheOldOrTheNewOne() throws {
    let scene = try Scene()
    var old = 0
    var step = 0
    while true {
      let name = "stop-\(step)"
      let kit = try scene.installed(name)
      let offer = try kit.verify(scene.bundle(2))
      guard try stopping(kit, at: step, { try kit.install(offer, now: Scene.now) }) else { break }
      let again = try scene.kit(name)
      try again.resume()
      if again.generation == 1 { old += 1 }
      let stamps = try scene.stamps(name)
      #expect(stamps[0]?.install == stamps[1]?.install)
      #expect(try !again.hasChanges())
      let decision = try again.decide([again.verify(scene.bundle(2))], now: Scene.now)
      #expect(decision.action == (again.generation == 1 ? .install : .wait))
      step += 1
    }
    // Every step up to the one rename of everything.
    #expect(old == 5)
    #expect(step == 10)
  }

  @Test func aDeltaLeadsToTheBundle() throws {
    let scene = try Scene()
    #expect(refusal { _ = try scene.kit("none").verify(scene.delta) } == .delta)
    let kit = try scene.installed("delta")
    let offer = try kit.verify(scene.delta)
    #expect(try kit.decide([offer], now: Scene.now).action == .delta)
    try kit.install(offer, now: Scene.now)
    #expect(kit.generation == 2)
    #expect(try kit.decide([kit.verify(scene.bundle(2))], now: Scene.now).action == .wait)
    let whole = try scene.installed("whole")
    try whole.install(whole.verify(scene.bundle(2)), now: Scene.now)
    #expect(try scene.content("delta") == scene.content("whole"))
    #expect(refusal { _ = try kit.verify(scene.delta) } == .delta)
    // A row that neither the delta nor its generation has.
    let foreign = try scene.installed("foreign")
    try scene.edit("foreign", 60, isLocal: false)
    let before = try scene.content("foreign")
    let refused = try foreign.verify(scene.delta)
    #expect(refusal { try foreign.install(refused, now: Scene.now) } == .delta)
    #expect(try scene.content("foreign") == before)
  }

  @Test func aStoppedDeltaIsTheOldOrTheNewOne() throws {
    let scene = try Scene()
    let whole = try scene.installed("whole")
    try whole.install(whole.verify(scene.bundle(2)), now: Scene.now)
    let after = try scene.content("whole")
    var step = 0
    while true {
      let name = "half-\(step)"
      let kit = try scene.installed(name)
      let before = try scene.content(name)
      let offer = try kit.verify(scene.delta)
      guard try stopping(kit, at: step, { try kit.install(offer, now: Scene.now) }) else { break }
      #expect(try [before, after].contains(scene.content(name)))
      let again = try scene.kit(name)
      try again.resume()
      #expect(try scene.content(name) == (again.generation == 1 ? before : after))
      step += 1
    }
    #expect(step > 10)
  }

  @Test func returns() throws {
    let scene = try Scene()
    let kit = try scene.installed("return")
    try scene.edit("return", 0)
    let file = scene.work.appendingPathComponent("return.zip")
    let first = try kit.prepareReturn(as: file, now: Scene.now)
    #expect(try scene.stamps("return").map { $0?.handback } == [1, 1])
    let (issued, returned) = (try ZipReader(scene.bundle(1)), try ZipReader(file))
    #expect(returned.entries.map(\.name) == issued.entries.map(\.name))
    #expect(
      try returned.read(returned.entries[0], limit: 1 << 20)
        == issued.read(issued.entries[0], limit: 1 << 20))
    let second = try kit.verify(scene.bundle(2))
    #expect(try kit.decide([second], now: Scene.now).action == .returnFirst)
    try kit.delivered(first)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(try !kit.hasChanges())
    #expect(try kit.decide([second], now: Scene.now).action == .wait)
    // An edit between a return and its arrival is a change.
    let next = try kit.prepareReturn(as: file, now: Scene.now)
    try scene.edit("return", 1)
    try kit.delivered(next)
    #expect(try kit.hasChanges())
    #expect(try kit.decide(now: Scene.now).action == .returnFirst)
  }

  @Test func changesThatTheAppSyncedAfterTheirReturnNeedAnotherOne() throws {
    let scene = try Scene()
    let kit = try scene.installed("synced")
    try scene.edit("synced", 0)
    let file = scene.work.appendingPathComponent("return.zip")
    _ = try kit.prepareReturn(as: file, now: Scene.now)
    try scene.edit("synced", 0, isLocal: false)
    let second = try kit.verify(scene.bundle(2))
    #expect(try kit.decide([second], now: Scene.now).action == .returnFirst)
    try kit.delivered(kit.prepareReturn(as: file, now: Scene.now))
    #expect(try kit.decide([second], now: Scene.now).action == .wait)
  }

  @Test func editsInALogAreReturned() throws {
    let scene = try Scene()
    let kit = try scene.installed("log")
    let open = try SQLiteDatabase(scene.file("log"))
    _ = try open.query("PRAGMA journal_mode = WAL", [])
    try scene.edit("log", 0)
    let file = scene.work.appendingPathComponent("return.zip")
    try withExtendedLifetime(open) {
      try kit.delivered(kit.prepareReturn(as: file, now: Scene.now))
      #expect(try !kit.hasChanges())
    }
  }
}
