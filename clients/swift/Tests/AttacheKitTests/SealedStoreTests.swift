import Foundation
import Testing

@testable import AttacheKit

/// Bundles of sealed stores, and stores under the device's own key, over SQLCipher.
@Suite(.serialized, .enabled(if: Scene.isThere && Scene.hasCipher)) struct SealedStoreTests {
  private let scene: Scene
  private let deviceKey = "the device's own key"

  init() throws { scene = try Scene() }

  private func open(_ file: URL, _ key: String?) throws -> CipherDatabase {
    try CipherDatabase(file, command: scene.cipher, key: key)
  }

  /// A kit whose app encrypts each store under the device's key, or keeps the passphrase.
  private func kit(_ name: String, exports: Bool, own: String? = nil) throws -> Attache {
    func key(_ form: StoreForm) -> String? {
      switch form {
      case .plain: nil
      case .sealed: Scene.passphrase
      case .device: own ?? (exports ? deviceKey : Scene.passphrase)
      }
    }
    let export = { (store: URL, copy: URL) in
      let header = try FileHandle(forReadingFrom: store).read(upToCount: 6)
      let isPlain = header == Data("SQLite".utf8)
      let database = try open(store, isPlain ? nil : Scene.passphrase)
      try database.execute(
        "ATTACH DATABASE ? AS encrypted KEY \(Store.quoted(deviceKey))", [copy.path])
      _ = try database.query("PRAGMA encrypted.kdf_iter = 4000", [])
      _ = try database.query("SELECT sqlcipher_export('encrypted')", [])
      _ = try database.query("PRAGMA encrypted.user_version = 3", [])
      try database.execute("DETACH DATABASE encrypted", [])
    }
    return Attache(
      root: scene.work.appendingPathComponent(name), owner: scene.owner,
      trust: try Trust(keys: scene.keys), passphrase: Scene.passphrase,
      open: { file, form in try open(file, key(form)) }, encrypt: exports ? export : nil)
  }

  private func file(_ name: String) -> URL { scene.place.appendingPathComponent("ios.\(name)") }

  private func isEncrypted(_ name: String) throws -> Bool {
    let header = try FileHandle(forReadingFrom: scene.file(name)).read(upToCount: 6)
    return header != Data("SQLite".utf8)
  }

  private func content(_ name: String, _ key: String) throws -> String {
    try Scene.content(open(scene.file(name), key))
  }

  private func plain(_ generation: Int) throws -> String {
    let kit = try scene.kit("plain-\(generation)")
    try kit.install(kit.verify(scene.bundle(generation)), now: Scene.now)
    return try scene.content("plain-\(generation)")
  }

  @Test func sealedStoresAreExportedUnderTheDevicesKey() throws {
    let kit = try kit("exported", exports: true)
    try kit.install(kit.verify(file("1.sqlcipher.zip")), now: Scene.now)
    #expect(kit.generation == 1)
    #expect(try isEncrypted("exported"))
    #expect(try content("exported", deviceKey) == plain(1))
    #expect(throws: Refusal.self) { try content("exported", Scene.passphrase) }
    try kit.install(kit.verify(file("1-2.sqlcipher.zip")), now: Scene.now)
    #expect(kit.generation == 2)
    #expect(try content("exported", deviceKey) == plain(2))
  }

  @Test func plainStoresAreExportedUnderTheDevicesKey() throws {
    let kit = try kit("own", exports: true)
    try kit.install(kit.verify(scene.bundle(1)), now: Scene.now)
    #expect(try isEncrypted("own"))
    #expect(try content("own", deviceKey) == plain(1))
    try kit.install(kit.verify(scene.delta), now: Scene.now)
    #expect(try content("own", deviceKey) == plain(2))
    try Scene.edit(open(scene.file("own"), deviceKey), 0)
    let returned = try kit.prepareReturn(
      as: scene.work.appendingPathComponent("own.zip"), now: Scene.now)
    let reader = try ZipReader(returned.file)
    let store = try reader.read(reader.entries[1], limit: 1 << 30)
    #expect(store.starts(with: Data("SQLite format 3".utf8)))
  }

  @Test func aStoreThatKeepsThePassphraseIsRekeyedLater() throws {
    let first = try kit("kept", exports: false)
    try first.install(first.verify(file("1.sqlcipher.zip")), now: Scene.now)
    #expect(try content("kept", Scene.passphrase) == plain(1))
    for path in [scene.userStore, Scene.globalStore] {
      _ = try open(scene.file("kept", path), Scene.passphrase).query("PRAGMA rekey = 'other'", [])
    }
    let kit = try kit("kept", exports: false, own: "other")
    try kit.install(kit.verify(file("1-2.sqlcipher.zip")), now: Scene.now)
    #expect(try content("kept", "other") == plain(2))
  }

  @Test func returnsAreSealedWithThePassphrase() throws {
    let kit = try kit("returned", exports: true)
    try kit.install(kit.verify(file("1.sqlcipher.zip")), now: Scene.now)
    try Scene.edit(open(scene.file("returned"), deviceKey), 0)
    #expect(try kit.reasons().map(\.sentence) == ["Not sent."])
    let returned = try kit.prepareReturn(
      as: scene.work.appendingPathComponent("sealed.zip"), now: Scene.now)
    let reader = try ZipReader(returned.file)
    let copy = scene.work.appendingPathComponent("copy")
    try reader.read(reader.entries[1], limit: 1 << 30).write(to: copy)
    #expect(
      try Scene.content(open(copy, Scene.passphrase)) == content("returned", deviceKey))
    try kit.delivered(returned)
    #expect(try !kit.hasChanges())
    let second = try kit.verify(file("2.sqlcipher.zip"))
    #expect(try kit.decide([second], now: Scene.now).action == .wait)
  }

  @Test func withAnotherPassphraseNothingIsInstalled() throws {
    let kit = Attache(
      root: scene.work.appendingPathComponent("locked"), owner: scene.owner,
      trust: try Trust(keys: scene.keys), passphrase: "other",
      open: { file, form in try open(file, form == .plain ? nil : "other") })
    let offer = try kit.verify(file("1.sqlcipher.zip"))
    #expect(throws: Refusal.self) { try kit.install(offer, now: Scene.now) }
    #expect(kit.generation == nil)
  }
}
