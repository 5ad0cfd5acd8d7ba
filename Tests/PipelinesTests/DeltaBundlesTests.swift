import Bundles
import Crypto
import JSON
import Pipelines
import Rehearsal
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

/// Runs of a pipeline that writes deltas next to its bundles.
@Suite struct DeltaBundlesTests {
  let keys = TemporaryDirectory("delta-keys")

  /// The demo's pipeline, with `pack.deltas` for its small stores.
  private static func deltas(_ text: String, _ more: String = "") -> String {
    text.replacing(
      #""pack": { "format": "tar.zst" }"#,
      with:
        #""pack": { "format": "zip", "deltas": {"from": 2, "atMost": "100%"}\#(more) }"#)
  }

  /// Changes a phone number of each of ada's first accounts.
  private func change(_ world: World, _ phone: String, of device: Device) throws {
    for id in try world.ids("accounts", on: device).prefix(2) {
      try world.change(id, ["Phone": .string(phone)])
    }
    try world.org.moveClock(by: 60_000)
  }

  /// The deltas next to ada's newest bundle.
  private func deltas(_ world: World, _ platform: Platform = .ios) throws -> [String] {
    let directory = try Files.parent(of: world.bundle("ada")) ?? ""
    return try Files.list(directory).filter {
      $0.hasPrefix(platform.rawValue + ".delta.") && $0.hasSuffix(".zip")
    }.map { directory + "/" + $0 }
  }

  /// Every row of a store, without what an app writes into its stamp.
  private func rows(_ file: String) throws -> [String: [[SQLiteValue]]] {
    let connection = try Connection(file)
    defer { connection.close() }
    var rows: [String: [[SQLiteValue]]] = [:]
    for table in try connection.texts(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%\\_fts\\_%' ESCAPE '\\'"
    ) {
      let all: SQL = "SELECT * FROM \(raw: table)"
      rows[table] = try connection.all(all).sorted { "\($0)" < "\($1)" }
    }
    let stamp = try connection.integer(
      "SELECT id FROM soup_attrs WHERE soupName = \(Provenance.soupName)")
    rows["TABLE_\(stamp ?? 0)"] = nil
    return rows
  }

  /// Expects that a device has the stores of ada's newest bundle.
  private func expect(
    _ device: String, of world: World, _ platform: Platform = .ios, key: SQLCipherKey? = nil
  ) throws {
    let fresh = TemporaryDirectory("fresh")
    let manifest = try BundleReader.extract(
      world.bundle("ada", platform), to: fresh.file("bundle"))
    #expect(manifest.stores.count == 2)
    for store in manifest.stores {
      var (one, other) = (device + "/" + store.path, fresh.file("bundle/" + store.path))
      if let key {
        let plain = fresh.file("\(store.scope)-\(store.storeName)")
        try SQLCipherFile.unseal(one, to: plain + "-1", key: key)
        try SQLCipherFile.unseal(other, to: plain + "-2", key: key)
        (one, other) = (plain + "-1", plain + "-2")
      }
      #expect(try rows(one) == rows(other), "\(store.path)")
      #expect(try StoreCheck(origin: .server).violations(at: one) == [])
    }
  }

  /// The directory of a device's stores.
  private func place(_ world: World, _ name: String) -> String {
    world.directory.file("devices/\(name)")
  }

  @Test(arguments: Platform.allCases)
  func `a device gets to the newest bundle by a delta`(_ platform: Platform) async throws {
    let world = try World { Self.deltas($0) }
    let first = try await world.primed("ada", platform)
    #expect(try deltas(world, platform) == [])
    try change(world, "1", of: first)
    try await world.run()
    let second = try world.device("ada", platform, as: "second")
    #expect(try deltas(world, platform).map(Files.name(of:)) == ["\(platform).delta.1-2.zip"])
    try change(world, "2", of: first)
    try await world.run()
    let names = try deltas(world, platform)
    #expect(
      names.map(Files.name(of:)) == ["\(platform).delta.1-3.zip", "\(platform).delta.2-3.zip"])
    for (delta, device) in zip(names, ["ada", "second"]) {
      try DeltaReader.verify(delta)
      let outcomes = try DeltaInstallation(delta).apply(to: place(world, device), install: "i")
      #expect(outcomes.count == 2)
      try expect(place(world, device), of: world, platform)
    }
    // What the device then does is as after the bundle.
    let id = try #require(try world.ids("accounts", on: second).last)
    try second.edit("accounts", id: id, ["Phone": "device"], now: world.org.now())
    #expect(try await world.verdicts(second, as: "a.db") == [.updated: 1])

    // The third generation before is left out.
    try change(world, "3", of: first)
    try await world.run()
    #expect(
      try deltas(world, platform).map(Files.name(of:)) == [
        "\(platform).delta.3-5.zip", "\(platform).delta.4-5.zip",
      ])
  }

  @Test func `the list and the links name the deltas`() async throws {
    let key = try SigningKey.generate(.p256)
    try DurableFile.write(key.pem(), to: keys.file("sign.key"))
    let world = try World {
      Self.deltas($0, #", "sign": {"key": {"file": "\#(self.keys.file("sign.key"))"}}"#)
    }
    let device = try await world.primed("ada")
    try change(world, "1", of: device)
    try await world.run()
    let list = try JSONValue(parsing: Files.read(world.data.path + "/bundles.json"))
    let ada = try world.user("ada").id
    let entry = try #require(
      list["bundles"]?.array?.first { $0["user"]?.string == ada && $0["platform"] == "ios" })
    let delta = try #require(entry["deltas"]?.array?.first)
    let path = try #require(delta["path"]?.string)
    #expect(path == "users/\(ada)/2/ios.delta.1-2.zip" && delta["from"]?.int == 1)
    let file = world.data.path + "/" + path
    #expect(try delta["bytes"]?.int == Files.size(of: file))
    #expect(try delta["sha256"]?.string == Digest.sha256Hex(file: file))
    let latest = world.data.path + "/" + (delta["latest"]?.string ?? "")
    #expect(latest.hasSuffix("/latest/ios.delta.1.zip"))
    #expect(try Files.resolved(latest) == Files.resolved(file))
    #expect(try Files.resolved(latest + ".sig") == Files.resolved(file + ".sig"))

    // The signature is that of delta.json, by the key of the manifests.
    func verify(_ key: SigningKey) throws {
      let line = "attache namespaces=\"attache-manifest\" \(key.publicKey.line)\n"
      let signers = try AllowedSigners(Array(line.utf8), path: "allowed_signers")
      try DeltaReader.verify(file) { description in
        _ = try signers.verify(
          SignatureFile.read(SignatureFile.path(of: file)), of: description,
          namespace: SignatureFile.namespace, identity: nil, now: Clock.wallMilliseconds())
      }
    }
    try verify(key)
    let allowed = keys.file("allowed_signers")
    try DurableFile.write(Array("attache \(key.publicKey.line)\n".utf8), to: allowed)
    let verified = try await ProgramRun.blocking(
      ["bundle", "verify", latest, "--allowed-signers", allowed], variables: world.variables)
    #expect(verified.status == 0, "\(verified.everything)")
    // After a change of the key, it is signed again, and its bytes stay.
    let before = try Files.read(file)
    let second = try SigningKey.generate(.p256)
    try DurableFile.write(second.pem(), to: keys.file("sign.key"))
    _ = try await world.run(.pack)
    try verify(second)
    #expect(try Files.read(file) == before)

    // The deltas go with their generation.
    try change(world, "2", of: device)
    try await world.run()
    try world.rewrite(#""pack""#, #""keep": {"generations": 1}, "pack""#)
    let pruned = try await world.program(["prune"])
    #expect(pruned.status == 0, "\(pruned.everything)")
    #expect(!Files.exists(file) && !Files.exists(file + ".sig"))
    #expect(
      try Files.list(world.snapshot("ada") + "/latest").filter { $0.hasPrefix("ios") } == [
        "ios.delta.1.zip", "ios.delta.1.zip.sig", "ios.delta.2.zip", "ios.delta.2.zip.sig",
        "ios.zip",
        "ios.zip.sig",
      ])
    // Without the stores of the generations before, the next bundle has no deltas.
    try change(world, "3", of: device)
    _ = try await world.runAsWritten()
    #expect(
      try Files.list(world.snapshot("ada") + "/latest").filter { $0.hasPrefix("ios") } == [
        "ios.delta.3.zip", "ios.delta.3.zip.sig", "ios.zip", "ios.zip.sig",
      ])
  }

  @Test func `a sealed pipeline writes sealed deltas`() async throws {
    let key = try SQLCipherKey(passphrase: Secret(SealedBundlesTests.passphrase))
    let seal =
      #"{"with": "sqlcipher", "passphrase": {"command": ["/bin/echo", "\#(SealedBundlesTests.passphrase)"]}}"#
    let world = try World { Self.deltas($0, #", "seal": \#(seal)"#) }
    try await world.run()
    let place = world.directory.file("phone")
    try BundleReader.extract(world.bundle("ada"), to: place)
    let account = try #require(try world.column("SELECT Id FROM Account", as: "ada").first)
    try world.change(account, ["Phone": "secret number"])
    try world.org.moveClock(by: 60_000)
    try await world.run()
    let delta = try #require(try deltas(world).first)
    let work = world.directory.file("work")
    try Files.makeDirectory(work)
    let description = try DeltaReader.unpack(delta, to: work)
    for (index, store) in description.stores.enumerated() {
      #expect(Array(try Files.read("\(work)/\(index)").prefix(16)) == Hex.decode(store.salt ?? ""))
    }
    #expect(try !Tree.files(world.data.path).contains { $0.contains(".tmp-") })
    #expect(Set(description.stores.map(\.salt)).count == 2)
    _ = try DeltaInstallation(delta, key: key).apply(to: place, install: "i")
    try expect(place, of: world, key: key)
    // A lost bundle is packed again, with the same delta.
    let before = try Files.read(delta)
    try Files.remove(world.bundle("ada"))
    // What is left of an interrupted run goes.
    let left = delta.replacing("1-2", with: "9-2")
    try Files.rename(delta, to: left)
    try await world.run(.pack)
    #expect(try Files.read(delta) == before && !Files.exists(left))
  }

  @Test func `changed global stores make a delta within the generation`() async throws {
    let world = try World { Self.deltas($0) }
    _ = try await world.primed("ada")
    let product = try #require(try world.column("SELECT Id FROM Product2").first)
    try world.change(product, ["Name": "Other"], of: "Product2")
    try world.org.moveClock(by: 60_000)
    try await world.run()
    #expect(try Files.name(of: world.bundle("ada")) == "ios.bundle.2.zip")
    let delta = try #require(try deltas(world).first)
    #expect(Files.name(of: delta) == "ios.delta.1-1.2.zip")
    _ = try DeltaInstallation(delta).apply(to: place(world, "ada"), install: "i")
    try expect(place(world, "ada"), of: world)
  }

  @Test func `a device with sent and redelivered edits takes the delta that includes them`()
    async throws
  {
    let scene = try CarriedScene { Self.deltas($0) }
    let world = scene.world
    let (phone, account) = try await scene.carriedConflict()
    // The bundle came with an open edit: its return has to be included.
    let place = place(world, "ada-2")
    try await world.run()
    try world.change(account, ["Phone": "org again"])
    try world.org.moveClock(by: 60_000)
    let other = try #require(
      try world.ids("accounts", on: phone).first { $0 != account })
    try phone.edit("accounts", id: other, ["Phone": "sent"], now: scene.later())
    try phone.create(
      "accounts", type: "Account", ["Name": "New"], localID: "local_delta", now: scene.later())
    let earlier = try await world.run(.prime, .pack)
    #expect(!earlier.bundles.isEmpty)
    let refused = try #require(try deltas(world).last)
    let error = #expect(throws: BundleError.self) {
      try DeltaInstallation(refused).apply(to: place, install: "next")
    }
    #expect(error?.fix?.contains("return it first") == true, "\(error as Any)")
    let verdicts = try await scene.verdicts(phone, as: "again.db")
    #expect(verdicts[.updated] == 1 && verdicts[.created] == 1, "\(verdicts)")
    let from = try #require(
      try deltas(world).first {
        try DeltaReader.inspect($0).stores[0].fromStampID == stampID(phone)
      })
    _ = try DeltaInstallation(from).apply(to: place, install: "next")
    try expect(place, of: world)
    #expect(try scene.dirty(phone).count == 1)
  }

  private func stampID(_ device: Device) throws -> String? {
    let store = try Store(opening: device.storePath, readOnly: true)
    guard case .stamp(let stamp) = try Provenance.read(from: store) else { return nil }
    return stamp.stampID
  }

  @Test func `a delta larger than the share of the bundle is not written`() async throws {
    let world = try World { Self.deltas($0).replacing("\"100%\"", with: "\"1%\"") }
    let device = try await world.primed("ada")
    try change(world, "1", of: device)
    try await world.run()
    #expect(try Files.name(of: world.bundle("ada")) == "ios.bundle.zip")
    #expect(try deltas(world) == [])
    #expect(
      try Files.list(Files.parent(of: world.bundle("ada")) ?? "").allSatisfy {
        !$0.contains("delta") && !$0.hasPrefix(".tmp-")
      })
  }

  @Test func `a damaged generation gives a warning and no delta`() async throws {
    let world = try World { Self.deltas($0) }
    let device = try await world.primed("ada")
    try DurableFile.write([1, 2, 3], to: world.bundle("ada", .android))
    try change(world, "1", of: device)
    let summary = try await world.run()
    #expect(summary.warnings.contains { $0.hasPrefix("no delta from generation 1 is written") })
    #expect(try deltas(world, .android) == [] && deltas(world, .ios).count == 1)
  }

  @Test func `the commands make and apply a delta`() async throws {
    let world = try World { Self.deltas($0) }
    let device = try await world.primed("ada")
    let old = try world.bundle("ada")
    try change(world, "1", of: device)
    try await world.run()
    let delta = world.directory.file("made.zip")
    func program(_ arguments: String...) async throws -> ProgramRun {
      try await ProgramRun.blocking(["bundle"] + arguments, variables: world.variables)
    }
    let made = try await program("delta", old, try world.bundle("ada"), "--out", delta)
    #expect(made.status == 0 && made.output.contains("made.zip has "), "\(made.everything)")
    #expect(try await program("delta", old, old, "--out", delta).status == 2)
    let shown = try await program("inspect", delta)
    #expect(shown.status == 0 && shown.output.contains("\"changes\""), "\(shown.everything)")
    #expect(try await program("verify", delta).status == 0)
    let applied = try await program("apply-delta", place(world, "ada"), delta)
    #expect(
      applied.status == 0 && applied.output.contains("has generation 2 now: "),
      "\(applied.everything)")
    try expect(place(world, "ada"), of: world)
    let again = try await program("apply-delta", place(world, "ada"), delta, "--json")
    #expect(again.status == 0 && again.output.contains("\"applied\":false"), "\(again.everything)")
    let other = try world.device("ben", .ios, as: "ben")
    let refused = try await program("apply-delta", other.storePath, delta)
    #expect(
      refused.status != 0 && refused.messages.contains("install the bundle instead"),
      "\(refused.everything)")
  }
}
