import Archive
import Bundles
import Crypto
import JSON
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

/// The archive of a delta, and its application to installed stores.
@Suite struct DeltaArchiveTests {
  let directory = TemporaryDirectory("delta-archive")
  static let passphrase = "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ="

  private func key() throws -> SQLCipherKey {
    try SQLCipherKey(passphrase: Secret(Self.passphrase))
  }

  /// Two generations and the delta between them.
  private func issue(
    _ platform: Platform = .ios, stores: Int = 3, isSealed: Bool = false,
    change: (inout Manifest) -> Void = { _ in }
  ) throws -> (scene: DeltaScene, old: Manifest, new: Manifest, delta: String) {
    let scene = try DeltaScene(platform, seed: 7, stores: stores)
    var (old, new) = (try scene.generation(3), try scene.generation(4))
    change(&new)
    if isSealed {
      old.seal = .init(method: "sqlcipher", kdfIterations: 4000)
      new.seal = old.seal
    }
    let key = try key()
    let seal: DeltaWriter.Sealing = { plain, target, _, _ in
      Hex.encode(try SQLCipherFile.seal(plain, to: target, key: key).salt)
    }
    let delta = directory.file("\(platform.rawValue).delta.3-4.zip")
    let outcome = try DeltaWriter.write(
      from: scene.side(old), to: scene.side(new), as: delta, modified: new.created,
      seal: isSealed ? seal : nil)
    #expect(try outcome == .written(Files.size(of: delta)))
    return (scene, old, new, delta)
  }

  /// The stores of a generation as a device has them: the directory with all of them.
  private func device(
    _ scene: DeltaScene, _ manifest: Manifest, isSealed: Bool = false
  ) throws -> String {
    let root = directory.file("device")
    try Files.remove(root)
    for store in manifest.stores {
      let target = root + "/" + store.path
      try Files.makeDirectory(Files.parent(of: target) ?? "/")
      let plain = scene.file(manifest.generation, store.path)
      if isSealed {
        try SQLCipherFile.seal(plain, to: target, key: key())
      } else {
        try Files.copy(plain, to: target)
      }
    }
    return root
  }

  private func expect(
    _ device: String, _ scene: DeltaScene, _ manifest: Manifest, isSealed: Bool = false
  ) throws {
    for store in manifest.stores {
      var file = device + "/" + store.path
      if isSealed {
        try SQLCipherFile.unseal(file, to: file + ".plain", key: key())
        file += ".plain"
      }
      #expect(
        try DeltaScene.content(file)
          == DeltaScene.content(scene.file(manifest.generation, store.path)))
      #expect(try DeltaScene.faults(file) == [])
    }
  }

  /// The installation marks of a device's stores.
  private func installs(_ device: String, _ manifest: Manifest) throws -> Set<String?> {
    Set(
      try manifest.stores.map { store in
        let open = try Store(opening: device + "/" + store.path)
        guard case .stamp(let stamp) = try Provenance.read(from: open) else { return nil }
        return stamp.install
      })
  }

  /// Adds a new record to a store that was returned afterwards, or some milliseconds before.
  private func edit(_ path: String, in soup: String = "cases", before: Int64 = 0) throws {
    let store = try Store(opening: path)
    store.clock = { Issued.now }
    if case .stamp(var stamp) = try Provenance.read(from: store) {
      (stamp.install, stamp.handback) = ("i", 2)
      try stamp.write(into: store)
    }
    store.clock = { Issued.now + before }
    try store.upsert(
      [#"{"Id":"x","__local__":true,"__locally_created__":true}"#], into: soup)
    try store.close()
  }

  /// The reason for which a device does not take a delta; nil if it does.
  private func refusal(_ delta: String, _ place: String) throws -> String? {
    do throws(BundleError) {
      _ = try DeltaInstallation(delta).apply(to: place, install: "i")
      return nil
    } catch {
      guard case .unsuitable(_, let reason, let isUnsent) = error else { throw error }
      #expect(error.fix?.hasPrefix(isUnsent ? "return it first" : "install the bundle") == true)
      #expect(isUnsent == (reason.contains("does not include") || reason.contains("has changed")))
      return reason
    }
  }

  @Test(arguments: Platform.allCases)
  func `a delta brings all stores of a device to the later bundle`(_ platform: Platform) throws {
    let (scene, old, new, delta) = try issue(platform)
    let description = try DeltaReader.verify(delta)
    #expect(description.to == new && description.fromGeneration == 3)
    #expect(try DeltaReader.isDelta(delta) && DeltaReader.inspect(delta) == description)
    #expect(try DeltaReader.descriptionBytes(delta) == description.bytes)
    let device = try device(scene, old)
    let outcomes = try DeltaInstallation(delta).apply(to: device, install: "second")
    #expect(outcomes.map(\.path) == new.stores.map { device + "/" + $0.path })
    #expect(outcomes.compactMap(\.changes).count == 3)
    try expect(device, scene, new)
    #expect(try installs(device, new) == ["second"])
    // Applied again, it changes nothing.
    let again = try DeltaInstallation(delta).apply(to: device, install: "third")
    #expect(again.compactMap(\.changes) == [])
    #expect(try installs(device, new) == ["second"])
    #expect(try Files.list(directory.path).allSatisfy { !$0.hasPrefix(".tmp") })
  }

  @Test func `after an interruption between two stores the rest is applied`() throws {
    let (scene, old, new, delta) = try issue()
    let device = try device(scene, old)
    let first = device + "/" + old.stores[0].path
    _ = try DeltaInstallation(delta).apply(to: first, install: "lost")
    #expect(try installs(device, old) == ["lost", nil])
    let outcomes = try DeltaInstallation(delta).apply(to: device, install: "whole")
    #expect(outcomes.compactMap(\.changes).count == 2)
    try expect(device, scene, new)
    #expect(try installs(device, new) == ["whole"])
  }

  @Test(arguments: Platform.allCases)
  func `a sealed delta is applied to sealed stores`(_ platform: Platform) throws {
    let (scene, old, new, delta) = try issue(platform, isSealed: true)
    let device = try device(scene, old, isSealed: true)
    #expect(throws: BundleError.self) {
      try DeltaInstallation(delta).apply(to: device, install: "i")
    }
    _ = try DeltaInstallation(delta, key: key()).apply(to: device, install: "i")
    try expect(device, scene, new, isSealed: true)
  }

  @Test(
    .enabled(if: ForeignSQLCipher.isThere, "SQLCipher is missing: make deps-test"),
    arguments: Platform.allCases)
  func `SQLCipher applies a delta by the documented statements`(_ platform: Platform) throws {
    let (scene, old, new, delta) = try issue(platform, isSealed: true)
    let device = try device(scene, old, isSealed: true)
    let work = directory.file("work")
    try Files.makeDirectory(work)
    let description = try DeltaReader.unpack(delta, to: work)
    for (index, store) in description.stores.enumerated() {
      let sealed = "\(work)/\(index)"
      try SQLCipherFile.unseal(sealed, to: sealed + ".plain", key: key())
      let soups = try StoreDelta.File(path: sealed + ".plain").soups
      let file = device + "/" + store.path
      var statements = [
        "PRAGMA cipher_default_kdf_iter = 4000",
        "ATTACH DATABASE '\(sealed)' AS delta KEY '\(Self.passphrase)'", "BEGIN IMMEDIATE",
      ]
      let checks = StoreDelta.conditions(soups).map(\.query)
      statements += checks
      statements += soups.flatMap { StoreDelta.statements($0) } + StoreDelta.sequences
      let results = StoreDelta.results(soups).map(\.query)
      statements += results
      let mark = try #require(StoreDelta.mark(soups))
      statements += [mark.replacing("?", with: "'i'"), "COMMIT", "PRAGMA cipher_integrity_check"]
      let answers = try ForeignSQLCipher.run(file, passphrase: Self.passphrase, statements)
      #expect(answers.filter { $0 == "[[0]]" }.count == checks.count + results.count)
      #expect(answers.last == "[]")
    }
    try expect(device, scene, new, isSealed: true)
  }

  @Test func `a store with changes that the bundle lacks is refused`() throws {
    var (scene, old, _, delta) = try issue()
    let device = try device(scene, old)
    for store in old.stores {
      let path = device + "/" + store.path
      let before = try Files.read(path)
      try edit(path)
      let changed = try DeltaScene.content(path)
      #expect(try refusal(delta, device)?.contains("the bundle does not include") == true)
      #expect(try DeltaScene.content(path) == changed)
      try DurableFile.write(before, to: path)
    }
    // Included: the installation's return 2, by the stamp of its store, without later changes.
    for (install, handback, later, refused) in [
      ("i", 2, 0, nil), ("j", 2, 0, "does not include"), ("i", 1, 0, "does not include"),
      ("i", 2, 1, "has changed since the return"),
    ] as [(String, Int, Int64, String?)] {
      (scene, old, _, delta) = try issue {
        $0.includes = $0.stores.map {
          Manifest.Include(
            stampID: scene.stamp(3, $0.scope).stampID, install: install, handback: handback)
        }
      }
      let device = try self.device(scene, old)
      for store in old.stores { try edit(device + "/" + store.path, before: later) }
      let reason = try refusal(delta, device)
      #expect(refused.map { reason?.contains($0) == true } ?? (reason == nil), "\(reason ?? "")")
    }
  }

  @Test func `a store whose edits its index or its damaged -wal conceals is refused`() throws {
    let (scene, old, _, delta) = try issue(.android)
    let device = try device(scene, old)
    let path = device + "/" + old.stores[0].path
    let before = try Files.read(path)
    try edit(path, in: "accounts")
    let connection = try Connection(path)
    try connection.execute("UPDATE TABLE_1 SET TABLE_1_6 = NULL")
    connection.close()
    #expect(try refusal(delta, device)?.contains("the bundle does not include") == true)
    try DurableFile.write(before, to: path)
    let app = try Connection(path)
    try app.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; BEGIN IMMEDIATE")
    try app.execute("UPDATE TABLE_1 SET lastModified = 7")
    try app.execute("COMMIT")
    let (file, log) = (try Files.read(path), try Files.read(path + "-wal"))
    app.close()
    try DurableFile.write(file, to: path)
    try DurableFile.write(Array(log.dropLast(30)), to: path + "-wal")
    let error = #expect(throws: BundleError.self) {
      try DeltaInstallation(delta).apply(to: device, install: "i")
    }
    #expect(error?.description.contains("its -wal is truncated in frame") == true)
    #expect(try Files.read(path) == file && Files.read(path + "-wal").count == log.count - 30)
  }

  @Test func `a changed byte of a delta or its description is refused`() throws {
    let (_, _, _, delta) = try issue(stores: 1)
    let whole = try Files.read(delta)
    let description = try DeltaReader.inspect(delta)
    let path = directory.file("flipped.zip")
    var refused = 0
    let places = Array(whole.indices).spread(400)
    for place in places {
      var changed = whole
      changed[place] ^= 1 << UInt8(place % 8)
      try DurableFile.write(changed, to: path)
      do throws(BundleError) {
        // Bytes that no reader uses: a time, the attributes of an entry.
        #expect(try DeltaReader.verify(path) == description, "byte \(place)")
      } catch {
        #expect(error.isDamage, "byte \(place): \(error)")
        refused += 1
      }
    }
    #expect(refused > places.count * 3 / 4)
    let text = description.bytes
    let key = try SigningKey.generate(.p256)
    let signature = try SSHSignature(of: text, by: key, namespace: SignatureFile.namespace)
    #expect(signature.isValid(for: text))
    for place in text.indices {
      var changed = text
      changed[place] ^= 1 << UInt8(place % 8)
      #expect(!signature.isValid(for: changed))
      guard let read = try? DeltaDescription(parsing: changed, path: "") else { continue }
      #expect(read == description, "byte \(place)")
    }
    let armored = signature.armored
    for place in armored.indices {
      var changed = armored
      changed[place] ^= 1 << UInt8(place % 8)
      guard let read = try? SSHSignature(armored: changed) else { continue }
      #expect(!read.isValid(for: text) || read.key != key.publicKey, "byte \(place)")
    }
  }

  @Test func `a delta with other files or other tables is refused`() throws {
    let (scene, old, _, delta) = try issue(stores: 1)
    let description = try DeltaReader.inspect(delta)
    let work = directory.file("work")
    try Files.makeDirectory(work)
    _ = try DeltaReader.unpack(delta, to: work)
    func packed(_ entries: [(String, [UInt8])]) throws -> String {
      let path = directory.file("other.zip")
      let writer = try ArchiveWriter(path: path, format: .zip, modified: 0)
      for (name, bytes) in entries { try writer.add(name: name, bytes: bytes) }
      try writer.close()
      return path
    }
    func error(_ entries: [(String, [UInt8])]) throws -> String {
      let path = try packed(entries)
      let error = #expect(throws: BundleError.self) { try DeltaReader.verify(path) }
      return error?.description ?? ""
    }
    let head = (DeltaDescription.fileName, description.bytes)
    let file = (description.stores[0].name, try Files.read(work + "/0"))
    #expect(try error([head]).contains("is missing"))
    #expect(try error([file, head]).contains("its first file is not delta.json"))
    #expect(try error([head, file, ("more", [])]).contains("more is not in delta.json"))
    #expect(try error([head, (file.0, file.1 + [0])]).contains("has more bytes than"))
    for place in Array(file.1.indices).spread(200) {
      var changed = file.1
      changed[place] ^= 1 << UInt8(place % 8)
      #expect(try error([head, (file.0, changed)]).contains("has a different SHA-256"))
    }
    // Nothing but the tables of a delta is attached to a store.
    let device = try device(scene, old)
    for (number, sql) in [
      "CREATE VIEW more AS SELECT 1", "CREATE TABLE more (a)", "DROP TABLE syncs",
      "CREATE TRIGGER more AFTER INSERT ON gone BEGIN SELECT 1; END",
      "UPDATE indexes SET column = 'soup, 1' WHERE type = 'string'",
      "UPDATE soups SET number = 4 WHERE number = 5", "DELETE FROM stamp",
    ].enumerated() {
      let changed = "\(work)/changed-\(number)"
      try Files.copy(work + "/0", to: changed)
      let connection = try Connection(changed)
      try connection.execute(sql)
      connection.close()
      var other = description
      other.stores[0].bytes = try Files.size(of: changed)
      other.stores[0].sha256 = try Digest.sha256Hex(file: changed)
      let path = try packed([(head.0, other.bytes), (file.0, try Files.read(changed))])
      let error = #expect(throws: BundleError.self, "\(sql)") {
        try DeltaInstallation(path).apply(to: device, install: "i")
      }
      #expect(error?.isDamage == true, "\(sql): \(error as Any)")
    }
  }

  @Test func `bundles of other configurations or layouts have no delta`() throws {
    let scene = try DeltaScene(.ios, seed: 3, in: directory)
    let (old, new) = (try scene.generation(1), try scene.generation(2))
    func outcome(_ change: (inout Manifest) -> Void) throws -> DeltaWriter.Outcome {
      var other = new
      change(&other)
      return try DeltaWriter.write(
        from: scene.side(old), to: scene.side(other), as: directory.file("delta"), modified: 0)
    }
    #expect(try outcome { $0.configHash = "other" } == .unlike)
    #expect(try outcome { $0.user = "other" } == .unlike)
    #expect(try outcome { $0.seal = .init(method: "sqlcipher", kdfIterations: 1) } == .unlike)
    #expect(try outcome { $0.stores.append($0.stores[0]) } == .unlike)
    #expect(!Files.exists(directory.file("delta")))
    let limited = try DeltaWriter.write(
      from: scene.side(old), to: scene.side(new), as: directory.file("delta"), limit: 100,
      modified: 0)
    guard case .large = limited else {
      Issue.record("\(limited)")
      return
    }
    #expect(!Files.exists(directory.file("delta")))
    let path = scene.file(2, new.stores[0].path)
    let store = try Store(opening: path)
    try store.registerSoup("more", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    try store.close()
    #expect(try outcome { _ in } == .unlike)
  }

  @Test(arguments: [false, true])
  func `the delta of two bundle files is that of their stores`(_ isSealed: Bool) throws {
    let scene = try DeltaScene(.android, seed: 11, stores: 2, in: directory)
    let key = isSealed ? try key() : nil
    func bundle(_ manifest: Manifest) throws -> String {
      var manifest = manifest
      var stores = directory.file("\(manifest.generation)")
      if let key {
        let sealing = StoreSealing(key: key, secret: Issued.key)
        let target = stores + "-sealed"
        manifest = try sealing.seal(manifest, storeDirectory: stores, to: target)
        stores = target
      }
      let path = directory.file("\(manifest.generation).zip")
      try BundleWriter.pack(manifest, storeDirectory: stores, to: path, format: .zip, modified: 0)
      return path
    }
    let (old, new) = (try scene.generation(1), try scene.generation(2))
    let (one, other) = (try bundle(old), try bundle(new))
    let delta = directory.file("delta.zip")
    if isSealed {
      #expect(throws: BundleError.self) {
        try DeltaWriter.write(fromBundle: one, toBundle: other, as: delta)
      }
    }
    let outcome = try DeltaWriter.write(fromBundle: one, toBundle: other, as: delta, key: key)
    #expect(try outcome == .written(Files.size(of: delta)))
    let device = directory.file("phone")
    try BundleReader.extract(one, to: device)
    _ = try DeltaInstallation(delta, key: key).apply(to: device, install: "i")
    try expect(device, scene, new, isSealed: isSealed)
  }
}
