import Bundles
import JSON
import Ledger
import Pipelines
import Rehearsal
import SmartStore
import Snapshots
import Testing

/// A pipeline that redelivers open edits, and ada's phones.
struct CarriedScene {
  let scene: DecisionScene
  var world: World { scene.world }
  init(_ change: (String) -> String = { $0 }) throws {
    scene = try DecisionScene { change(Self.carrying($0)) }
  }

  init(maxChanges: Int) throws {
    try self.init {
      $0.replacing(
        #""returnOpenEdits": true"#,
        with: #""returnOpenEdits": true, "maxChanges": {"perSnapshot": \#(maxChanges)}"#)
    }
  }

  /// A scene whose phones also have their accounts in a second soup, `vips`.
  init(twoSoups mode: String, _ change: (String) -> String = { $0 }) throws {
    scene = DecisionScene(try SharedRecordsTests.twoSoups(mode) { change(Self.carrying($0)) })
  }

  private static func carrying(_ text: String) -> String {
    text.replacing(
      #""unansweredWaitSeconds": 0"#, with: #""unansweredWaitSeconds": 0, "returnOpenEdits": true"#)
  }

  /// A scene with a redelivered edit: ada's next phone, and the account.
  static func carriedConflict() async throws -> (CarriedScene, phone: Device, account: String) {
    let scene = try CarriedScene()
    let next = try await scene.carriedConflict()
    return (scene, next.phone, next.account)
  }

  /// Ada's phone after the first run, and an account of hers.
  func primed() async throws -> (Device, String) { try await scene.primed() }

  func later(_ hours: Int64 = 1) -> Int64 { world.org.now() + hours * 3_600_000 }

  /// Ada's edit of an account that another user changed too, redelivered in her next generation:
  /// her phone, and the account.
  func carriedConflict(
    _ fields: JSONObject = ["Phone": "device"]
  ) async throws -> (phone: Device, account: String) {
    let id = try await scene.conflict(fields)
    try await world.run()
    return (try world.device("ada", as: "ada-2"), id)
  }

  func row(_ id: String, on device: Device, _ soup: String = "accounts") throws -> JSONObject {
    try #require(try device.elements(soup).compactMap(\.object).first { $0["Id"]?.string == id })
  }

  func dirty(_ device: Device, _ soup: String = "accounts") throws -> [JSONObject] {
    try device.elements(soup).compactMap(\.object).filter { $0["__local__"]?.bool == true }
  }

  func handBack(_ device: Device, as name: String) throws { try world.handBack(device, as: name) }

  /// Returns a phone's store and runs all stages.
  func run(_ device: Device, as name: String) async throws -> RunSummary {
    try await world.run(device, as: name)
  }

  func verdicts(_ device: Device, as name: String) async throws -> [Verdict: Int] {
    try await world.verdicts(device, as: name)
  }

  /// The returns that ada's newest bundle includes, by installation.
  func includes(_ platform: Platform = .ios) throws -> [String: Int] {
    try BundleReader.inspect(world.bundle("ada", platform)).includes.reduce(into: [:]) {
      if let install = $1.install { $0[install] = $1.handback }
    }
  }

  func install(of device: Device) throws -> String {
    let store = try Store(opening: device.storePath, readOnly: true)
    var install: String?
    try store.forEachElement(in: Provenance.soupName) {
      install = try $0.value()["install"]?.string
    }
    try store.close()
    return install ?? ""
  }

  /// Removes from a phone's stamp which run put edits into it, as an app does that rewrites the
  /// stamp.
  func forgetMark(of device: Device) throws { try drop("carried", fromStampOf: device) }

  func drop(_ member: String, fromStampOf device: Device) throws {
    let store = try Store(opening: device.storePath)
    var stamp: JSONObject = [:]
    try store.forEachElement(in: Provenance.soupName) { stamp = try $0.value().object ?? [:] }
    #expect(stamp[member] != nil)
    stamp[member] = nil
    try store.upsert([.object(stamp)], into: Provenance.soupName)
    try store.close()
  }

  /// Runs `first` and then `second` from the same state of the data directory, as after a restore
  /// from a backup.
  func restored(first: () async throws -> Void, second: () async throws -> Void) async throws {
    let backup = world.directory.file("backup")
    try Tree.copy(world.root, to: backup)
    try await first()
    try Tree.copy(backup, to: world.root)
    try world.org.moveClock(by: 60_000)
    try await second()
  }

  func verdicts() throws -> [String] {
    try world.editVerdicts()
  }
}
