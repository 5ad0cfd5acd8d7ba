import Foundation
import Testing

@testable import AttacheKit

/// What an app does otherwise than it should, and what happens on a phone.
@Suite(.serialized, .enabled(if: Scene.isThere)) struct StrangerTests {
  struct Stop: Error {}

  @Test func anEditDuringTheInstallationStays() throws {
    let scene = try Scene()
    let kit = try scene.installed("during")
    let offer = try kit.verify(scene.bundle(2))
    // Before the stores are closed, and while they are.
    kit.step = { if $0 == "extract 1" { try scene.edit("during", 0) } }
    #expect(refusal { try kit.install(offer, now: Scene.now) } == .notAllowed)
    kit.step = { _ in }
    #expect(kit.generation == 1)
    #expect(try kit.hasChanges())
    let other = try scene.installed("closing")
    #expect(
      refusal { try other.install(offer, now: Scene.now) { try scene.edit("closing", 0) } }
        == .notAllowed)
    #expect(other.generation == 1)
    #expect(try other.decide([offer], now: Scene.now).action == .returnFirst)
  }

  @Test func storesThatCannotBeClosedAreNotReplacedLater() throws {
    let scene = try Scene()
    let kit = try scene.installed("open")
    let offer = try kit.verify(scene.bundle(2))
    #expect(throws: Stop.self) { try kit.install(offer, now: Scene.now) { throw Stop() } }
    try scene.edit("open", 0)
    try kit.resume()
    #expect(kit.generation == 1)
    #expect(try kit.decide([offer], now: Scene.now).action == .returnFirst)
  }

  @Test func anAppThatForgetsToResumeKeepsItsEdits() throws {
    let scene = try Scene()
    for offer in [scene.bundle(2), scene.delta] {
      let name = offer.deletingPathExtension().lastPathComponent
      let kit = try scene.installed(name)
      kit.step = { if $0 == "commit" { throw Stop() } }
      let verified = try kit.verify(offer)
      #expect(throws: Stop.self) { try kit.install(verified, now: Scene.now) }
      let home = scene.work.appendingPathComponent(
        "\(name)/.attache/visits/\(scene.owner.user)")
      // As if it had been stopped after the directory was renamed.
      try FileManager.default.moveItem(
        at: home.appendingPathComponent("staging"), to: home.appendingPathComponent("ready"))
      try scene.edit(name, 0)
      let again = try scene.kit(name)
      let second = try again.verify(scene.bundle(2))
      #expect(try again.decide([second], now: Scene.now).action == .returnFirst)
      #expect(again.generation == 1)
    }
  }

  @Test func storesThatTheAppRemovesInClosingAreReplaced() throws {
    let scene = try Scene()
    let kit = try scene.installed("removed")
    let offer = try kit.verify(scene.bundle(2))
    try kit.install(offer, now: Scene.now) {
      try FileManager.default.removeItem(at: scene.file("removed"))
    }
    #expect(kit.generation == 2)
  }

  @Test func twoInstallationsAtOnceFollowEachOther() throws {
    let scene = try Scene()
    let offers = try (0..<8).map { number in
      let kit = try scene.kit("both")
      return (kit, try kit.verify(scene.bundle(1 + number % 2)))
    }
    DispatchQueue.concurrentPerform(iterations: offers.count) { index in
      let (kit, offer) = offers[index]
      let code = refusal { try kit.install(offer, now: Scene.now) }
      #expect(code == nil || code == .notAllowed)
    }
    let kit = try scene.kit("both")
    #expect(kit.generation == 2)
    #expect(try kit.decide([kit.verify(scene.bundle(2))], now: Scene.now).action == .wait)
    let stamps = try scene.stamps("both")
    #expect(stamps[0]?.install == stamps[1]?.install)
  }

  @Test func aFileThatIsDownloadedAgainMeanwhileIsRefused() throws {
    let scene = try Scene()
    let kit = try scene.installed("again")
    let copy = scene.work.appendingPathComponent("again.zip")
    let second = scene.bundle(2)
    try Data(contentsOf: second).write(to: copy)
    let signature = URL(fileURLWithPath: second.path + ".sig")
    let offer = try kit.verify(copy, signature: signature)
    for content in [Data(), try Data(contentsOf: second).prefix(4000)] {
      try content.write(to: copy)
      #expect(refusal { try kit.install(offer, now: Scene.now) } == .archive)
      #expect(kit.generation == 1)
    }
    // Half of it has arrived.
    #expect(refusal { _ = try kit.verify(copy, signature: signature) } == .archive)
  }

  @Test func oddNamesAreTaken() throws {
    let scene = try Scene()
    let long = String(repeating: "n", count: 200)
    let names = ["a b", "ü'\"#%?", "日本", "-x", "zip.sig.zip", long]
    for name in names {
      let folder = scene.work.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      let bundle = folder.appendingPathComponent(name)
      try FileManager.default.copyItem(at: scene.bundle(1), to: bundle)
      try FileManager.default.copyItem(
        atPath: scene.bundle(1).path + ".sig", toPath: bundle.path + ".sig")
      let kit = try scene.kit(name)
      try kit.install(kit.verify(bundle), now: Scene.now)
      try scene.edit(name, 0)
      let returned = try kit.prepareReturn(
        as: folder.appendingPathComponent("return " + name.prefix(9)), now: Scene.now)
      #expect(try ZipReader(returned.file).entries.count == 3)
      try kit.delivered(returned)
      #expect(try !kit.hasChanges())
    }
  }

  @Test func aReturnOfAnotherInstallationIsNotDelivered() throws {
    let scene = try Scene()
    let kit = try scene.installed("late")
    let file = scene.work.appendingPathComponent("late.zip")
    let early = try kit.prepareReturn(as: file, now: Scene.now)
    try kit.install(kit.verify(scene.bundle(2)), now: Scene.now)
    try scene.edit("late", 0)
    _ = try kit.prepareReturn(as: scene.work.appendingPathComponent("next.zip"), now: Scene.now)
    try kit.delivered(early)
    #expect(!FileManager.default.fileExists(atPath: file.path))
    #expect(try kit.hasChanges())
    #expect(try kit.decide(now: Scene.now).action == .returnFirst)
  }

  @Test func aClockThatWasSetBackDelaysNothing() throws {
    let scene = try Scene()
    let kit = try scene.installed("clock")
    try scene.edit("clock", 0)
    let file = scene.work.appendingPathComponent("clock.zip")
    let ahead = Scene.now.addingTimeInterval(400 * 86_400)
    try kit.delivered(kit.prepareReturn(as: file, now: ahead))
    let second = try kit.verify(scene.bundle(2))
    #expect(try kit.decide([second], now: ahead).action == .wait)
    #expect(try kit.decide([second], now: Scene.now).action == .returnFirst)
    try kit.delivered(kit.prepareReturn(as: file, now: Scene.now))
    #expect(try kit.decide([second], now: Scene.now).action == .wait)
  }
}
