import Crypto
import System

/// A directory as a store of objects, such as a network file system that machines share.
///
/// Each key is a path below it. An object is written to a temporary file first. `link(2)` gives it
/// a new name, and fails if there is one, on network file systems too. To replace or remove an
/// object in a version, a writer holds a lock file meanwhile.
package struct DirectoryStore: ObjectStore {
  private let path: String
  /// The time after which a lock file was left by a process that ended.
  private let lockSeconds: Int

  /// Whether the directory is created if it is missing.
  private let mayBeNew: Bool

  /// Opens a directory, which need not exist if it may be new.
  ///
  /// A directory that was used before may be in a file system that is not mounted.
  package init(_ path: String, mayBeNew: Bool = true, lockSeconds: Int = 60) {
    (self.path, self.mayBeNew, self.lockSeconds) = (path, mayBeNew, lockSeconds)
  }

  package var location: String { path }

  private func requireDirectory() throws(ObjectStoreError) {
    guard mayBeNew || Files.isDirectory(path) else { throw ObjectStoreError(.missing, path) }
  }

  package func url(_ method: String, _ key: String, seconds: Int) -> String? { nil }

  /// Returns the path of an object; a key with an empty part or a hidden name has none.
  private func file(_ key: String) throws(ObjectStoreError) -> String {
    let parts = key.split(separator: "/", omittingEmptySubsequences: false)
    let isValid = parts.allSatisfy { !$0.isEmpty && !$0.hasPrefix(".") && !$0.contains("\0") }
    guard isValid else { throw ObjectStoreError(.invalidKey, path + "/" + VisibleText.line(key)) }
    return path + "/" + key
  }

  private static func version(_ status: FileStatus) -> ObjectVersion {
    ObjectVersion("\(status.inode)-\(status.modifiedNanoseconds)-\(status.size)")
  }

  /// Returns the facts about a key, without its digest; nil if there is no object.
  private func status(_ key: String) throws(ObjectStoreError) -> ObjectEntry? {
    let file = try file(key)
    do throws(SystemError) {
      let status = try Files.status(file)
      guard status.kind == .regular else { return nil }
      return ObjectEntry(
        key: key, size: status.size, version: Self.version(status),
        modified: status.modifiedNanoseconds / 1_000_000)
    } catch {
      guard error.isMissing else { throw ObjectStoreError(error, file) }
      try requireDirectory()
      return nil
    }
  }

  package func head(_ key: String) async throws(ObjectStoreError) -> ObjectEntry? {
    guard var object = try status(key) else { return nil }
    let file = try file(key)
    do throws(CryptoError) {
      object.sha256 = try Digest.sha256Hex(file: file)
    } catch {
      // Another writer may have removed it meanwhile.
      if try status(key) == nil { return nil }
      throw ObjectStoreError(.file(error.description), file)
    }
    return object
  }

  package func get(
    _ key: String, to path: String, limit: Int64
  ) async throws(ObjectStoreError) -> ObjectEntry? {
    guard var object = try status(key) else { return nil }
    guard object.size <= limit else {
      throw ObjectStoreError(.tooLarge, self.path + "/" + key)
    }
    let file = try file(key)
    do throws(SystemError) {
      try Files.copy(file, to: path)
    } catch {
      if error.isMissing { return nil }
      // A store that is only read is neither full nor read-only.
      throw ObjectStoreError(error, file, of: "the directory for temporary files")
    }
    // A file that was replaced or is still being written is not this version.
    guard try status(key)?.version == object.version else {
      // The copy is incomplete, and the version is the error to report.
      try? Files.remove(path)
      throw ObjectStoreError(.conditionFailed, file)
    }
    do throws(CryptoError) { object.sha256 = try Digest.sha256Hex(file: path) } catch {
      throw ObjectStoreError(.file(error.description), path)
    }
    return object
  }

  // MARK: writing

  @discardableResult
  package func put(
    _ key: String, _ content: ObjectContent, if condition: PutCondition
  ) async throws(ObjectStoreError) -> ObjectVersion {
    let file = try file(key)
    try requireDirectory()
    let temporary = DurableFile.temporaryName(for: file)
    defer {
      // Left behind only if the disk fails too; every reader ignores its name.
      try? Files.remove(temporary)
    }
    do throws(SystemError) {
      try Files.makeDirectory(Files.parent(of: file) ?? path, mode: 0o755)
      switch content.source {
      case .bytes(let bytes): try Files.createNew(temporary, mode: 0o644).write(bytes)
      case .file(let source): try Files.copy(source, to: temporary, mode: 0o644)
      }
      try DurableFile.synchronize(file: temporary)
    } catch { throw ObjectStoreError(error, file) }
    let version = try written(temporary, content, file)
    switch condition {
    case .absent:
      do throws(SystemError) {
        try Files.link(temporary, to: file)
        try DurableFile.synchronize(directory: Files.parent(of: file) ?? path)
      } catch {
        if error.isAlreadyThere { throw ObjectStoreError(.conditionFailed, file) }
        throw ObjectStoreError(error, file)
      }
    case .matching(let wanted):
      try await locked(file) { () throws(ObjectStoreError) in
        guard try status(key)?.version == wanted else {
          throw ObjectStoreError(.conditionFailed, file)
        }
        do throws(SystemError) {
          try DurableFile.rename(temporary, to: file)
        } catch { throw ObjectStoreError(error, file) }
      }
    }
    return version
  }

  /// Returns the version of a temporary file, which keeps it under its final name.
  private func written(
    _ temporary: String, _ content: ObjectContent, _ file: String
  ) throws(ObjectStoreError) -> ObjectVersion {
    do throws(SystemError) {
      let status = try Files.status(temporary)
      guard Int(status.size) == content.size else { throw SystemError.tooShort(file) }
      return Self.version(status)
    } catch { throw ObjectStoreError(error, file) }
  }

  package func delete(
    _ key: String, matching version: ObjectVersion
  ) async throws(ObjectStoreError) {
    let file = try file(key)
    guard try status(key) != nil else { return }
    try await locked(file) { () throws(ObjectStoreError) in
      guard try remove(file, version) else { throw ObjectStoreError(.conditionFailed, file) }
    }
  }

  /// Removes a file in this version; returns false if it has another one.
  ///
  /// It is renamed first: other programs do not know the lock, and may replace the file meanwhile.
  private func remove(
    _ file: String, _ version: ObjectVersion
  ) throws(ObjectStoreError) -> Bool {
    let aside = DurableFile.temporaryName(for: file)
    do throws(SystemError) {
      guard try Self.version(Files.status(file)) == version else { return false }
      try Files.rename(file, to: aside)
      if try Self.version(Files.status(aside)) == version {
        try Files.remove(aside)
        return true
      }
      do throws(SystemError) { try DurableFile.move(aside, toNew: file) } catch {
        guard error.isAlreadyThere else { throw error }
        // It has been replaced again.
        try Files.remove(aside)
      }
      return false
    } catch {
      if error.isMissing { return true }
      throw ObjectStoreError(error, file)
    }
  }

  // MARK: the lock

  private static let pauseMilliseconds = 20

  /// Performs an action that takes a moment while no other writer replaces or removes the object.
  ///
  /// The lock is a file that only one writer can create. It is not `flock`, which a network file
  /// system may not pass on to other machines.
  private func locked(
    _ file: String, _ action: () throws(ObjectStoreError) -> Void
  ) async throws(ObjectStoreError) {
    let directory = Files.parent(of: file) ?? path
    let lock = directory + "/.lock-" + Files.name(of: file)
    let mine = DurableFile.temporaryName(for: file)
    defer {
      // Left behind only if the disk fails too; every reader ignores its name.
      try? Files.remove(mine)
    }
    while true {
      do throws(SystemError) {
        _ = try Files.createNew(mine)
        do throws(SystemError) {
          try Files.link(mine, to: lock)
          break
        } catch { guard error.isAlreadyThere else { throw error } }
        try removeStale(lock, now: try Files.modificationTime(of: mine))
        try Files.remove(mine)
      } catch { throw ObjectStoreError(error, file) }
      do {
        try await Task.sleep(for: .milliseconds(Self.pauseMilliseconds))
      } catch { throw ObjectStoreError(.cancelled, file) }
    }
    defer {
      // If this fails, the lock is stale after a while.
      try? Files.remove(lock)
    }
    try action()
  }

  /// Removes a lock that is older than any action takes, by the clock of the file system.
  ///
  /// It is renamed first, so that only one writer removes it, and not the lock of the next.
  private func removeStale(_ lock: String, now: Int64) throws(SystemError) {
    do throws(SystemError) {
      let limit = Int64(lockSeconds) * 1_000_000_000
      guard try now - Files.modificationTime(of: lock) > limit else { return }
      let old = DurableFile.temporaryName(for: lock)
      try Files.rename(lock, to: old)
      try Files.remove(old)
    } catch {
      if !error.isMissing { throw error }
    }
  }

  // MARK: lists

  package func page(
    of prefix: String, after mark: String?
  ) async throws(ObjectStoreError) -> ObjectPage {
    var page = ObjectPage(objects: [])
    // The directory of the prefix, without the start of a name.
    let directory = prefix.lastIndex(of: "/").map { String(prefix[..<$0]) } ?? ""
    if !directory.isEmpty { _ = try file(directory) }
    try collect(directory, prefix, into: &page)
    page.objects.sort { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    return page
  }

  private func collect(
    _ directory: String, _ prefix: String, into page: inout ObjectPage
  ) throws(ObjectStoreError) {
    let place = directory.isEmpty ? path : path + "/" + directory
    let start = directory.isEmpty ? "" : directory + "/"
    let (names, unreadable): ([String], [String])
    do throws(SystemError) { (names, unreadable) = try Files.listing(place) } catch {
      guard error.isMissing else { throw ObjectStoreError(error, place) }
      return try requireDirectory()
    }
    for name in names where !name.hasPrefix(".") {
      let key = start + name
      if let object = try status(key) {
        if key.hasPrefix(prefix) { page.objects.append(object) }
      } else if let kind = (try? Files.status(path + "/" + key))?.kind {
        if kind != .directory {
          if key.hasPrefix(prefix) { page.foreign.append(ForeignEntry(key, kind.words)) }
        } else if key.hasPrefix(prefix) || prefix.hasPrefix(key + "/") {
          try collect(key, prefix, into: &page)
        }
      }
    }
    for key in unreadable.map({ start + $0 }) where key.hasPrefix(prefix) {
      page.foreign.append(ForeignEntry(key, nil))
    }
  }
}
