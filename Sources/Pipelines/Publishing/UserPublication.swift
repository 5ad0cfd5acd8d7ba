import Crypto
import JSON
import ObjectStore
import System

/// Publishes the files of one user: bundles, deltas and signatures first, then `latest.json`, which
/// names them.
struct UserPublication: Sendable {
  let pipeline: Pipeline
  let data: DataDirectory
  let store: any ObjectStore
  /// A directory for copies of `latest.json`.
  let scratch: String
  let isDryRun: Bool

  /// What was written for a user, or would be.
  struct Written: Sendable {
    var paths: [String] = []
    var bytes: Int64 = 0
    /// Whether `latest.json` changed.
    var isNew = false
  }

  /// The `latest.json` of a user in the store.
  struct Latest: Sendable {
    var version: ObjectVersion
    var sha256: String
    /// The generation that it names; nil if it cannot be read.
    var generation: Int?
  }

  /// The maximum size of `latest.json`.
  private static let latestLimit: Int64 = 1 << 20
  /// How often a user is tried while other publishers change the same `latest.json`.
  private static let attempts = 20

  /// The errors that concern only one user.
  private static let codes = (
    newer: "publish.newer", collision: "publish.collision", file: "publish.file"
  )

  /// Whether an error concerns only one user, so that the others can be published.
  static func isOfUser(_ error: any Error) -> Bool {
    switch error {
    case let error as PipelineError:
      [codes.newer, codes.collision, codes.file].contains(error.code)
    case let error as ObjectStoreError:
      switch error.kind {
      case .tooLarge, .damaged, .invalidKey: true
      default: false
      }
    default: false
    }
  }

  /// Whether an error says that the store has other bundles of the user, or later ones.
  static func isOutdated(_ error: PipelineError) -> Bool {
    [codes.newer, codes.collision].contains(error.code)
  }

  func perform(_ user: PublishedUser) async throws -> Written {
    var written = Written()
    // A file that no latest.json may name is not written.
    var found = try await latest(notNewerThan: user)
    for file in user.files {
      guard let size = try await put(file) else { continue }
      written.paths.append(file.path)
      written.bytes += Int64(size)
    }
    let content = ObjectContent(user.latest(of: pipeline.name))
    var attempt = 1
    while found?.sha256 != content.sha256 {
      if !isDryRun {
        do throws(ObjectStoreError) {
          try await store.put(
            pipeline.key(user.latestPath), content,
            if: found.map { .matching($0.version) } ?? .absent)
        } catch {
          // Another publisher replaced it, perhaps by a later generation.
          guard error.kind == .conditionFailed, attempt < Self.attempts else { throw error }
          attempt += 1
          found = try await latest(notNewerThan: user)
          continue
        }
      }
      written.isNew = true
      break
    }
    return written
  }

  /// Writes a file unless the store has it; returns the size of what was written.
  private func put(_ file: PublishedUser.File) async throws -> Int? {
    let key = pipeline.key(file.path)
    var found = try await store.head(key)
    if found == nil {
      let content = try content(of: file)
      if isDryRun { return content.size }
      do throws(ObjectStoreError) {
        try await store.put(key, content, if: .absent)
        return content.size
      } catch {
        guard error.kind == .conditionFailed else { throw error }
        found = try await store.head(key)
      }
    }
    // One that another writer removed again is missing in the next publication.
    guard let found, found.sha256 != file.sha256 else { return nil }
    guard file.isRenewable else {
      throw PipelineError(
        .configuration, Self.codes.collision, "\(key) is already published with other content",
        location: store.location,
        fix: "if the data directory is new or restored, run \(recover); if another pipeline "
          + "publishes there, give one of them another name or prefix")
    }
    let content = try content(of: file)
    if !isDryRun { try await store.put(key, content, if: .matching(found.version)) }
    return content.size
  }

  /// Checks that a file has its digest: a damaged one must not take an immutable key.
  private func content(of file: PublishedUser.File) throws -> ObjectContent {
    let content: ObjectContent
    do throws(ObjectStoreError) {
      content = try ObjectContent(file: data.path + "/" + file.path)
    } catch {
      throw unusable(file, "cannot be read: \(error.description)")
    }
    guard content.sha256 == file.sha256 else {
      throw unusable(file, "does not have the digest in \(BundleIndex.fileName)")
    }
    return content
  }

  private func unusable(_ file: PublishedUser.File, _ fault: String) -> PipelineError {
    PipelineError(
      .failed, Self.codes.file, "\(file.path) \(fault)", location: data.path,
      fix: "restore the file, or remove it and pack again")
  }

  /// Reads a user's published `latest.json`; throws if it names a later generation.
  private func latest(notNewerThan user: PublishedUser) async throws -> Latest? {
    let found = try await latest(of: user.id)
    if let generation = found?.generation, generation > user.generation {
      throw PipelineError(
        .configuration, Self.codes.newer,
        "generation \(generation) is published, and the newest one here is \(user.generation)",
        location: store.location,
        fix: "if the data directory was restored, run \(recover); if another machine runs this "
          + "pipeline, stop one of them")
    }
    return found
  }

  private var recover: String { "attache recover \(pipeline.called)" }

  /// Reads a user's published `latest.json`.
  func latest(of id: String) async throws -> Latest? {
    let key = pipeline.key(PublishedUser.latestPath(of: id))
    var attempt = 1
    while true {
      let copy = scratch + "/" + RandomBytes.uuid()
      do {
        guard let found = try await store.get(key, to: copy, limit: Self.latestLimit) else {
          return nil
        }
        let bytes = try Files.read(copy)
        try Files.remove(copy)
        let generation = (try? JSONValue(parsing: bytes))?["generation"]?.int
        return Latest(
          version: found.version, sha256: Digest.sha256Hex(bytes),
          generation: generation.flatMap { Int(exactly: $0) })
      } catch let error as ObjectStoreError where error.kind == .conditionFailed {
        // Another publisher replaced it while it was read.
        guard attempt < Self.attempts else { throw error }
        attempt += 1
      }
    }
  }
}

extension Pipeline {
  /// The key of a published file, by its path in the pipeline's directory.
  func key(_ path: String) -> String { name + "/" + path }
}
