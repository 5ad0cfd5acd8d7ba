import JSON
import LocalOrg
import Pipelines
import Rehearsal
import SmartStore
import System

/// The stores to ingest: one of each technician, with edits in one percent of its rows.
///
/// They are made once and kept. Before each run, the ledger is restored and the stores are copied
/// to the inbox.
struct IngestFleet {
  /// The number of returned stores.
  let returns: Int
  /// The directory of the fleet, which is reused, because a pipeline's data directory is next to
  /// its file.
  let directory: String

  /// The rows of a store: about 50 MB with its indexes.
  static let rows = 51_600
  /// One row in this number is edited.
  private static let share = 100
  /// The number of edits in a store.
  static var edits: Int { rows / share }

  private var fleet: BenchFleet { BenchFleet(name: "ingest", directory: directory) }
  private var data: DataDirectory { fleet.data }
  /// The stores as returned.
  private var handed: String { directory + "/returns" }
  /// The ledger before the returns.
  private var ledger: String { directory + "/before.sqlite" }
  private var mark: String { directory + "/made" }

  /// The paths of the stores.
  var files: [String] { (0..<returns).map { "\(handed)/\($0).sqlite" } }

  /// Creates the org, primes all users and edits every store, unless that has been done before.
  func make() async throws {
    if Files.exists(mark) { return }
    let org = try fleet.makeOrg(users: returns, records: Self.rows)
    try Files.makeDirectory(handed)
    try fleet.write()
    try write(jobs: 2)
    let served = try fleet.serve(org)
    defer { served.server.stop() }
    try await fleet.run([.prime, .pack], served.variables)
    for number in 0..<returns { try handBack(number, org) }
    for suffix in ["", "-wal"] where Files.exists(data.state + suffix) {
      try Files.copy(data.state + suffix, to: ledger + suffix)
    }
    try fleet.removeOrg()
    try DurableFile.write([], to: mark)
  }

  /// Edits every hundredth row of a store, starting at a different one in each, and moves it to the
  /// returns.
  private func handBack(_ number: Int, _ org: Org) throws {
    let generation = try fleet.generation(of: BenchFleet.username(number), in: org)
    guard let name = try BundleName.list(in: generation, .ios).last?.text else {
      throw BenchFailure("there is no bundle in \(generation)")
    }
    let now = org.now() + Int64(number)
    let place = "\(directory)/device"
    let device = try Device.install(generation + "/" + name, .ios, into: place, now: now)
    let store = try Store(opening: device.storePath)
    store.clock = { now }
    var edited: [JSONValue] = []
    var row = 0
    try store.forEachElement(in: ObjectShape.contact.soup) { element in
      defer { row += 1 }
      guard row % Self.share == number % Self.share else { return }
      guard var object = try element.value().object else { return }
      object["Title"] = .string("edited by \(number)")
      object["__local__"] = true
      object["__locally_updated__"] = true
      edited.append(.object(object))
    }
    _ = try store.upsert(edited, into: ObjectShape.contact.soup)
    try store.close()
    try device.handBack(to: files[number], now: now)
    try Files.remove(place)
    // It is not installed again.
    try Files.remove(generation + "/" + name)
  }

  /// Restores the state before the stores are ingested, and copies them to the inbox.
  func restore(jobs: Int) async throws {
    try write(jobs: jobs)
    let inbox = data.inbox("inbox")
    for place in [data.done, data.processing, data.quarantine, data.reports, inbox] {
      if Files.exists(place) { try Files.remove(place) }
    }
    for suffix in ["", "-wal", "-shm"] {
      try Files.remove(data.state + suffix)
      if Files.exists(ledger + suffix) { try Files.copy(ledger + suffix, to: data.state + suffix) }
    }
    try Files.makeDirectory(inbox)
    for file in files {
      let place = inbox + "/" + Files.name(of: file)
      try Files.copy(file, to: place)
      // The age that they have when a run starts.
      try Files.setModificationTime(
        of: place, nanoseconds: (Clock.wallMilliseconds() - 600_000) * 1_000_000)
    }
    // A run waits only for its prior writes; and files written recently would be read twice.
    try DurableFile.synchronize(tree: inbox)
    try await Task.sleep(nanoseconds: 6_000_000_000)
  }

  private func write(jobs: Int) throws {
    try fleet.write(
      members: """
        "platforms": ["ios"], "inbox": {"settleSeconds": 0}, "limits": {"jobs": \(jobs)}
        """)
  }

  /// Ingests the inbox.
  func ingest() async throws -> RunSummary { try await fleet.run([.ingest], BenchFleet.offline) }
}
