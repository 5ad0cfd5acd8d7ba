import Bundles
import JSON
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

/// Random pairs of generations: the older one with its delta is the later one, row for row.
@Suite struct DeltaPairsTests {
  /// What a device has done with its store before it gets the delta.
  private enum Past: CaseIterable {
    case untouched, marked, exported, logged, withOwnSoup, withOwnRows, editedAndReturned
  }

  @Test(arguments: Platform.allCases)
  func `a delta makes the later generation of the earlier one`(_ platform: Platform) throws {
    let pairs = CampaignSize.deltas.count
    let first = CampaignSize.deltas.firstSeed(20_261_129)
    var done = 0
    var met: [Past: Int] = [:]
    while done * 2 < pairs {
      // A chain of generations: each pair of neighbours, and one that leaves out a generation.
      let seed = first &+ UInt64(done)
      let scene = try DeltaScene(
        platform, seed: seed, stores: 1 + done / 10 % 3, redelivers: true)
      var manifests = [try scene.generation(1)]
      for number in 2...11 {
        manifests.append(try scene.generation(number))
        let old = manifests[number > 3 && scene.random.chance(20) ? number - 3 : number - 2]
        for store in manifests[number - 1].stores {
          let past = scene.random.pick(Past.allCases)
          met[past, default: 0] += 1
          try compare(scene, old, manifests[number - 1], store, past, seed)
        }
        done += 1
      }
    }
    if pairs >= 40 { #expect(met.count == Past.allCases.count) }
  }

  private func compare(
    _ scene: DeltaScene, _ old: Manifest, _ new: Manifest, _ store: StoreEntry, _ past: Past,
    _ seed: UInt64
  ) throws {
    let text: Comment = "seed \(seed), \(past), generation \(old.generation) to \(new.generation)"
    let delta = scene.directory.file("delta")
    let device = scene.directory.file("device")
    for file in [delta, device, device + "-wal", device + "-shm"] { try Files.remove(file) }
    let (one, other) = (
      scene.file(old.generation, store.path), scene.file(new.generation, store.path)
    )
    let outcome = try StoreDelta.write(from: one, to: other, as: delta)
    guard case .written = outcome else {
      Issue.record("no delta; \(text)")
      return
    }
    let file = try StoreDelta.File(path: delta)
    try live(past, one, device, file, scene)
    let open = try Store(opening: device)
    try open.connection.execute("PRAGMA synchronous = OFF")
    try StoreDelta.apply(file, to: open, install: "new")
    guard case .stamp(let stamp) = try Provenance.read(from: open) else {
      Issue.record("no stamp; \(text)")
      return
    }
    #expect(stamp.install == "new" && stamp.handback == 0, text)
    #expect(stamp.generation == new.generation, text)
    try open.checkpoint()
    try open.close()
    if past == .withOwnSoup {
      let own = try Store(opening: device)
      #expect(try own.count(of: "own") == 1, text)
      try own.removeSoup("own")
      try own.connection.execute("DELETE FROM sqlite_sequence WHERE name = 'TABLE_6'")
      try own.connection.execute("UPDATE sqlite_sequence SET seq = 5 WHERE name = 'soup_attrs'")
      try own.close()
    }
    #expect(try DeltaScene.content(device) == DeltaScene.content(other), text)
    #expect(try DeltaScene.faults(device) == [], text)
  }

  /// Makes a device's store.
  private func live(
    _ past: Past, _ issued: String, _ device: String, _ delta: StoreDelta.File, _ scene: DeltaScene
  ) throws {
    if past == .exported {
      // As a device has it that encrypts the file under its own key.
      let connection = try Connection(issued)
      try connection.run("VACUUM INTO \(device)")
      connection.close()
      return
    }
    try Files.copy(issued, to: device)
    if past == .untouched { return }
    let store = try Store(opening: device)
    try store.connection.execute("PRAGMA synchronous = OFF")
    if past == .logged { try store.connection.execute("PRAGMA journal_mode = WAL") }
    store.clock = { scene.now + 3_600_000 }
    guard case .stamp(var stamp) = try Provenance.read(from: store) else { return }
    (stamp.install, stamp.handback) = ("old", 1)
    try stamp.write(into: store)
    switch past {
    case .withOwnSoup:
      try store.registerSoup("own", indexSpecs: [IndexSpec(path: "Id", type: .string)])
      try store.upsert(["{\"Id\":\"mine\"}"], into: "own")
    case .withOwnRows:
      // New records of the device that were returned.
      for soup in DeltaScene.soups {
        try store.upsert(
          ["{\"Id\":\"local_1\",\"Name\":\"own word\",\"Text\":\"own word\",\"__local__\":true}"],
          into: soup.soupName)
      }
    case .editedAndReturned:
      // Edits that were sent: the records differ in the later generation.
      try DeltaScene.edit(store, changedBy: delta)
    case .untouched, .marked, .exported, .logged: break
    }
    try store.close()
  }
}
