import Crypto
import JSON
import ObjectStore
import System

/// Publishes the bundles of a pipeline to its object store.
///
/// Bundles, deltas and signatures are written first, each under a key that no other content ever
/// has. A user's `latest.json` names them and is written last, so that a device finds the old
/// generation or the new one. Interrupted at any point, the next publication continues.
package struct Publisher: Sendable {
  private let pipeline: Pipeline
  private let data: DataDirectory
  private let store: any ObjectStore

  /// The number of users that are published at the same time.
  private static let width = 4
  /// The maximum size of `latest.json`.
  private static let latestLimit: Int64 = 1 << 20

  /// Opens the store of a pipeline; nil if it publishes to none.
  ///
  /// It may run a program for a secret, so do not call it on the cooperative pool.
  package init?(_ pipeline: Pipeline, root: String, variables: [String: String]) throws {
    guard case .store(let settings)? = pipeline.publish else { return nil }
    self.pipeline = pipeline
    data = DataDirectory(root: root, name: pipeline.name)
    store = try settings.open(variables, caFile: pipeline.org.caFile)
  }

  init?(_ pipeline: Pipeline, _ data: DataDirectory, _ variables: [String: String]) throws {
    guard case .store(let settings)? = pipeline.publish else { return nil }
    (self.pipeline, self.data) = (pipeline, data)
    store = try settings.open(variables, caFile: pipeline.org.caFile)
  }

  private func key(_ path: String) -> String { pipeline.name + "/" + path }

  /// Throws if the store ignores conditions, or cannot be written to.
  func check() async throws { try await store.checkConditions(below: pipeline.name + "/") }

  /// Publishes what is new.
  ///
  /// With `isWhole`, every file is compared with the store, even if it was published before.
  func publish(isWhole: Bool, isDryRun: Bool) async throws -> PublishSummary {
    var summary = PublishSummary()
    summary.location = store.location
    var notes = PublishNotes(store.location, in: data)
    let old = notes
    let name = pipeline.name
    let due = try PublishedUser.list(in: data).filter { user in
      isWhole || notes.users[user.id] != Digest.sha256Hex(user.latest(of: name))
    }
    if isDryRun {
      summary.users = due.map(\.id)
      summary.files = due.reduce(0) { $0 + $1.files.count }
      return summary
    }
    var failure: (any Error)?
    do {
      try await publish(due, &summary, &notes)
      if summary.failures.isEmpty { try await removePruned(&summary, &notes) }
    } catch {
      failure = error
    }
    if notes != old { try notes.write(in: data) }
    if let failure { throw failure }
    return summary
  }

  private func publish(
    _ due: [PublishedUser], _ summary: inout PublishSummary, _ notes: inout PublishNotes
  ) async throws {
    try await withThrowingTaskGroup(of: (PublishedUser, Result<Written, PipelineError>).self) {
      group in
      var rest = due[...]
      func start() {
        guard let user = rest.popFirst() else { return }
        group.addTask {
          do {
            return (user, .success(try await publish(user)))
          } catch let error as PipelineError where Self.isOfUser(error) {
            return (user, .failure(error))
          }
        }
      }
      for _ in 0..<Self.width { start() }
      while let (user, result) = try await group.next() {
        switch result {
        case .success(let written):
          notes.users[user.id] = Digest.sha256Hex(user.latest(of: pipeline.name))
          summary.files += written.files
          summary.bytes += written.bytes
          if written.isNew { summary.users.append(user.id) }
        case .failure(let error):
          summary.failures.append("\(user.id): \(error.message)")
        }
        start()
      }
    }
    summary.users.sort()
    summary.failures.sort()
  }

  /// What was written for a user.
  private struct Written: Sendable {
    var files = 0
    var bytes: Int64 = 0
    /// Whether `latest.json` changed.
    var isNew = false
  }

  // MARK: one user

  private func publish(_ user: PublishedUser) async throws -> Written {
    var written = Written()
    let (version, generation) = try await latest(of: user.id)
    if let generation, generation > user.generation {
      throw PipelineError(
        .configuration, Self.newerCode,
        "generation \(generation) is published, and the newest one here is \(user.generation)",
        location: store.location,
        fix: "run attache recover \(pipeline.called): it continues after the published generation")
    }
    for file in user.files {
      let path = data.path + "/" + file.path
      if let size = try await put(file, ObjectContent(file: path, sha256: file.sha256)) {
        written.files += 1
        written.bytes += Int64(size)
      }
    }
    let content = ObjectContent(user.latest(of: pipeline.name))
    let key = key(user.latestPath)
    if let found = version, found.sha256 == content.sha256 { return written }
    try await store.put(
      key, content, if: version.map { .matching($0.version) } ?? .absent)
    written.isNew = true
    return written
  }

  private static let newerCode = "publish.newer"
  private static let collisionCode = "publish.collision"

  /// Whether an error concerns only one user.
  private static func isOfUser(_ error: PipelineError) -> Bool {
    [newerCode, collisionCode].contains(error.code)
  }

  /// Writes a file unless the store has it; returns the size of what was written.
  private func put(_ file: PublishedUser.File, _ content: ObjectContent) async throws -> Int? {
    let key = key(file.path)
    var found = try await store.head(key)
    if found == nil {
      do throws(ObjectStoreError) {
        try await store.put(key, content, if: .absent)
        return content.size
      } catch {
        guard case .conditionFailed = error.kind else { throw error }
        found = try await store.head(key)
      }
    }
    guard let found, found.sha256 != file.sha256 else { return nil }
    guard file.isRenewable else {
      throw PipelineError(
        .configuration, Self.collisionCode,
        "\(key) is already published with other content", location: store.location,
        fix: "if the data directory is new, run attache recover \(pipeline.called); if another "
          + "pipeline publishes there, give one of them another name or prefix")
    }
    try await store.put(key, content, if: .matching(found.version))
    return content.size
  }

  /// Reads a user's published `latest.json`.
  private func latest(of id: String) async throws -> (ObjectEntry?, generation: Int?) {
    let key = key(PublishedUser.directory(of: id) + "/" + PublishedUser.latest)
    let copy = DurableFile.temporaryName(for: data.path + "/" + PublishedUser.latest)
    defer {
      // The next run removes what is left of it.
      try? Files.remove(copy)
    }
    guard var found = try await store.get(key, to: copy, limit: Self.latestLimit) else {
      return (nil, nil)
    }
    let bytes = try Files.read(copy)
    found.sha256 = Digest.sha256Hex(bytes)
    let generation = (try? JSONValue(parsing: bytes))?["generation"]?.int
    return (found, generation.flatMap { Int(exactly: $0) })
  }

  /// Returns the published generation of each user.
  package func generations() async throws -> [String: Int64] {
    var generations: [String: Int64] = [:]
    let prefix = key("users/")
    for object in try await store.list(prefix)
    where object.key.hasSuffix("/" + PublishedUser.latest) {
      let parts = object.key.dropFirst(prefix.utf8.count).split(separator: "/")
      guard parts.count == 2, let id = parts.first.map(String.init) else { continue }
      generations[id] = try await latest(of: id).generation.map(Int64.init)
    }
    return generations
  }

  // MARK: removing

  /// Removes the objects of pruned generations.
  ///
  /// All `latest.json` name newer ones by now.
  private func removePruned(
    _ summary: inout PublishSummary, _ notes: inout PublishNotes
  ) async throws {
    for directory in notes.going.sorted() {
      for object in try await store.list(key(directory)) {
        try await store.delete(object.key, matching: object.version)
        summary.removed += 1
      }
      notes.going.remove(directory)
    }
  }

  // MARK: addresses

  /// Returns addresses that read a user's `latest.json` and newest files for some time, each with
  /// its path.
  package func urls(of id: String, seconds: Int) throws -> [(path: String, url: String)] {
    guard let user = try PublishedUser.list(in: data).first(where: { $0.id == id }) else {
      return []
    }
    return try ([user.latestPath] + user.files.map(\.path)).map { path in
      guard let url = store.url("GET", key(path), seconds: seconds) else {
        throw PipelineError(
          .configuration, "publish.no-addresses", "files of a directory have no addresses",
          location: store.location, fix: "publish to a bucket")
      }
      return (path, url)
    }
  }
}

extension Publisher {
  /// Publishes a pipeline's bundles, comparing every file with the store; a dry run only counts.
  package static func publish(
    _ pipeline: Pipeline, root: String, variables: [String: String], isDryRun: Bool
  ) async throws -> PublishSummary {
    let data = DataDirectory(root: root, name: pipeline.name)
    let thread = StoreThread(name: "publish")
    return try await withTaskExecutorPreference(thread) {
      let lock = try PipelineRun.takeLock(data, exclusive: !isDryRun)
      defer { lock.close() }
      if let publisher = try Publisher(pipeline, data, variables) {
        if !isDryRun { try await publisher.check() }
        return try await publisher.publish(isWhole: true, isDryRun: isDryRun)
      }
      guard let program = PublishProgram(pipeline, data, variables) else {
        throw PipelineError(
          .configuration, "publish.nowhere", "the pipeline does not say where to publish",
          location: pipeline.file, fix: "add \"publish\" to the pipeline file")
      }
      return try program.publish(isWhole: true, isDryRun: isDryRun)
    }
  }
}

extension PipelineError {
  /// The error of an object store.
  init(store error: ObjectStoreError) {
    let kind: Kind =
      switch error.kind {
      case .unreachable, .conditionFailed, .cancelled: .tryLater
      case .denied: .authentication
      case .ignoresConditions, .refused, .invalidResponse, .invalidKey: .configuration
      case .tooLarge, .damaged: .damaged
      case .file: .failed
      }
    let code =
      if case .ignoresConditions = error.kind { "store.no-conditions" } else { "store" }
    self.init(kind, code, error.description, fix: error.fix)
  }
}
