import Crypto
import SmartStore
import Snapshots
import System

/// Applies a delta to the stores of an installed bundle, under the rules of an installation.
///
/// Each store is changed in one transaction, or if it is sealed, by one rename. After an interruption
/// between two stores the same call changes the others.
package struct DeltaInstallation {
  /// What was done to a store.
  package struct Outcome: Sendable, Hashable {
    /// The path of the file.
    package let path: String
    /// The changes by soup; nil if the store had the generation already.
    package let changes: [String: StoreDelta.Change]?
  }

  /// A store of the installation that is being changed.
  private struct Target {
    let path: String
    let delta: StoreDelta.File
    let changes: [String: StoreDelta.Change]
    let store: Store
    /// The installation that the store belongs to.
    let install: String?
    /// Whether the store has the later generation already.
    let isCurrent: Bool
    /// The plain copy of a sealed store, and the status of the file that it was made from; nil for a
    /// plain store.
    let copy: (path: String, original: FileStatus)?
  }

  private let archive: String
  /// The key of sealed stores and deltas.
  private let key: SQLCipherKey?
  /// The key of a sealed archive.
  private let archiveKey: ArchiveKey?

  package init(_ archive: String, key: SQLCipherKey? = nil, archiveKey: ArchiveKey? = nil) {
    (self.archive, self.key, self.archiveKey) = (archive, key, archiveKey)
  }

  /// Applies the delta to the stores below a directory, at their paths, or to one store.
  ///
  /// `install` is the ID of the new installation.
  ///
  /// - Throws: `BundleError.unsuitable` if a store does not take the delta.
  package func apply(to place: String, install: String) throws(BundleError) -> [Outcome] {
    try BundleError.mapping {
      let work = DurableFile.temporaryName(for: place)
      defer { try? Files.remove(work) }
      try Files.makeDirectory(work)
      let description = try DeltaReader.unpack(archive, to: work, key: archiveKey)
      let targets = try self.targets(place, description, in: work)
      defer { for target in targets { try? target.store.close() } }
      for target in targets where !target.isCurrent {
        try refusing(target.path) {
          try StoreDelta.check(target.delta, target.store)
          try requireIncluded(target, description.to)
        }
      }
      // An interrupted call has not marked all stores, not even those that stay as they are.
      let isDone = targets.allSatisfy { $0.isCurrent || $0.delta.was == $0.delta.now }
      if isDone, Set(targets.map(\.install)).count == 1, targets.contains(where: \.isCurrent) {
        return targets.map { Outcome(path: $0.path, changes: nil) }
      }
      return try targets.map { target in
        try refusing(target.path) {
          if target.isCurrent {
            try StoreDelta.mark(target.delta, in: target.store, install: install)
          } else {
            try StoreDelta.apply(
              target.delta, to: target.store, install: install,
              allowing: { try requireIncluded(target, description.to) })
          }
        }
        try target.store.close()
        if let key { try replace(target, key) }
        return Outcome(path: target.path, changes: target.isCurrent ? nil : target.changes)
      }
    }
  }

  /// The rule of an installation: nothing may be lost that the bundle does not include.
  ///
  /// `lastChange` is the date of the latest local change, and `lastReturn` that of the stamp, which
  /// the app writes when it returns the store.
  static func refusal(
    _ stamp: Provenance, lastChange: Int64?, lastReturn: Int64?, _ manifest: Manifest
  ) -> String? {
    guard lastChange != nil || stamp.carried != nil else { return nil }
    let isIncluded = manifest.includes.contains { include in
      include.stampID == stamp.stampID && include.install != nil
        && include.install == stamp.install && (include.handback ?? -1) >= (stamp.handback ?? 0)
    }
    guard isIncluded else {
      return "has changes, or came with open edits, that the bundle does not include"
    }
    return lastChange ?? .min <= lastReturn ?? .min
      ? nil : "has changed since the return that the bundle includes"
  }

  private func requireIncluded(_ target: Target, _ manifest: Manifest) throws {
    guard case .stamp(let stamp) = try Provenance.read(from: target.store) else { return }
    let reason = Self.refusal(
      stamp, lastChange: try StoreDelta.lastChange(target.delta, in: target.store),
      lastReturn: try StoreDelta.lastReturn(in: target.store), manifest)
    if let reason { throw StoreDelta.Refusal(sentence: reason, isUnsent: true) }
  }

  private func targets(
    _ place: String, _ description: DeltaDescription, in work: String
  ) throws -> [Target] {
    let stores = description.stores
    guard !Files.isDirectory(place) else {
      return try stores.indices.map { index in
        try target("\(place)/\(stores[index].path)", index, description, in: work)
      }
    }
    // A single file has the path of its store, or is the only one.
    let named = stores.firstIndex { place.hasSuffix("/" + $0.path) }
    guard let index = named ?? (stores.count == 1 ? 0 : nil) else {
      throw BundleError.unsuitable(
        path: place, reason: "is none of \(stores.map(\.path).joined(separator: ", "))")
    }
    return [try target(place, index, description, in: work)]
  }

  /// Opens a store and compares its stamp and its changes with the delta.
  private func target(
    _ path: String, _ index: Int, _ description: DeltaDescription, in work: String
  ) throws -> Target {
    let (file, entry) = (description.stores[index], description.to.stores[index])
    let unpacked = "\(work)/\(index)"
    let delta = try StoreDelta.File(path: plain(unpacked, as: unpacked + ".plain"))
    guard delta.was == file.fromStampID, delta.now == entry.stampID else {
      throw BundleError.damaged(
        path: archive, file: file.name, reason: "is for another store than it says")
    }
    guard Files.exists(path) else {
      throw BundleError.unsuitable(path: path, reason: "is missing")
    }
    let original = try Files.status(path)
    let opened = try plain(path, as: unpacked + ".store")
    let store = try Store(edited: opened)
    guard case .stamp(let stamp) = try Provenance.read(from: store) else {
      throw BundleError.unsuitable(path: path, reason: "has no stamp of attache")
    }
    return Target(
      path: path, delta: delta, changes: file.changes, store: store, install: stamp.install,
      isCurrent: stamp.stampID == delta.now && delta.now != delta.was,
      copy: opened == path ? nil : (opened, original))
  }

  /// The path of a plain file, or of a sealed one's plain copy.
  private func plain(_ path: String, as copy: String) throws -> String {
    if try StoreFileHeader(path: path).isDatabase { return path }
    guard let key else {
      throw BundleError.invalid("\(path) is sealed, and no passphrase is given")
    }
    try SQLCipherFile.unseal(path, to: copy, key: key)
    return copy
  }

  /// Replaces a sealed store by its copy, sealed; a plain store was changed in place.
  private func replace(_ target: Target, _ key: SQLCipherKey) throws {
    guard let copy = target.copy else { return }
    let sealed = copy.path + ".sealed"
    try SQLCipherFile.seal(copy.path, to: sealed, key: key)
    guard try Files.status(target.path) == copy.original else {
      throw BundleError.unsuitable(path: target.path, reason: "was changed while it was read")
    }
    try DurableFile.rename(sealed, to: target.path)
  }

  private func refusing(_ path: String, _ body: () throws -> Void) throws {
    do { try body() } catch let refusal as StoreDelta.Refusal {
      throw BundleError.unsuitable(
        path: path, reason: refusal.sentence, isUnsent: refusal.isUnsent)
    }
  }
}
