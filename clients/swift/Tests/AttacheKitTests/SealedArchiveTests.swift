import Foundation
import Testing

@testable import AttacheKit

@Suite struct SealedArchiveFormatTests {
  private let passphrase = Data(0..<32).base64EncodedString()
  private let bytes: Data = {
    // Computed with Python's cryptography package.
    let text =
      "4154545345414c31202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
      + "5d5f22bebeb1392586db3370a5dedd9b31ba4d0780148dc392a505b685d33fd1716369af58f5e6"
    var rest = Substring(text)
    var bytes = Data()
    while let byte = UInt8(rest.prefix(2), radix: 16) {
      bytes.append(byte)
      rest = rest.dropFirst(2)
    }
    return bytes
  }()

  private func opened(_ bytes: Data, _ passphrase: String?) throws -> Data {
    var content = Data()
    var archive = try SealedArchive(passphrase: passphrase) { content.append($0) }
    for byte in bytes { try archive.update(Data([byte])) }
    try archive.finish()
    return content
  }

  @Test func theBytesOfAnotherImplementationAreOpened() throws {
    #expect(try opened(bytes, passphrase) == Data("attache".utf8))
  }

  @Test func everyCutAndEveryChangedByteIsRefused() throws {
    for place in bytes.indices {
      #expect(refusal { _ = try opened(bytes.prefix(place), passphrase) } == .contents)
      var changed = bytes
      changed[place] ^= 1
      #expect(refusal { _ = try opened(changed, passphrase) } != nil, "byte \(place)")
    }
    #expect(refusal { _ = try opened(bytes + [0], passphrase) } == .contents)
  }

  @Test func anotherPassphraseIsRefused() {
    for other in [nil, "text", Data(1..<33).base64EncodedString()] {
      #expect(refusal { _ = try opened(bytes, other) } == .seal)
    }
  }
}

@Suite(.serialized, .enabled(if: Scene.isThere)) struct SealedArchiveTests {
  @Test func aBundleAndADeltaAreInstalledWithThePassphrase() throws {
    let scene = try Scene()
    _ = try scene.installed("plain")
    let kit = try scene.kit("sealed", passphrase: Scene.passphrase)
    try kit.install(kit.verify(scene.sealed("1")), now: Scene.now)
    #expect(try scene.content("sealed") == scene.content("plain"))
    try kit.install(kit.verify(scene.sealed("1-2")), now: Scene.now)
    let plain = try scene.kit("plain")
    try plain.install(plain.verify(scene.bundle(2)), now: Scene.now)
    #expect(try scene.content("sealed") == scene.content("plain"))
    let names = try FileManager.default.contentsOfDirectory(atPath: scene.place.path)
    #expect(!names.contains { $0.hasSuffix(".opened") })
  }

  @Test func withoutThePassphraseNothingIsOpened() throws {
    let scene = try Scene()
    for passphrase in [nil, "text", Data(0..<32).base64EncodedString()] {
      let kit = try scene.kit("locked", passphrase: passphrase)
      #expect(refusal { _ = try kit.verify(scene.sealed("1")) } == .seal)
    }
  }

  @Test func damagedSealedArchivesAreRefused() throws {
    let scene = try Scene()
    let kit = try scene.kit("damaged", passphrase: Scene.passphrase)
    let whole = try Data(contentsOf: scene.sealed("1"))
    let copy = scene.work.appendingPathComponent("damaged.zip")
    try FileManager.default.copyItem(
      atPath: scene.sealed("1").path + ".sig", toPath: copy.path + ".sig")
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
