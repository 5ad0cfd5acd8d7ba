import Bundles
import Crypto
import JSON
import Pipelines
import Rehearsal
import SmartStore
import System
import TestSupport
import Testing

@Suite struct SealedBundlesTests {
  static let passphrase = "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ="

  static func world() throws -> World { try World { Self.sealing($0, passphrase) } }

  static func sealing(_ text: String, _ passphrase: String) -> String {
    sealing(text, secret: #"{"command": ["/bin/echo", "\#(passphrase)"]}"#)
  }

  static func sealing(_ text: String, secret: String, with method: String = "sqlcipher") -> String {
    text.replacingOccurrences(
      of: #""pack": { "format": "tar.zst" }"#,
      with: #"""
        "pack": {
          "format": "zip", "seal": {"with": "\#(method)", "passphrase": \#(secret)}
        }
        """#)
  }

  func key(_ passphrase: String = passphrase, iterations: Int = 4000) throws -> SQLCipherKey {
    try SQLCipherKey(passphrase: Secret(passphrase), iterations: iterations)
  }

  /// A phone whose app opened the sealed store of a bundle.
  func device(_ name: String, _ world: World, _ platform: Platform) throws -> Device {
    let place = world.directory.file("devices/\(name)")
    try Files.makeDirectory(Files.parent(of: place) ?? "/")
    let manifest = try BundleReader.extract(world.bundle(name, platform), to: place)
    #expect(manifest.seal == Manifest.Seal(method: "sqlcipher", kdfIterations: 4000))
    let entry = try #require(manifest.stores.first { $0.scope == .user })
    let sealed = place + "/" + entry.path
    #expect(Array(try Files.read(sealed).prefix(16)) == Hex.decode(entry.salt ?? ""))
    let plain = sealed + ".open"
    try SQLCipherFile.unseal(sealed, to: plain, key: key())
    let device = Device(platform: platform, storePath: plain)
    try device.install(now: world.org.now())
    return device
  }

  /// Returns a phone's store, sealed.
  func handBack(_ device: Device, _ world: World, as name: String, key: SQLCipherKey) throws {
    let copy = world.directory.file("copy-\(name)")
    try device.handBack(to: copy, now: world.org.now() + 3_600_000)
    try SQLCipherFile.seal(copy, to: world.data.inbox("inbox") + "/" + name, key: key)
  }

  func reasons(_ world: World) throws -> [String] {
    try Files.list(world.data.quarantine).filter { $0.hasSuffix(".reason.json") }.map {
      let json = try JSONValue(parsing: Files.read(world.data.quarantine + "/" + $0))
      return (json["code"]?.string ?? "") + ": " + (json["reason"]?.string ?? "") + "; "
        + (json["fix"]?.string ?? "")
    }
  }

  @Test(arguments: [Platform.ios, .android])
  func `an edit completes the whole cycle in sealed stores`(_ platform: Platform) async throws {
    let world = try Self.world()
    let first = try await world.run()
    #expect(first.bundles.count == 6)
    for path in first.bundles { try BundleReader.verify(path) }
    // The generation on disk stays plain, and no other files are left there.
    #expect(try ForeignReader.violations(world.stores()) == [])
    #expect(try Tree.files(world.data.path + "/users").allSatisfy { !$0.contains(".tmp-") })

    let device = try device("ada", world, platform)
    let account = try #require(try world.ids("accounts", on: device).last)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0188"], now: world.org.now())
    try handBack(device, world, as: "ada.sqlite", key: key())
    let summary = try await world.run()
    #expect(summary.returns.ingested == 1)
    #expect(summary.verdicts == [.updated: 1])
    #expect(try world.record("Account", account)["Phone"]?.string == "+1 555 0188")
    #expect(!summary.bundles.isEmpty)
  }

  @Test func `a changed store of a sealed bundle is read, an unchanged one is not`() async throws {
    let world = try Self.world()
    try await world.run()
    // The issued bundle itself, unchanged.
    try Files.copy(world.bundle("ada"), to: world.data.inbox("inbox") + "/untouched.zip")
    let untouched = try await world.run(.ingest)
    #expect(untouched.returns.ingested == 1)
    #expect(untouched.edits.found == 0)

    let device = try device("ada", world, .ios)
    let account = try #require(try world.ids("accounts", on: device).last)
    try device.edit("accounts", id: account, ["Phone": "+1 555 0189"], now: world.org.now())
    let bundle = try returnedBundle(of: device, world)
    try Files.copy(bundle, to: world.data.inbox("inbox") + "/ada.zip")
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
  }

  /// The issued manifest and the sealed stores, as an app packs them.
  func returnedBundle(of device: Device, _ world: World) throws -> String {
    let place = world.directory.file("devices/ada")
    let manifest = try Manifest(
      parsing: Files.read(place + "/manifest.json"), path: place + "/manifest.json")
    let entry = try #require(manifest.stores.first { $0.scope == .user })
    try Files.remove(place + "/" + entry.path)
    try SQLCipherFile.seal(device.storePath, to: place + "/" + entry.path, key: key())
    try Files.remove(device.storePath)
    let archive = world.directory.file("returned.zip")
    let result = try ChildProcess.run(
      "/usr/bin/env",
      ["python3", "-c", Self.packing, archive, place] + ["manifest.json"]
        + manifest.stores.map(\.path), environment: ProcessEnvironment.variables())
    #expect(result.status == 0)
    return archive
  }

  static let packing = """
    import sys, zipfile
    with zipfile.ZipFile(sys.argv[1], "w") as archive:
        for name in sys.argv[3:]:
            archive.write(sys.argv[2] + "/" + name, name)
    """

  @Test func `an unchanged generation is packed again only for a new passphrase`() async throws {
    let world = try Self.world()
    let first = try await world.run()
    let before = try first.bundles.map { try Files.read($0) }
    #expect(try await world.run().bundles == [])

    // The bytes are the same if the bundles are lost.
    for path in first.bundles { try Files.remove(path) }
    let third = try await world.run(.pack)
    #expect(third.bundles == first.bundles)
    #expect(try third.bundles.map { try Files.read($0) } == before)

    let fourth = try await pack(world, passphrase: "c29tZXRoaW5nIGVsc2UgZm9yIGJ1bmRsZXM=")
    #expect(fourth.count == 6)
    #expect(fourth.allSatisfy { $0.contains(".bundle.2.") })
    #expect(try await pack(world, passphrase: "c29tZXRoaW5nIGVsc2UgZm9yIGJ1bmRsZXM=") == [])
  }

  func pack(_ world: World, passphrase: String) async throws -> [String] {
    let path = world.directory.file("pipelines/demo.json")
    let text = String(decoding: try Files.read(path), as: UTF8.self)
      .replacingOccurrences(of: Self.passphrase, with: passphrase)
    try DurableFile.write(Array(text.utf8), to: path)
    let pipeline = try PipelineFile.read(path: path, variables: world.variables)
    var options = RunOptions()
    options.stages = [.pack]
    return try await PipelineRun.execute(
      pipeline, root: world.root, variables: world.variables, options: options, report: { _ in }
    ).bundles
  }

  @Test func `a sealed return that cannot be opened is quarantined with a fix`() async throws {
    let world = try Self.world()
    try await world.run()
    let device = try device("ada", world, .android)
    let account = try #require(try world.ids("accounts", on: device).last)
    try device.edit("accounts", id: account, ["Phone": "7"], now: world.org.now())
    let inbox = world.data.inbox("inbox")
    try handBack(device, world, as: "device-key.db", key: key("the device's own"))
    try handBack(device, world, as: "default-kdf.db", key: key(iterations: 256_000))
    try handBack(device, world, as: "damaged.db", key: key())
    var bytes = try Files.read(inbox + "/damaged.db")
    bytes[5 * 4096 + 100] ^= 1
    try DurableFile.write(bytes, to: inbox + "/damaged.db")
    try handBack(device, world, as: "short.db", key: key())
    let short = Array(try Files.read(inbox + "/short.db").dropLast(4096))
    try DurableFile.write(short, to: inbox + "/short.db")
    try handBack(device, world, as: "log.db", key: key())
    try DurableFile.write([1, 2, 3], to: inbox + "/log.db-wal")

    let summary = try await world.run(.ingest)
    #expect(summary.returns.quarantined == 5)
    #expect(summary.returns.ingested == 0)
    let reasons = try reasons(world).joined(separator: "\n")
    for part in [
      "return.wrong-key: device-key.db does not open", "return.wrong-key: default-kdf.db",
      "PRAGMA returned.kdf_iter = 4000", "return.damaged: damaged.db is damaged: page 6",
      "return.damaged: short.db is truncated in page", "return.sealed-log: log.db",
    ] { #expect(reasons.contains(part), "\(part)") }
    #expect(!reasons.contains(Self.passphrase))
    try handBack(device, world, as: "mended.db", key: key())
    #expect(try await world.run(.ingest, .reconcile).verdicts == [.updated: 1])
  }

  @Test func `returns may have another passphrase, and plain returns are accepted`() async throws {
    let world = try World { text in
      Self.sealing(text, Self.passphrase).replacingOccurrences(
        of: #""inbox": {"#,
        with: #""inbox": { "passphrase": {"command": ["/bin/echo", "cmV0dXJucw=="]}, "#)
    }
    #expect(world.pipeline.inbox.passphrase != nil)
    try await world.run()
    let device = try device("ada", world, .ios)
    let ids = try world.ids("accounts", on: device)
    try device.edit("accounts", id: ids[0], ["Phone": "1"], now: world.org.now())
    try handBack(device, world, as: "sealed.db", key: key("cmV0dXJucw=="))
    try world.handBack(device, as: "plain.db", edited: ids[1], ["Phone": "2"])
    let summary = try await world.run(.ingest, .reconcile)
    #expect(summary.returns.ingested == 2)
    #expect(summary.returns.quarantined == 0)
  }

  @Test(arguments: [true, false])
  func `a store in the field returns under its own passphrase`(_ isReplaced: Bool) async throws {
    let world = try Self.world()
    try await world.run()
    let device = try device("ada", world, .ios)
    let ids = try world.ids("accounts", on: device)
    let new = "c29tZXRoaW5nIGVsc2UgZm9yIGJ1bmRsZXM="
    if isReplaced {
      try world.rewrite(Self.passphrase, new)
    } else {
      let seal =
        #"{"with": "sqlcipher", "passphrase": {"command": ["/bin/echo", "\#(Self.passphrase)"]}}"#
      try world.rewrite(#", "seal": "# + seal, "")
    }
    try world.rewrite(
      #""inbox": {"#,
      #""inbox": { "passphrase": {"command": ["/bin/echo", "\#(Self.passphrase)"]}, "#)
    try device.edit("accounts", id: ids[0], ["Phone": "1"], now: world.org.now())
    try handBack(device, world, as: "old.db", key: key())
    let returns = Set([Stage.ingest, .reconcile])
    #expect(try await world.runAsWritten(returns).verdicts == [.updated: 1])
    guard isReplaced else { return }
    try device.edit("accounts", id: ids[0], ["Phone": "2"], now: world.org.now() + 1000)
    try handBack(device, world, as: "new.db", key: key(new))
    #expect(try await world.runAsWritten(returns).verdicts == [.updated: 1])
    try handBack(device, world, as: "kdf.db", key: key(new, iterations: 256_000))
    #expect(try await world.runAsWritten([.ingest]).returns.quarantined == 1)
    #expect(try reasons(world).joined().contains("PRAGMA returned.kdf_iter = 4000"))
  }

  @Test(
    .enabled(if: ForeignSQLCipher.isThere, "SQLCipher's Python package is missing: make deps-test"))
  func `SQLCipher opens the stores that a pipeline issues`() async throws {
    let world = try Self.world()
    try await world.run(.prime, .pack)
    for platform in [Platform.ios, .android] {
      let place = world.directory.file("devices/\(platform.rawValue)")
      try Files.makeDirectory(world.directory.file("devices"))
      let manifest = try BundleReader.extract(world.bundle("ada", platform), to: place)
      for store in manifest.stores {
        let answers = try ForeignSQLCipher.run(
          place + "/" + store.path, passphrase: Self.passphrase,
          "PRAGMA cipher_integrity_check", "PRAGMA integrity_check", "PRAGMA user_version")
        let version = platform == .android ? "[[3]]" : "[[0]]"
        #expect(answers == ["[]", #"[["ok"]]"#, version])
      }
    }
  }

  @Test func `an unavailable passphrase ends the run and refuses no return`() async throws {
    let world = try World { text in
      Self.sealing(text, Self.passphrase).replacingOccurrences(
        of: #"{"command": ["/bin/echo", "\#(Self.passphrase)"]}"#,
        with: #"{"command": ["/bin/false"]}"#)
    }
    try await world.run(.prime)
    await #expect(throws: SecretError.self) { try await world.run(.pack) }
    let file = world.data.inbox("inbox") + "/x.db"
    try DurableFile.write([UInt8](repeating: 3, count: 8192), to: file)
    await #expect(throws: SecretError.self) { try await world.run(.ingest) }
    #expect(try reasons(world) == [])
  }
}
