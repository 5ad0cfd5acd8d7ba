import Bundles
import Crypto
import Foundation
import JSON
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

/// The size of a delta next to its bundle, and the time to apply it.
@Suite struct DeltaSizeTests {
  let directory = TemporaryDirectory("delta-size")
  private static let passphrase = "bm90IGEgc2VjcmV0"
  static let contacts = CampaignSize.deltas.count < 500 ? 3000 : 30_000

  private func contact(_ number: Int, _ random: inout HistoryRandom) -> JSONObject {
    func word() -> String {
      String((0..<8).map { _ in Character(UnicodeScalar(UInt8(97 + random.below(26)))) })
    }
    return [
      "Id": .string("003000000\(String(format: "%06d", number))AAA"),
      "attributes": ["type": "Contact", "url": "/services/data/v66.0/sobjects/Contact"],
      "FirstName": .string(word()), "LastName": .string(word()), "Title": .string(word()),
      "Phone": .string("+1 555 \(random.below(1_000_000))"),
      "Email": .string("\(word())@\(word()).example.com"),
      "MailingCity": .string(word()), "MailingStreet": .string("\(word()) \(word())"),
      "AccountId": .string("001000000\(String(format: "%06d", random.below(900)))AAA"),
      "OwnerId": "005000000000001AAA", "LastModifiedDate": "2024-01-31T12:34:56.000+0000",
      "__local__": false, "__locally_created__": false, "__locally_updated__": false,
      "__locally_deleted__": false, "__sync_id__": 1,
    ]
  }

  private func generation(
    _ number: Int, _ scene: DeltaScene, _ change: (Store) throws -> Void
  ) throws -> Manifest {
    let path = scene.entryPath((.user, "default"))
    let file = scene.file(number, path)
    try Files.makeDirectory(Files.parent(of: file) ?? "/")
    if number > 1 { try Files.copy(scene.file(number - 1, path), to: file) }
    let store =
      number > 1 ? try Store(opening: file) : try Store(creating: file, platform: .ios)
    store.clock = { Issued.now + Int64(number) }
    try store.transaction {
      try change(store)
      try scene.stamp(number, .user).write(into: store)
    }
    let count = try store.count(of: "contacts")
    try store.close()
    return scene.manifest(
      number,
      [
        try SnapshotDirectory.measure(
          file, scope: .user, storeName: "default", path: path, stamp: scene.stamp(number, .user),
          counts: ["contacts": count])
      ])
  }

  /// The least processor time in which SQLCipher applies a delta to a store under a device's key.
  private func secondsOnADevice(
    _ issued: String, _ delta: String, _ file: StoreDelta.File, key: SQLCipherKey?
  ) throws -> Double {
    let passphrase = key == nil ? nil : Self.passphrase
    let jobs = try (0..<3).map { number -> JSONValue in
      let device = directory.file("device-\(number)")
      if let key {
        try SQLCipherFile.seal(issued, to: device, key: key)
      } else {
        try Files.copy(issued, to: device)
      }
      return try DeltaJob(
        device: device, key: passphrase, rekey: "device", delta: delta, deltaKey: passphrase,
        soups: file.soups
      ).value()
    }
    let answers = try ForeignSQLCipher.apply(jobs)
    #expect(answers.count == jobs.count && answers.allSatisfy { $0.fault == nil })
    return answers.map(\.seconds).min() ?? 0
  }

  @Test(arguments: [false, true])
  func `a change of 1 percent of the contacts is a small part`(_ isSealed: Bool) throws {
    let scene = try DeltaScene(.ios, seed: 1, in: directory)
    var random = HistoryRandom(1)
    let names = ["Id", "LastName", "FirstName", "AccountId", "MailingCity", "__local__"]
    let old = try generation(1, scene) { store in
      try store.registerSoup(
        "contacts", indexSpecs: names.map { IndexSpec(path: $0, type: .string) })
      let all = (0..<Self.contacts).map { JSONValue.object(contact($0, &random)) }
      try store.upsert(all, into: "contacts")
    }
    let new = try generation(2, scene) { store in
      let changed = (0..<(Self.contacts / 100)).map { number -> JSONValue in
        let row = 97 * number % Self.contacts
        var element = contact(row, &random)
        element[StoreField.soupEntryID] = JSONValue(row + 1)
        return .object(element)
      }
      try store.upsert(changed, into: "contacts")
    }
    let key = try SQLCipherKey(passphrase: Secret(Self.passphrase))
    let sealing = StoreSealing(key: key, secret: Issued.key)
    var (manifest, stores) = (new, directory.file("2"))
    if isSealed {
      stores = directory.file("sealed")
      manifest = try sealing.seal(new, storeDirectory: directory.file("2"), to: stores)
    }
    let (bundle, delta) = (directory.file("bundle.zip"), directory.file("delta.zip"))
    try BundleWriter.pack(manifest, storeDirectory: stores, to: bundle, format: .zip, modified: 0)
    let clock = ContinuousClock()
    var (from, to) = (scene.side(old), scene.side(new))
    from.manifest.seal = manifest.seal
    to.manifest.seal = manifest.seal
    let seal: DeltaWriter.Sealing = {
      try sealing.sealDelta($0, to: $1, of: $3, from: $2.stampID)
    }
    let making = try clock.measure {
      _ = try DeltaWriter.write(
        from: from, to: to, as: delta, modified: 0, seal: isSealed ? seal : nil)
    }
    let work = directory.file("work")
    try Files.makeDirectory(work)
    _ = try DeltaReader.unpack(delta, to: work)
    if isSealed { try SQLCipherFile.unseal(work + "/0", to: work + "/plain", key: key) }
    let device = directory.file("device")
    try Files.copy(scene.file(1, old.stores[0].path), to: device)
    let store = try Store(opening: device)
    let file = try StoreDelta.File(path: work + (isSealed ? "/plain" : "/0"))
    let applying = try clock.measure { try StoreDelta.apply(file, to: store, install: "i") }
    try store.close()
    #expect(try DeltaScene.content(device) == DeltaScene.content(scene.file(2, new.stores[0].path)))
    if ForeignSQLCipher.isThere {
      let seconds = try secondsOnADevice(
        scene.file(1, old.stores[0].path), work + "/0", file, key: isSealed ? key : nil)
      print("applied by SQLCipher under a key in \(seconds) s of processor time")
      if Self.contacts >= 30_000 { #expect(seconds <= 0.2) }
    }
    let (whole, part) = (try Files.size(of: bundle), try Files.size(of: delta))
    print(
      "delta of 1 % of \(Self.contacts) contacts\(isSealed ? ", sealed" : ""): \(part) of \(whole) "
        + "bytes, made in \(making), applied in \(applying)")
    // The tables of a small delta are a greater part of a small bundle.
    #expect(part * 100 <= whole * (Self.contacts < 30_000 ? 6 : 2))
  }
}
