import Snapshots
import Archive
import Bundles
import Ledger
import SQLite
import SmartStore
import System

/// Validates that a taken return is what it says: a store of this pipeline, and nothing else.
///
/// A file from outside is hostile until then. It is read in a private directory, its `-wal` is
/// folded into a copy there, its header is looked at, it is opened with every defence that SQLite has, its
/// structure is checked, every object of its schema must be one that SmartStore makes, and its stamp
/// must be one that this pipeline issued.
package struct ReturnValidator: Sendable {
  /// The one that lost its stamp is to be taken for this one.
  package struct AsSnapshot: Sendable, Hashable {
    /// The user's 18-character id, or `global`.
    package var user: String
    /// The generation.
    package var generation: Int
    /// What the stamps of that generation were made with, and the epoch that they name.
    package var key: [UInt8]
    package var epoch: Int?

    /// Names a snapshot's generation.
    package init(user: String, generation: Int, key: [UInt8], epoch: Int? = nil) {
      self.user = user
      self.generation = generation
      (self.key, self.epoch) = (key, epoch)
    }
  }

  /// One store that the pipeline issues.
  package struct IssuedStore: Sendable, Hashable {
    /// Whose it is.
    package var scope: StoreScope
    /// Its name in the pipeline file.
    package var storeName: String
    /// Its soups.
    package var soups: [StoreConfig.Soup]

    /// Names a store.
    package init(scope: StoreScope, storeName: String, soups: [StoreConfig.Soup]) {
      self.scope = scope
      self.storeName = storeName
      self.soups = soups
    }
  }

  /// What a return is measured by.
  package struct Expectation: Sendable {
    /// The organization's 18-character id.
    package var org: String
    /// The pipeline's name.
    package var pipeline: String
    /// The key of the pipeline's stamps.
    package var key: [UInt8]
    /// Says whether another ledger of the pipeline has issued a stamp: this one took the place of one that was
    /// lost, or was recovered since.
    package var isOfAnotherLedger: @Sendable (Provenance) -> Bool = { _ in false }
    /// Whether returns of other ledgers are taken: somebody has recovered this one.
    package var isRecovered = false
    /// Users who have a snapshot here, and `global`; nil accepts any whose stamp is genuine.
    package var users: Set<String>?
    /// The stores that the pipeline issues.
    package var stores: [IssuedStore]
    /// The kinds of return that it takes.
    package var accepts: Set<TakenReturn.Kind>
    /// What an archive may hold.
    package var limits = InboxLimits().archive
    /// Bytes of the largest file.
    package var fileBytes = InboxLimits().fileBytes
    /// What opens sealed returns; empty where they are not taken.
    package var unsealing: [SQLCipherKey] = []
    /// For a file that lost its stamp.
    package var asSnapshot: AsSnapshot?

    /// Makes an expectation of its parts.
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

  /// Prepares proofs.
  package init(_ expected: Expectation) { self.expected = expected }

  /// Validates a taken return in `workDirectory`, which must be empty and private, and stays as long as
  /// the validated stores are needed.
  ///
  /// Throws a `Refusal` for what is wrong with the return, and another error for what is wrong here:
  /// a full disk quarantines nothing. `issued` answers the stores of the generation that a stamp names, where that
  /// is known: the pipeline's own may have other names by now. `image` is what was taken, in memory: it is read in
  /// place of the file where that is one whole store, and has to stay until the stores are closed. In `open` they
  /// stay open.
  package func validate(
    _ taken: TakenReturn, in workDirectory: String,
    image: UnsafeMutableRawBufferPointer? = nil, open: OpenStores? = nil,
    issued: (Provenance) throws -> [IssuedStore]? = { _ in nil }
  ) throws -> ValidatedReturn {
    let open = open ?? OpenStores()
    guard expected.accepts.contains(taken.kind) else {
      throw Refusal(
        .notAccepted,
        "\(taken.name) is a \(taken.kind.rawValue), which this pipeline does not take",
        fix: "hand back the other kind, or add it to inbox.accept in the pipeline file")
    }
    let most = taken.kind.mostBytes(expected.fileBytes)
    guard try Files.size(of: taken.path) <= most else {
      throw Refusal.tooLarge(taken.name, than: most)
    }
    if let fault = taken.fault {
      throw Refusal(
        fault.hasPrefix(taken.name + "-wal") ? .log : .journal, fault,
        fix: "hand the store back again, with its -wal if it has one, each as a plain file")
    }
    try Files.makeDirectory(workDirectory)
    switch taken.kind {
    case .store: return try proveStore(taken, workDirectory, image, open, issued)
    case .bundle: return try proveBundle(taken, workDirectory)
    }
  }

  // MARK: The two kinds

  private func proveStore(
    _ taken: TakenReturn, _ directory: String, _ image: UnsafeMutableRawBufferPointer?,
    _ open: OpenStores, _ known: (Provenance) throws -> [IssuedStore]?
  ) throws -> ValidatedReturn {
    if try Files.exists(taken.path + "-journal") && Files.size(of: taken.path + "-journal") > 0 {
      throw Refusal(
        .journal, "\(taken.name) has a rollback journal beside it: its app was stopped in a change",
        fix: "open and close the store in the app, then hand it back again")
    }
    let copy = directory + "/0.db"
    if taken.hasLog {
      // It is written when the log is folded into it.
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
      // Before the log is folded in: what is in it is not in the issued file.
      let isUntouched = file.sha256 == file.entry.sha256 && Inbox.log(of: file.path) == nil
      let examined = try examine(file.path, name: name)
      // Each by itself: what SQLite may hold for them all together nobody has bounded.
      defer { try? examined.store.close() }
      try compare(examined.stamp, file.entry, manifest, name)
      let issued = asConfigured(file.entry.scope, file.entry.storeName)
      stores.append(try examined.validated(issued, isUntouched: isUntouched))
      notes += examined.notes(name)
    }
    guard let first = stores.first(where: { $0.scope == .user }) ?? stores.first else {
      throw Refusal(
        .contents, "\(taken.name) has no store in it", fix: "hand back the whole bundle")
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
        .archive, "\(taken.name): \(error.message)", fix: "hand the bundle back again")
    } catch BundleError.notABundle(_, let reason) {
      throw Refusal(
        .notABundle, "\(taken.name) is no bundle: \(reason)",
        fix:
          "hand back the issued manifest.json, as the archive's first file, and the stores at its "
          + "paths behind it, or a bare store")
    } catch BundleError.newerFormat(_, let format) {
      throw Refusal(
        .notABundle, "\(taken.name) has format \(format), which this program does not know",
        fix: "use the program that made it, or a newer one")
    } catch BundleError.damaged(_, let file, let reason) {
      throw Refusal(
        .contents, "\(taken.name): \(file) \(reason)",
        fix: "hand back the issued manifest.json and the stores at its paths, nothing else")
    }
  }

  private func compare(
    _ stamp: Provenance, _ entry: StoreEntry, _ manifest: Manifest, _ name: String
  ) throws(Refusal) {
    let user = entry.scope == .global ? Provenance.globalUser : manifest.user
    // What users share lies at one place of a phone: another user's bundle may have brought a later one.
    let isShared = entry.scope == .global && manifest.user != Provenance.globalUser
    let isOfTheManifest =
      entry.generation == manifest.generation && entry.stampID == manifest.stampID
      && stamp.stampID == entry.stampID && stamp.generation == entry.generation
    guard stamp.user == user else {
      throw Refusal(
        .contradiction,
        "\(name) has the stamp of the user \(stamp.user), and its manifest is of the user \(user)",
        fix: "hand back each store with the manifest that it was issued with, or bare")
    }
    guard isShared || isOfTheManifest, stamp.org == manifest.org,
      stamp.pipeline == manifest.pipeline, stamp.platform == manifest.platform
    else {
      throw Refusal(
        .contradiction, "\(name) has the stamp of another bundle than its manifest says",
        fix: "hand back each store with the manifest it was issued with, or bare")
    }
  }

  /// A store as the pipeline has it by now; without a soup where it has none of that name any more.
  private func asConfigured(_ scope: StoreScope, _ name: String) -> IssuedStore {
    expected.stores.first { $0.scope == scope && $0.storeName == name }
      ?? IssuedStore(scope: scope, storeName: name, soups: [])
  }

  /// The store that a bare file is: of its scope, the one of which it lacks no soup, and of such the one with
  /// the most soups of it.
  ///
  /// The store is part of what a row is known by: one that could be several is refused, for a guess could send
  /// what it holds twice, or close what another store has left open.
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
        fix: "add the store to the pipeline file again, or hand it to the pipeline that issued it")
    }
    guard best.shared > 0 else {
      throw Refusal(
        .contradiction, "\(name) has none of the soups of the pipeline's \(scope.rawValue) stores",
        fix: "add its soups to the store's schema again, or hand back the whole bundle")
    }
    let tied = ranked.filter { $0.isWhole == best.isWhole && $0.shared == best.shared }
    guard tied.count == 1 else {
      let names = tied.map(\.store.storeName).sorted().joined(separator: ", ")
      throw Refusal(
        .contradiction, "\(name) could be each of these stores: \(names)",
        fix: "hand back the whole bundle, which says which store is which")
    }
    return asConfigured(best.store.scope, best.store.storeName)
  }
}
