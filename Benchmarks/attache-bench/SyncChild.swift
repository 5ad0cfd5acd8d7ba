import MobileSync
import SmartStore
import System

/// Syncs into a new store as `attache sync run` does, with the library's manager, and measures
/// itself.
struct SyncChild {
  private let options: BenchOptions

  init(_ options: BenchOptions) { self.options = options }

  func run() async throws -> Measurement {
    let directory = options.directory + "/live"
    if Files.exists(directory) { try Files.remove(directory) }
    try Files.makeDirectory(directory, intermediate: true)
    defer { try? Files.remove(directory) }
    let session = try await Workload.session(options)
    let path = directory + "/live.db"
    let unfinished = path + ".partial"
    let store = try Store(disposable: unfinished, platform: .android)
    try store.registerSoup(ObjectShape.contact.soup, indexSpecs: ObjectShape.contact.indexes)
    let manager = try await SyncManager(store: store) { session }
    var result = Measurement()
    result.arm = "sync"
    let sync = ObjectShape.contact.sync
    let start = Clock.monotonicNanoseconds()
    try await manager.syncDown(
      target: sync.target, options: sync.options, soupName: sync.soupName,
      syncName: sync.syncName
    ).finish()
    try await manager.withStore { try $0.checkpoint() }
    try await manager.close()
    try DurableFile.move(unfinished, toNew: path)
    result.end(start)
    let synced = try Store(opening: path, readOnly: true)
    result.records = try synced.count(of: ObjectShape.contact.soup)
    try synced.close()
    guard result.records == options.records else {
      throw BenchFailure("\(result.records) of \(options.records) records are in the store")
    }
    return result
  }
}
