import Bundles
import LocalOrg
import Pipelines
import SmartStore
import Snapshots
import System

/// A snapshot with one large store for each platform, which is packed repeatedly.
struct PackFleet {
  let directory: String

  private var fleet: BenchFleet { BenchFleet(name: "pack", directory: directory) }
  /// The location of the user's newest generation and its stores, recorded because the org is
  /// deleted by then.
  private var note: String { directory + "/generation" }

  private func noted() throws -> (generation: String, stores: [String]) {
    let lines = String(decoding: try Files.read(note), as: UTF8.self).split(separator: "\n")
    return (lines.first.map(String.init) ?? "", lines.dropFirst().map(String.init))
  }

  /// The stores of both platforms.
  func stores() throws -> [String] { try noted().stores }

  /// Primes the snapshot.
  func make(records: Int) async throws {
    let org = try fleet.makeOrg(users: 1, records: records)
    try fleet.write()
    try write(.zip)
    let served = try fleet.serve(org)
    defer { served.server.stop() }
    try await fleet.run([.prime], served.variables)
    let generation = try fleet.generation(of: BenchFleet.username(0), in: org)
    let record = try SnapshotDirectory(path: Files.parent(of: generation) ?? "").record(
      of: Int(Files.name(of: generation)) ?? 0)
    let stores = record.stores.map { "\(generation)/\($0.platform.rawValue)/\($0.entry.path)" }
    let lines = ([generation] + stores).joined(separator: "\n")
    try DurableFile.write(Array(lines.utf8), to: note)
    try fleet.removeOrg()
  }

  private func write(_ format: BundleFormat) throws {
    try fleet.write(
      members: #""platforms": ["ios", "android"], "pack": {"format": "\#(format.rawValue)"}"#)
  }

  /// Removes the bundles of a format.
  func restore(_ format: BundleFormat) throws {
    try write(format)
    for bundle in try made() { try Files.remove(bundle) }
  }

  /// Packs the snapshot, as a run does, and returns the bytes of its bundles.
  func pack() async throws -> Int64 {
    let summary = try await fleet.run([.pack], BenchFleet.offline)
    guard summary.bundles.count == 2 else {
      throw BenchFailure("\(summary.bundles.count) bundles were made instead of 2")
    }
    return try summary.bundles.reduce(0) { try $0 + Files.size(of: $1) }
  }

  /// Keeps the bundles of a format for the arms that read them.
  func keep(_ format: BundleFormat) throws {
    let place = directory + "/bundles"
    if !Files.exists(place) { try Files.makeDirectory(place) }
    for (bundle, kept) in zip(try made(), bundles(format)) {
      try Files.remove(kept)
      try Files.rename(bundle, to: kept)
    }
  }

  /// The kept bundles of a format.
  func bundles(_ format: BundleFormat) -> [String] {
    [Platform.android, .ios].map {
      "\(directory)/bundles/\(BundleName($0, number: 1, format).text)"
    }
  }

  private func made() throws -> [String] {
    let generation = try noted().generation
    return try Files.list(generation).filter { BundleName($0) != nil }.sorted().map {
      generation + "/" + $0
    }
  }

  /// An empty directory, which the caller removes.
  func emptyPlace() throws -> String {
    let place = directory + "/made"
    if Files.exists(place) { try Files.remove(place) }
    try Files.makeDirectory(place)
    return place
  }

  /// Deletes everything.
  func end() throws { try Files.remove(directory) }
}
