import Foundation
import Testing

@testable import AttacheKit

@Suite(.serialized, .enabled(if: Scene.isThere)) struct BundleTests {
  private func manifest(_ scene: Scene) throws -> Data {
    let reader = try ZipReader(scene.bundle(1))
    return try reader.read(reader.entries[0], limit: 1 << 20)
  }

  @Test func manifestsOfOthersAreRefused() throws {
    let scene = try Scene()
    let facts = try JSONSerialization.jsonObject(with: manifest(scene)) as? [String: Any]
    for one in try Table.read().refusals {
      var members = try #require(facts)
      for (name, value) in one.change { members[name] = value.any }
      let changed = try JSON.decoder().decode(
        Manifest.self, from: JSONSerialization.data(withJSONObject: members))
      #expect(refusal { try scene.owner.check(changed) }?.rawValue == one.code, "\(one.name)")
    }
  }

  @Test func signatures() throws {
    let scene = try Scene()
    let document = try manifest(scene)
    let signature = try Data(contentsOf: URL(fileURLWithPath: scene.bundle(1).path + ".sig"))
    let trust = try Trust(keys: [scene.keys[0]])
    try trust.verify(document, signature: signature)
    try Trust(keys: scene.keys.reversed()).verify(document, signature: signature)
    try Trust(keys: [scene.keys[1]]).verify(
      Data(contentsOf: scene.place.appendingPathComponent("document")),
      signature: Data(contentsOf: scene.place.appendingPathComponent("document.sig")))
    #expect(
      refusal { try Trust(keys: [scene.keys[1]]).verify(document, signature: signature) } == .key)
    let other = try Trust(keys: [scene.keys[0]], namespace: "other")
    #expect(refusal { try other.verify(document, signature: signature) } == .namespace)
    #expect(refusal { _ = try Trust(keys: ["ssh-rsa AAAA"]) } == .key)
  }

  @Test func everyByteOfTheDocumentsAndTheSignaturesCounts() throws {
    let scene = try Scene()
    let trust = try Trust(keys: [scene.keys[0]])
    for archive in [scene.bundle(1), scene.delta] {
      let reader = try ZipReader(archive)
      let document = try reader.read(reader.entries[0], limit: 1 << 20)
      let signature = try Data(contentsOf: URL(fileURLWithPath: archive.path + ".sig"))
      try trust.verify(document, signature: signature)
      for place in document.indices {
        var changed = document
        changed[place] ^= 1 << (place % 8)
        #expect(refusal { try trust.verify(changed, signature: signature) } == .signature)
      }
      for place in signature.indices {
        var changed = signature
        changed[place] ^= 1 << (place % 8)
        #expect(refusal { try trust.verify(document, signature: changed) } != nil, "byte \(place)")
        let start = signature.prefix(place)
        #expect(refusal { try trust.verify(document, signature: start) } == .signature)
      }
    }
  }

  @Test func archives() throws {
    let scene = try Scene()
    let kit = try scene.kit("archives")
    let bundle = scene.bundle(1)
    #expect(try kit.verify(bundle).manifest.generation == 1)
    #expect(refusal { _ = try kit.verify(scene.bundle(1, "android")) } == .platform)
    let none = scene.work.appendingPathComponent("none")
    #expect(refusal { _ = try kit.verify(bundle, signature: none) } == .signature)
    let others = URL(fileURLWithPath: scene.bundle(2).path + ".sig")
    #expect(refusal { _ = try kit.verify(bundle, signature: others) } == .signature)
    let less = try scene.rewritten(bundle, "less.zip", scene.userStore, nil)
    #expect(refusal { _ = try kit.verify(less) } == .contents)
    let more = try scene.rewritten(bundle, "more.zip", "../more", Data([0]))
    #expect(refusal { _ = try kit.verify(more) } == .contents)
    let reader = try ZipReader(bundle)
    var store = try reader.read(reader.entries[1], limit: 1 << 30)
    store[5000] ^= 1
    let changed = try scene.rewritten(bundle, "changed.zip", scene.userStore, store)
    #expect(refusal { _ = try kit.verify(changed) } == .contents)
    let noise = scene.work.appendingPathComponent("noise")
    try Data(count: 100).write(to: noise)
    #expect(refusal { _ = try kit.verify(noise) } == .archive)
  }

  @Test func damagedArchivesAreRefused() throws {
    let scene = try Scene()
    let kit = try scene.kit("damaged")
    let whole = try Data(contentsOf: scene.bundle(1))
    let copy = scene.work.appendingPathComponent("damaged.zip")
    try FileManager.default.copyItem(
      atPath: scene.bundle(1).path + ".sig", toPath: copy.path + ".sig")
    for place in stride(from: 0, to: whole.count, by: 997) {
      try whole.prefix(place).write(to: copy)
      #expect(refusal { _ = try kit.verify(copy) } == .archive)
      var changed = whole
      changed[place] ^= 0xFF
      try changed.write(to: copy)
      // A byte of a date or of an attribute has no meaning here.
      if let offer = try? kit.verify(copy) { #expect(offer.manifest.generation == 1) }
    }
  }
}
