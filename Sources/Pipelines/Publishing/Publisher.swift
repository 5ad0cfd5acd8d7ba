import ObjectStore
import System

/// Publishes the bundles of a pipeline to its object store.
///
/// Bundles, deltas and signatures are written first, each under a key that no other content ever
/// has. A user's `latest.json` names them and is written last, so that a device finds the old
/// generation or the new one. If it is interrupted at any point, the next publication continues.
package struct Publisher: Sendable {
  private let pipeline: Pipeline
  private let data: DataDirectory
  private let store: any ObjectStore
  private let variables: [String: String]

  /// The number of users that are published at the same time.
  private static let width = 4

  private init(
    _ pipeline: Pipeline, _ data: DataDirectory, _ store: any ObjectStore,
    _ variables: [String: String]
  ) {
    (self.pipeline, self.data, self.store, self.variables) = (pipeline, data, store, variables)
  }

  /// Publishes to a store that the caller opened.
  package init(_ pipeline: Pipeline, root: String, store: any ObjectStore) {
    self.init(pipeline, DataDirectory(root: root, name: pipeline.name), store, [:])
  }

  /// Opens the store of a pipeline; nil if it publishes to none.
  ///
  /// It may run a program for a secret, so do not call it on the cooperative pool.
  init?(
    _ pipeline: Pipeline, _ data: DataDirectory, _ variables: [String: String],
    deadlineSeconds: Int? = nil
  ) throws {
    guard case .store(let settings)? = pipeline.publish else { return nil }
    let store = try settings.open(
      variables, caFile: pipeline.org.caFile, deadlineSeconds: deadlineSeconds,
      mayBeNew: PublishNotes(settings.location, in: data).users.isEmpty)
    self.init(pipeline, data, store, variables)
  }

  /// Opens the store of a pipeline, on a separate thread; nil if it publishes to none.
  package static func open(
    _ pipeline: Pipeline, root: String, variables: [String: String]
  ) async throws -> Publisher? {
    let thread = StoreThread(name: "publish")
    return try await withTaskExecutorPreference(thread) {
      try Publisher(pipeline, DataDirectory(root: root, name: pipeline.name), variables)
    }
  }

  /// Throws if the store ignores conditions, or cannot be written to.
  package func check() async throws {
    try await store.checkConditions(below: pipeline.key(""))
  }

  /// Publishes what is new.
  ///
  /// If `isWhole`, every file is compared with the store, even if it was published before. A dry
  /// run only reads.
  package func publish(isWhole: Bool, isDryRun: Bool = false) async throws -> PublishSummary {
    var summary = PublishSummary(location: store.location)
    var notes = PublishNotes(store.location, in: data)
    let old = notes
    let scratch = try ScratchDirectory(variables)
    defer { scratch.remove() }
    let publication = UserPublication(
      pipeline: pipeline, data: data, store: store, scratch: scratch.path, isDryRun: isDryRun)
    var failure: (any Error)?
    do {
      let due = try notes.due(of: pipeline, in: data, isWhole: isWhole)
      try await publish(due, by: publication, &summary, &notes)
      try await removePruned(by: publication, &summary, &notes)
    } catch {
      failure = error
    }
    if !isDryRun, notes != old { try notes.write(in: data) }
    if let failure { throw failure }
    return summary
  }

  private func publish(
    _ due: [PublishedUser], by publication: UserPublication, _ summary: inout PublishSummary,
    _ notes: inout PublishNotes
  ) async throws {
    typealias Outcome = Result<UserPublication.Written, PipelineError>
    try await withThrowingTaskGroup(of: (PublishedUser, Outcome).self) { group in
      var rest = due[...]
      func start() {
        guard let user = rest.popFirst() else { return }
        group.addTask {
          do {
            return (user, .success(try await publication.perform(user)))
          } catch {
            guard UserPublication.isOfUser(error) else { throw error }
            return (user, .failure(PipelineError(describing: error)))
          }
        }
      }
      for _ in 0..<Self.width { start() }
      while let (user, outcome) = try await group.next() {
        switch outcome {
        case .success(let written):
          notes.note(user, of: pipeline)
          summary.paths += written.paths
          summary.bytes += written.bytes
          if written.isNew { summary.users.append(user.id) }
        case .failure(let error):
          let fix = error.fix.map { "; " + $0 } ?? ""
          summary.failures.append("\(user.id): \(error.message)\(fix)")
          if UserPublication.isOutdated(error) { summary.outdated.append(user.id) }
        }
        start()
      }
    }
    summary.users.sort()
    summary.paths.sort()
    summary.failures.sort()
  }

  /// Removes the objects of pruned generations that no `latest.json` names any more.
  ///
  /// A generation that was lost here, before a recovery, is removed with the first later one.
  private func removePruned(
    by publication: UserPublication, _ summary: inout PublishSummary, _ notes: inout PublishNotes
  ) async throws {
    for (id, pruned) in notes.going.sorted(by: { $0.key < $1.key }) {
      let found = try await publication.latest(of: id)
      // If it cannot be read, it may name any generation.
      let latest = found == nil ? .max : found?.generation ?? 0
      let going = pruned.filter { $0 < latest }
      guard let last = going.max() else { continue }
      for object in try await store.list(pipeline.key(PublishedUser.directory(of: id) + "/")) {
        guard let (_, generation) = Self.generation(of: object.key), generation <= last else {
          continue
        }
        let isLost = !Files.exists(data.generation(generation, of: id))
        guard isLost || going.contains(generation) else { continue }
        if !publication.isDryRun { try await store.delete(object.key, matching: object.version) }
        summary.removed += 1
      }
      notes.going[id] = pruned == going ? nil : pruned.subtracting(going)
    }
  }

  /// The user and the generation of a published file: `PIPELINE/users/ID/GENERATION/FILE`.
  private static func generation(of key: String) -> (user: String, number: Int)? {
    let parts = key.split(separator: "/")
    guard parts.count == 5, let number = Int(parts[3]) else { return nil }
    return (String(parts[2]), number)
  }

  // MARK: what is published

  /// Returns what a recovery must know of the store.
  ///
  /// The generation is the latest one with any object: `latest.json` may name an earlier one, if a
  /// publication was interrupted.
  package func published() async throws -> PipelineRecovery.Published {
    var generations: [String: Int64] = [:]
    for object in try await store.list(pipeline.key("users/")) {
      guard let (user, generation) = Self.generation(of: object.key) else { continue }
      generations[user] = max(generations[user] ?? 0, Int64(generation))
    }
    let plan = try await publish(isWhole: true, isDryRun: true)
    return PipelineRecovery.Published(
      generations: generations, outdated: Set(plan.outdated))
  }

  /// Returns addresses that read a user's `latest.json` and newest files for some time, each with
  /// its path; none if the user has no bundles.
  ///
  /// The user is an 18-character ID or a user name.
  package func urls(of user: String, seconds: Int) throws -> [(path: String, url: String)] {
    guard let user = try PublishedUser.list(in: data).first(where: { $0.isNamed(user) }) else {
      return []
    }
    return try ([user.latestPath] + user.files.map(\.path)).map { path in
      guard let url = store.url("GET", pipeline.key(path), seconds: seconds) else {
        throw PipelineError(
          .configuration, "publish.no-addresses", "files of a directory have no addresses",
          location: store.location, fix: "publish to a bucket")
      }
      return (path, url)
    }
  }
}

extension Publisher {
  /// Publishes a pipeline's bundles, comparing every file with the store; a dry run only reads.
  package static func publish(
    _ pipeline: Pipeline, root: String, variables: [String: String], isDryRun: Bool
  ) async throws -> PublishSummary {
    let data = DataDirectory(root: root, name: pipeline.name)
    let thread = StoreThread(name: "publish")
    return try await withTaskExecutorPreference(thread) {
      let publisher = try Publisher(pipeline, data, variables)
      let program = PublishProgram(pipeline, data, variables)
      guard publisher != nil || program != nil else {
        throw PipelineError(
          .configuration, "publish.nowhere", "the pipeline does not say where to publish",
          location: pipeline.file, fix: "add \"publish\" to the pipeline file")
      }
      if !isDryRun { try await publisher?.check() }
      guard Files.exists(data.state) else {
        // A pipeline that never ran has nothing to publish.
        try LedgerCheck.checkLedger(nil, data)
        return PublishSummary(location: publisher?.store.location ?? program?.location ?? "")
      }
      let lock = try PipelineRun.takeLock(data, exclusive: !isDryRun)
      defer { lock.close() }
      if let publisher { return try await publisher.publish(isWhole: true, isDryRun: isDryRun) }
      return try await program?.publish(isWhole: true, isDryRun: isDryRun, pause: .real)
        ?? PublishSummary()
    }
  }
}

extension PipelineError {
  init(store error: ObjectStoreError) {
    let kind: Kind =
      switch error.kind {
      case .unreachable, .missing, .conditionFailed, .cancelled: .tryLater
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
