import Bundles
import Crypto
import JSON
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

/// Random pairs of generations, whose deltas SQLCipher's own build applies by the documented
/// statements, under the keys that devices have.
///
/// Each time, the store is the later generation row for row. A copy on which the program is killed
/// is the earlier one, and a store to which the delta was applied is refused.
@Suite(.enabled(if: ForeignSQLCipher.isThere, "SQLCipher is missing: make deps-test"))
struct DeltaSQLCipherTests {
  /// What a device has.
  enum Form: CaseIterable {
    case plain
    /// The plain store, exported under the device's key.
    case exported
    /// The store as it was sealed, and one that the app has re-keyed since.
    case sealed, rekeyed
    /// An exported store with edits, which were returned and sent.
    case edited

    var isSealed: Bool { self == .sealed || self == .rekeyed }
  }

  private static let passphrase = "bm90IGEgc2VjcmV0LCBvbmx5IGEgdGVzdCdzIHdvcmQ="
  private static let deviceKey = "the device's own key"

  static func key(_ passphrase: String) throws -> SQLCipherKey {
    try SQLCipherKey(passphrase: Secret(passphrase))
  }

  /// A store with its delta and what is expected of it.
  private struct Job {
    var form: Form
    var device: String
    var expected: String
    var value: JSONValue
    var text: Comment
  }

  @Test(arguments: Platform.allCases)
  func `SQLCipher applies the deltas of random pairs under each key`(_ platform: Platform) throws {
    let first = CampaignSize.deltas.firstSeed(20_261_130)
    var done = 0
    while done * 2 < CampaignSize.deltas.count {
      // A chain of generations, whose jobs are one call of the program.
      let seed = first &+ UInt64(done)
      let scene = try DeltaScene(
        platform, seed: seed, stores: 1 + done / 10 % 3, redelivers: true)
      var manifests = [try scene.generation(1)]
      var jobs: [Job] = []
      for number in 2...11 {
        manifests.append(try scene.generation(number))
        let (old, new) = (manifests[number - 2], manifests[number - 1])
        for store in new.stores {
          let isWhole = number == 2
          jobs.append(try job(scene, old, new, store, isKilledEverywhere: isWhole, seed))
        }
        done += 1
      }
      let answers = try ForeignSQLCipher.apply(jobs.map(\.value))
      #expect(answers.count == jobs.count)
      for (job, answer) in zip(jobs, answers) {
        #expect(answer.fault == nil, job.text)
        guard answer.fault == nil else { continue }
        try judge(job)
      }
    }
  }

  private func job(
    _ scene: DeltaScene, _ old: Manifest, _ new: Manifest, _ store: StoreEntry,
    isKilledEverywhere: Bool, _ seed: UInt64
  ) throws -> Job {
    let form = scene.random.pick(Form.allCases)
    let (one, other) = (
      scene.file(old.generation, store.path), scene.file(new.generation, store.path)
    )
    let name = "\(new.generation)-\(new.stores.firstIndex { $0.path == store.path } ?? 0)"
    let (device, delta) = (
      scene.directory.file("device-\(name)"), scene.directory.file("delta-\(name)")
    )
    let outcome = try StoreDelta.write(from: one, to: other, as: delta)
    guard case .written = outcome else { throw Issued.Lost() }
    let file = try StoreDelta.File(path: delta)
    if form.isSealed {
      try SQLCipherFile.seal(one, to: device, key: Self.key(Self.passphrase))
      try SQLCipherFile.seal(delta, to: delta + ".sealed", key: Self.key(Self.passphrase))
    } else {
      try Files.copy(one, to: device)
    }
    if form == .edited { try edit(device, file, scene) }
    let isKeyed = form != .plain && form != .sealed
    var job = DeltaJob(
      device: device, key: form.isSealed ? Self.passphrase : nil,
      rekey: isKeyed ? Self.deviceKey : nil, delta: form.isSealed ? delta + ".sealed" : delta,
      deltaKey: form.isSealed ? Self.passphrase : nil, soups: file.soups)
    let changes = DeltaJob.changes(file.soups).count
    job.kills = isKilledEverywhere ? Array(0...changes) : [scene.random.below(changes + 1)]
    return Job(
      form: form, device: device, expected: other, value: try job.value(),
      text: "seed \(seed), \(form), generation \(old.generation) to \(new.generation)")
  }

  /// Edits records that differ in the later generation, and creates one.
  private func edit(_ device: String, _ delta: StoreDelta.File, _ scene: DeltaScene) throws {
    let store = try Store(opening: device)
    store.clock = { scene.now + 3_600_000 }
    try store.upsert(
      ["{\"Id\":\"local_1\",\"Name\":\"own word\",\"__local__\":true}"], into: "accounts")
    try DeltaScene.edit(store, changedBy: delta)
    try store.close()
  }

  /// A device has the rows of the later generation.
  private func judge(_ job: Job) throws {
    var file = job.device
    if job.form != .plain {
      let passphrase = job.form == .sealed ? Self.passphrase : Self.deviceKey
      try SQLCipherFile.unseal(file, to: file + ".plain", key: Self.key(passphrase))
      file += ".plain"
    }
    #expect(try DeltaScene.content(file) == DeltaScene.content(job.expected), job.text)
    #expect(try DeltaScene.faults(file) == [], job.text)
  }
}
