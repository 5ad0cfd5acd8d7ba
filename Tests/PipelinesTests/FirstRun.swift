import Crypto
import Foundation
import Ledger
import LocalOrg
import Pipelines
import SQLite
import System
import TestSupport

/// The first run of a world, performed once per process and copied into every world that starts the same way.
///
/// Worlds start the same way if their orgs, pipeline files, server options and run options are equal. The
/// copy names the paths and the address of its own world.
struct FirstRun: Sendable {
  private let directory: TemporaryDirectory
  private let origin: (path: String, address: String)
  private let summary: RunSummary
  private let events: [RunEvent]
  private let requests: [RequestLog.Entry]
  private static let known = Locked<[String: Task<FirstRun?, Never>]>([:])

  /// Copies the first run of `key` into `world`; the first caller of a key performs it with `body`.
  static func run(
    _ key: String, in world: World, _ body: () async throws -> RunSummary
  ) async throws -> RunSummary {
    let (outcomes, outcome) = AsyncStream.makeStream(of: FirstRun.self)
    let task = known.withLock { known in
      if let task = known[key] { return task as Task<FirstRun?, Never>? }
      known[key] = Task { await outcomes.first { _ in true } }
      return nil
    }
    if let task {
      guard let first = await task.value else { return try await body() }
      return try first.copy(to: world)
    }
    defer { outcome.finish() }
    let org = try digest(org: world.org.directory)
    let told = world.told.withLock { $0.count }
    let summary = try await body()
    // An open org cannot switch to another file, and reports contain the org's address in many
    // forms.
    guard try digest(org: world.org.directory) == org, summary.report == nil else { return summary }
    let directory = TemporaryDirectory.untilExit("first-run")
    try Tree.copy(world.root, to: directory.file("snapshots"))
    outcome.yield(
      FirstRun(
        directory: directory, origin: (world.directory.path, world.server.url), summary: summary,
        events: world.told.withLock { Array($0.dropFirst(told)) },
        requests: world.server.log.entries))
    return summary
  }

  /// What decides the outcome of a first run, besides the pipeline files; nil if the world has run already.
  static func key(_ world: World, _ options: RunOptions, pipelines: String) throws -> String? {
    var others = options
    others.stages = []
    guard !Files.exists(world.root), world.server.log.count == 0, !world.server.faults.isArmed,
      String(describing: others) == plain
    else { return nil }
    let stages = options.stages.map(\.rawValue).sorted().joined(separator: " ")
    return try [
      digest(org: world.org.directory), String(world.org.now()), pipelines,
      digest(files: world.directory.file("pipelines")),
      Files.name(of: world.pipeline.file), world.serving, stages,
    ].joined(separator: "\n")
  }

  private static let plain = {
    var options = RunOptions()
    options.stages = []
    return String(describing: options)
  }()

  /// The digest of the org's file, with everything that was written to the org before.
  private static func digest(org directory: String) throws -> String {
    let path = directory + "/org.sqlite"
    let connection = try Connection(path)
    defer { connection.close() }
    try connection.checkpointTruncate()
    return try Digest.sha256Hex(file: path)
  }

  static func digest(files directory: String) throws -> String {
    var hasher = SHA256Hasher()
    for name in try Tree.files(directory) {
      let path = directory + "/" + name
      let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
      hasher.update(Array("\0\(name)\0\(mode ?? "")\0".utf8))
      try Digest.update(&hasher, file: directory + "/" + name)
    }
    return Hex.encode(hasher.finalize())
  }

  // MARK: copying

  private func copy(to world: World) throws -> RunSummary {
    try Tree.copy(directory.file("snapshots"), to: world.root)
    let ledger = try LedgerDatabase(path: world.data.state)
    defer { ledger.close() }
    for (old, new) in [(origin.path, world.directory.path), (origin.address, world.server.url)] {
      try ledger.connection.run("UPDATE meta SET value = replace(value, \(old), \(new))")
      try ledger.connection.run("UPDATE run SET summary = replace(summary, \(old), \(new))")
    }
    for request in requests { world.server.log.append { _ in request } }
    world.told.withLock { $0 += events.map { moved($0, to: world) } }
    var summary = summary
    summary.steps = summary.steps.mapValues { moved($0, to: world) }
    summary.bundles = summary.bundles.map { moved($0, to: world) }
    summary.warnings = summary.warnings.map { moved($0, to: world) }
    return summary
  }

  private func moved(_ event: RunEvent, to world: World) -> RunEvent {
    switch event {
    case .bundleWritten(let snapshot, let username, let platform, let path, let bytes):
      .bundleWritten(
        snapshot: snapshot, username: username, platform: platform, path: moved(path, to: world),
        bytes: bytes)
    case .warning(let text): .warning(moved(text, to: world))
    default: event
    }
  }

  private func moved(_ text: String, to world: World) -> String {
    text.replacing(origin.path, with: world.directory.path)
  }
}
