import Snapshots
import Bundles
import Ledger
import MobileSync
import SQLite
import SmartStore
import System

/// A store file that passed all of its own checks.
struct ExaminedStore {
  let store: Store
  let stamp: Provenance
  let soups: [StoreConfig.Soup]
  /// Soups whose alteration was interrupted on the device, and was completed in the copy.
  let finished: [String]
  /// Whether its log ended with an uncommitted change.
  let hasUnfinishedLog: Bool

  /// The soups of Mobile Sync and of attache, which an app need not name.
  private static let housekeeping = Set(StoreConfig.reserved.keys).union([
    MetadataTarget.soupName, LayoutTarget.soupName,
  ])

  /// Returns notes about the store for the operator.
  func notes(_ name: String) -> [String] {
    let log =
      hasUnfinishedLog
      ? [
        "\(name): its -wal ends with a change that was never committed; everything before it was read"
      ] : []
    return log
      + finished.map {
        "\(name): the device was interrupted while changing the indexes of soup \"\($0)\"; the change was "
          + "completed in the copy that is read"
      }
  }

  func validated(_ issued: ReturnValidator.IssuedStore, isUntouched: Bool) throws -> ValidatedStore
  {
    let present = Dictionary(soups.map { ($0.soupName, $0) }) { first, _ in first }
    let names = Set(issued.soups.map(\.soupName))
    let reindexed = issued.soups.filter { soup in
      present[soup.soupName].map { $0.indexes != soup.indexes } ?? false
    }.map(\.soupName).sorted()
    return ValidatedStore(
      scope: issued.scope, storeName: issued.storeName, path: store.path, proof: store.proof,
      stamp: stamp,
      unknownSoups: present.keys.filter {
        !names.contains($0) && !ExaminedStore.housekeeping.contains($0)
      }.sorted(),
      missingSoups: names.filter { present[$0] == nil }.sorted(),
      reindexedSoups: reindexed,
      indexes: reindexed.reduce(into: [:]) { $0[$1] = present[$1]?.indexes },
      isUntouched: isUntouched)
  }
}

extension ReturnValidator {
  /// Merges the log of a private copy, and checks the file and its stamp.
  ///
  /// A file without a log is only read, because it may be a hard link to the file that is kept. If
  /// given, `image` is read instead of the file.
  func examine(
    _ path: String, name: String, image: UnsafeMutableRawBufferPointer? = nil
  ) throws -> ExaminedStore {
    let size = try Files.size(of: path)
    guard size <= expected.fileBytes else {
      throw Refusal.tooLarge(name, than: expected.fileBytes)
    }
    let wasSealed = try unseal(path, name: name)
    let isWhole = image.map { $0.count == size } ?? false
    try checkHeader(path, name)
    let hadLog = Inbox.log(of: path) != nil
    let index = try WriteAheadIndex(path: path + "-shm")
    // SQLite creates its own.
    try Files.remove(path + "-shm")
    let hasUnfinished = try foldLog(of: path, name, index)
    if let words = try StoreFileHeader(path: path).shortage(of: Files.size(of: path)) {
      throw Refusal.unsound(name, words)
    }
    // An empty log, and the file that SQLite created with it.
    for companion in ["-wal", "-shm"] { try Files.remove(path + companion) }
    let (store, finished) = try refusingDamage(name) {
      try Store.finishingAlterations(
        untrusted: path, image: isWhole && !wasSealed && !hadLog ? image : nil)
    }
    do {
      let stamp = try stamp(of: store, name)
      let soups = try refusingDamage(name) {
        try store.soupNames().map {
          StoreConfig.Soup(soupName: $0, indexes: try store.indexSpecs(of: $0))
        }
      }
      return ExaminedStore(
        store: store, stamp: stamp, soups: soups, finished: finished,
        hasUnfinishedLog: hasUnfinished)
    } catch {
      // Report the refusal instead.
      try? store.close()
      throw error
    }
  }

  func checkHeader(_ path: String, _ name: String) throws {
    if try Files.status(path).size == 0 { throw Refusal.empty(name) }
    let header = try StoreFileHeader(path: path)
    guard header.isDatabase else {
      throw Refusal.notADatabase(name)
    }
    if let fault = header.fault {
      throw Refusal.unsound(name, "has \(fault) in its header")
    }
  }

  /// Converts the errors that a faulty file causes in lower layers into a refusal.
  ///
  /// Other errors are rethrown.
  func refusingDamage<T>(_ name: String, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SQLiteError where !error.isOfTheMachine {
      throw Refusal.damaged(name, error.message)
    } catch StoreError.database(_, let code, let message)
      where !SQLiteError(code: code, path: "").isOfTheMachine
    {
      throw Refusal.damaged(name, message)
    } catch StoreError.notAStore(_, let reason) {
      throw Refusal.notAStore(name, reason)
    } catch StoreError.damaged(_, let reason) {
      throw Refusal.damaged(name, reason)
    } catch SnapshotError.store(let error) {
      return try refusingDamage(name) { throw error }
    }
  }

  // MARK: Stamp

  private func stamp(of store: Store, _ name: String) throws -> Provenance {
    let stamp: Provenance
    switch try refusingDamage(name, { try Provenance.read(from: store) }) {
    case .stamp(let found):
      stamp = found
    case .unreadable(let reason):
      throw Refusal(
        .forgedStamp, "\(name): \(reason)",
        fix: "leave the soup \(Provenance.soupName) unchanged")
    case .none:
      guard let snapshot = expected.asSnapshot else {
        throw Refusal(
          .noStamp, "\(name) has no stamp in the soup \(Provenance.soupName)",
          fix: "name its generation: attache ingest PIPELINE --generation SNAPSHOT/GENERATION FILE")
      }
      return Provenance(
        org: expected.org, user: snapshot.user, pipeline: expected.pipeline,
        generation: snapshot.generation, platform: store.platform, key: snapshot.key,
        epoch: snapshot.epoch)
    }
    try check(stamp, store.platform, name)
    return stamp
  }

  private func check(_ stamp: Provenance, _ platform: Platform, _ name: String) throws(Refusal) {
    let isEarlier = expected.isOfAnotherLedger(stamp)
    // In an earlier epoch the org may have been another one, such as a sandbox before its refresh.
    guard stamp.org == expected.org || isEarlier && expected.isRecovered else {
      throw Refusal(
        .otherOrg, "\(name) belongs to the organization \(stamp.org), not to \(expected.org)",
        fix: "put it into the inbox of a pipeline of that organization")
    }
    guard stamp.pipeline == expected.pipeline else {
      throw Refusal(
        .otherPipeline, "\(name) was issued by the pipeline \(stamp.pipeline)",
        fix: "put it into that pipeline's inbox")
    }
    if isEarlier, !expected.isRecovered {
      throw Refusal(
        .earlierLedger,
        "\(name) comes from a bundle of this pipeline that was issued before its ledger was lost",
        fix:
          "restore the lost ledger; or run attache recover PIPELINE, which looks up what may have been sent, "
          + "and then attache returns release PIPELINE NAME")
    }
    guard isEarlier || stamp.isGenuine(key: expected.key) else {
      throw Refusal(
        .forgedStamp, "\(name) has a stamp that was not made with this data directory's stamp.key",
        fix: "check its source; if another data directory issued it, ingest it there (--data DIR)")
    }
    guard stamp.platform == platform else {
      throw Refusal(
        .otherPlatform,
        "\(name) has the layout of \(platform.rawValue) and the stamp of \(stamp.platform.rawValue)",
        fix: "have the device send the store that it was issued")
    }
    if let users = expected.users, !users.contains(stamp.user) {
      throw Refusal(
        .otherUser,
        "\(name) belongs to the user \(stamp.user), who has no snapshot in this pipeline",
        fix: "check the pipeline's users, or put it into the inbox of the right pipeline")
    }
  }
}
