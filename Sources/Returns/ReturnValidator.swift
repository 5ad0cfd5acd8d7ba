import Snapshots
import Archive
import Bundles
import Ledger
import SQLite
import SmartStore
import System

/// Validates that a taken return is a store or bundle of this pipeline.
///
/// Until it is validated, a return is untrusted input. It is read in a private directory, where its
/// `-wal` is merged into a copy and its header is checked. It is then opened with all of SQLite's
/// defences, its structure is checked, every object in its schema must be one that SmartStore
/// creates, and its stamp must have been issued by this pipeline.
package struct ReturnValidator: Sendable {
  /// The snapshot that a file without a stamp is assigned to.
  package struct AsSnapshot: Sendable, Hashable {
    /// The user's 18-character ID, or `global`.
    package var user: String
    /// The number of the generation.
    package var generation: Int
    /// The key that signed that generation's stamps, and the epoch that they name.
    package var key: [UInt8]
    package var epoch: Int?

    package init(user: String, generation: Int, key: [UInt8], epoch: Int? = nil) {
      self.user = user
      self.generation = generation
      (self.key, self.epoch) = (key, epoch)
    }
  }

  /// One store that the pipeline issues.
  package struct IssuedStore: Sendable, Hashable {
    /// Whether the store belongs to one user or to all.
    package var scope: StoreScope
    /// Its name in the pipeline file.
    package var storeName: String
    package var soups: [StoreConfig.Soup]

    package init(scope: StoreScope, storeName: String, soups: [StoreConfig.Soup]) {
      self.scope = scope
      self.storeName = storeName
      self.soups = soups
    }
  }

  /// The expected properties of a return.
  package struct Expectation: Sendable {
    /// The organization's 18-character ID.
    package var org: String
    /// The pipeline's name.
    package var pipeline: String
    /// The key of the pipeline's stamps.
    package var key: [UInt8]
    /// Whether a stamp was issued by another ledger of the pipeline: by a lost one that this one
    /// replaced, or before a recovery.
    package var isOfAnotherLedger: @Sendable (Provenance) -> Bool = { _ in false }
    /// Whether returns of other ledgers are accepted, because this ledger was recovered.
    package var isRecovered = false
    /// The users who have a snapshot, and `global`; nil to accept any user whose stamp is genuine.
    package var users: Set<String>?
    /// The stores that the pipeline issues.
    package var stores: [IssuedStore]
    /// The accepted kinds of returns.
    package var accepts: Set<TakenReturn.Kind>
    /// The limits of an archive.
    package var limits = InboxLimits().archive
    /// The maximum size of a file in bytes.
    package var fileBytes = InboxLimits().fileBytes
    /// The keys for sealed returns; empty if they are not accepted.
    package var unsealing: [SQLCipherKey] = []
    /// The snapshot to assign if a file lost its stamp.
    package var asSnapshot: AsSnapshot?

    /// Creates an expectation from its parts.
    package init(
      org: String, pipeline: String, key: [UInt8], users: Set<String>? = nil,
      stores: [IssuedStore], accepts: Set<TakenReturn.Kind> = [.bundle, .store],
      asSnapshot: AsSnapshot? = nil
    ) {
      self.org = org
      self.pipeline = pipeline
      self.key = key
      self.users = users
      self.stores = stores
      self.accepts = accepts
      self.asSnapshot = asSnapshot
    }
  }

  let expected: Expectation

  /// Creates a validator.
  package init(_ expected: Expectation) { self.expected = expected }

  /// Validates a taken return in `workDirectory`, which must be empty and private, and must exist
  /// as long as the validated stores are needed.
  ///
  /// Throws a `Refusal` if the return is faulty, and another error if this machine is, so a full
  /// disk quarantines nothing. `issued` returns the stores of the stamp's generation, if known,
  /// because the pipeline's own stores may have other names by now. `image` is the taken file in
  /// memory. If the file is one whole store, the image is read instead, and must exist until the
  /// stores are closed. If `open` is given, it keeps the stores open.
  package func validate(
    _ taken: TakenReturn, in workDirectory: String,
    image: UnsafeMutableRawBufferPointer? = nil, open: OpenStores? = nil,
    issued: (Provenance) throws -> [IssuedStore]? = { _ in nil }
  ) throws -> ValidatedReturn {
    let open = open ?? OpenStores()
    guard expected.accepts.contains(taken.kind) else {
      throw Refusal(
        .notAccepted,
        "\(taken.name) is a \(taken.kind.rawValue), which this pipeline does not accept",
        fix:
          "have the device send the other kind, or add this kind to inbox.accept in the pipeline file"
      )
    }
    let most = taken.kind.mostBytes(expected.fileBytes)
    guard try Files.size(of: taken.path) <= most else {
      throw Refusal.tooLarge(taken.name, than: most)
    }
    if let fault = taken.fault {
      throw Refusal(
        fault.hasPrefix(taken.name + "-wal") ? .log : .journal, fault,
        fix:
          "have the device send its store again, with its -wal if it has one, each as a plain file")
    }
    try Files.makeDirectory(workDirectory)
    switch taken.kind {
    case .store: return try proveStore(taken, workDirectory, image, open, issued)
    case .bundle: return try proveBundle(taken, workDirectory)
    }
  }

  // MARK: Stores and bundles

  private func proveStore(
    _ taken: TakenReturn, _ directory: String, _ image: UnsafeMutableRawBufferPointer?,
    _ open: OpenStores, _ known: (Provenance) throws -> [IssuedStore]?
  ) throws -> ValidatedReturn {
    if try Files.exists(taken.path + "-journal") && Files.size(of: taken.path + "-journal") > 0 {
      throw Refusal(
        .journal, "\(taken.name) has a rollback journal: its app was stopped during a change",
        fix: "open and close the store in the app, then return it again")
    }
    let copy = directory + "/0.db"
    if taken.hasLog {
      // Copied because merging the log writes to it.
      try Files.copy(taken.path, to: copy)
      try Files.copy(taken.path + "-wal", to: copy + "-wal")
    } else {
      try Files.linkOrCopy(taken.path, to: copy)
    }
    if Files.exists(taken.path + "-shm") { try Files.copy(taken.path + "-shm", to: copy + "-shm") }
    let examined = try examine(copy, name: taken.name, image: taken.hasLog ? nil : image)
    open.keep(examined.store)
    let stamp = examined.stamp
    let issued = try issuedStore(
      for: examined, among: try known(stamp) ?? expected.stores, name: taken.name)
    let validated = try examined.validated(issued, isUntouched: false)
    return ValidatedReturn(
      sha256: taken.sha256, sourceName: taken.name, stamp: stamp, platform: stamp.platform,
      stores: [validated], notes: examined.notes(taken.name))
  }

  private func proveBundle(
    _ taken: TakenReturn, _ directory: String
  ) throws -> ValidatedReturn {
    let (manifest, files) = try unpack(taken, directory)
    var stores: [ValidatedStore] = []
    var notes: [String] = []
    for file in files {
      let name = "\(taken.name): \(file.entry.path)"
      // Checked before the log is merged, because its content is not in the issued file.
      let isUntouched = file.sha256 == file.entry.sha256 && Inbox.log(of: file.path) == nil
      let examined = try examine(file.path, name: name)
      // One store at a time, because the memory that SQLite uses for several is not limited.
      defer { try? examined.store.close() }
      try compare(examined.stamp, file.entry, manifest, name)
      let issued = asConfigured(file.entry.scope, file.entry.storeName)
      stores.append(try examined.validated(issued, isUntouched: isUntouched))
      notes += examined.notes(name)
    }
    guard let first = stores.first(where: { $0.scope == .user }) ?? stores.first else {
      throw Refusal(
        .contents, "\(taken.name) contains no store", fix: "send the whole bundle")
    }
    return ValidatedReturn(
      sha256: taken.sha256, sourceName: taken.name, stamp: first.stamp,
      platform: manifest.platform, stores: stores, notes: notes)
  }

  private func unpack(
    _ taken: TakenReturn, _ directory: String
  ) throws -> (manifest: Manifest, files: [BundleReader.ReturnedFile]) {
    var limits = expected.limits
    limits.entryBytes = min(limits.entryBytes, expected.fileBytes)
    do {
      return try BundleReader.unpackReturn(taken.path, to: directory, limits: limits)
    } catch let error as ArchiveError where error.kind == .tooLarge {
      throw Refusal(
        .tooLarge, "\(taken.name): \(error.message)",
        fix: "raise inbox.limits in the pipeline file if it is genuine")
    } catch let error as ArchiveError where error.kind != .file {
      throw Refusal(
        .archive, "\(taken.name): \(error.message)", fix: "send the bundle again")
    } catch BundleError.notABundle(_, let reason) {
      throw Refusal(
        .notABundle, "\(taken.name) is not a bundle: \(reason)",
        fix:
          "send the issued manifest.json, as the archive's first file, followed by the stores at its "
          + "paths, or a bare store")
    } catch BundleError.newerFormat(_, let format) {
      throw Refusal(
        .notABundle, "\(taken.name) has format \(format), which this program does not support",
        fix: "use the program that created it, or a newer one")
    } catch BundleError.damaged(_, let file, let reason) {
      throw Refusal(
        .contents, "\(taken.name): \(file) \(reason)",
        fix: "send the issued manifest.json and the stores at its paths, nothing else")
    }
  }

  private func compare(
    _ stamp: Provenance, _ entry: StoreEntry, _ manifest: Manifest, _ name: String
  ) throws(Refusal) {
    let user = entry.scope == .global ? Provenance.globalUser : manifest.user
    // A phone has only one copy of the global store, and another user's bundle may have brought a
    // newer one.
    let isShared = entry.scope == .global && manifest.user != Provenance.globalUser
    let isOfTheManifest =
      entry.generation == manifest.generation && entry.stampID == manifest.stampID
      && stamp.stampID == entry.stampID && stamp.generation == entry.generation
    guard stamp.user == user else {
      throw Refusal(
        .contradiction,
        "\(name) has the stamp of the user \(stamp.user), and its manifest names the user \(user)",
        fix: "send each store with the manifest that it was issued with, or bare")
    }
    guard isShared || isOfTheManifest, stamp.org == manifest.org,
      stamp.pipeline == manifest.pipeline, stamp.platform == manifest.platform
    else {
      throw Refusal(
        .contradiction, "\(name) has the stamp of a bundle other than its manifest",
        fix: "send each store with the manifest that it was issued with, or bare")
    }
  }

  /// The store as currently configured; without soups if the pipeline no longer has one of that
  /// name.
  private func asConfigured(_ scope: StoreScope, _ name: String) -> IssuedStore {
    expected.stores.first { $0.scope == scope && $0.storeName == name }
      ?? IssuedStore(scope: scope, storeName: name, soups: [])
  }

  /// Identifies the store of a bare file: among the stores of its scope of which it has every soup,
  /// the one with the most soups.
  ///
  /// Rows are identified by their store, among other things. A file that could be several stores is
  /// refused, because a wrong guess could send its edits twice, or resolve open edits of another
  /// store.
  private func issuedStore(
    for examined: ExaminedStore, among stores: [IssuedStore], name: String
  ) throws -> IssuedStore {
    let scope: StoreScope = examined.stamp.user == Provenance.globalUser ? .global : .user
    let soups = Set(examined.soups.map(\.soupName))
    let ranked = stores.filter { $0.scope == scope }
      .map { store in
        let names = Set(store.soups.map(\.soupName))
        let shared = soups.intersection(names).count
        return (store: store, isWhole: shared == names.count, shared: shared)
      }
      .sorted { ($0.isWhole ? 1 : 0, $0.shared) > ($1.isWhole ? 1 : 0, $1.shared) }
    guard let best = ranked.first else {
      throw Refusal(
        .contradiction, "\(name) is a \(scope.rawValue) store, and the pipeline issues none",
        fix: "add the store to the pipeline file again, or return it to the pipeline that issued it"
      )
    }
    guard best.shared > 0 else {
      throw Refusal(
        .contradiction, "\(name) has none of the soups of the pipeline's \(scope.rawValue) stores",
        fix: "if it belongs to another pipeline, ingest it there and discard it here; if these "
          + "soups were removed from the schema, add them again")
    }
    let tied = ranked.filter { $0.isWhole == best.isWhole && $0.shared == best.shared }
    guard tied.count == 1 else {
      let names = tied.map(\.store.storeName).sorted().joined(separator: ", ")
      throw Refusal(
        .contradiction, "\(name) could be any of these stores: \(names)",
        fix: "send the whole bundle, which identifies each store")
    }
    return asConfigured(best.store.scope, best.store.storeName)
  }
}
