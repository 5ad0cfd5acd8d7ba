import Archive
import Bundles
import Ledger
import System

/// The directories that returns pass through: `inbox` → `processing` → `done` or `quarantine`.
///
/// Every step is a rename, and the directory of a taken file is named by its content. `unfinished`
/// finds what an interrupted run left in `processing`.
package struct Inbox: Sendable {
  /// A file that may be taken.
  package struct Candidate: Sendable, Hashable {
    /// The path of the file.
    package let path: String
    /// The name of the file.
    package let name: String
    /// The kind of file, judging by its first bytes.
    package let kind: TakenReturn.Kind
    /// Whether a non-empty `-wal` is next to it.
    package let hasLog: Bool
    /// Whether it was unchanged for long enough.
    package let hasStoodStill: Bool
    /// Why it cannot be taken and stays in the inbox; nil if it can.
    package let refusal: Refusal?
  }

  /// The result of taking a file.
  package enum Taking: Sendable {
    /// The return is in `processing` now.
    case taken(TakenReturn)
    /// The same content was processed before; the new copy was removed.
    case duplicate(sha256: String)
    /// The file was removed meanwhile.
    case gone
    /// The file stays in the inbox, with the reason.
    case left(Refusal)
  }

  /// The directory in which returns arrive.
  package let directory: String
  /// The pipeline's directory under `snapshots/`, which contains `processing`, `done` and
  /// `quarantine`.
  package var root: String
  /// How many seconds a file must stay unchanged.
  package let settleSeconds: Int
  /// The maximum size of a store with its log.
  ///
  /// A bundle may be twice as large.
  package let fileBytes: Int64
  /// A file that changed less than this long before it is taken is read twice, because another
  /// change may not alter its modification time.
  ///
  /// File systems with a resolution of whole seconds may round to two.
  package var recentNanoseconds: Int64 = 5_000_000_000
  /// Called between the reading of a file and the check whether it changed, for tests of changing
  /// files.
  package var betweenReadings: @Sendable () throws -> Void = {}
  /// Called between the copy of a file and its removal, for tests of a newer file with its name.
  package var beforeRemoval: @Sendable () throws -> Void = {}

  /// Sets the directories, which are created on demand.
  package init(
    directory: String, root: String, settleSeconds: Int, fileBytes: Int64 = .max / 2
  ) {
    self.directory = directory
    self.root = root
    self.settleSeconds = settleSeconds
    self.fileBytes = fileBytes
  }

  /// The directory of taken returns before they are validated and read.
  package var processing: String { root + "/processing" }
  /// The directory of processed returns.
  package var done: String { root + "/done" }
  /// The directory of refused returns.
  package var quarantine: String { root + "/quarantine" }

  // MARK: Listing

  /// Returns the files in the inbox, oldest first: those that may be taken, and those that cannot
  /// be, with the reason.
  ///
  /// The returns of a phone should be recorded in the order in which it made them: `phone-10.db`
  /// comes after `phone-9.db`. Files with the same time are ordered by name. `now` is the wall
  /// clock's time, like the times of files.
  package func candidates(now milliseconds: Int64) throws(BundleError) -> [Candidate] {
    try BundleError.mapping {
      guard Files.isDirectory(directory) else { return [] }
      let (names, unreadable) = try Files.listing(directory)
      let present = Set(names)
      let misnamed = Inbox.misnamed(in: names)
      var found: [Candidate] = []
      for name in Self.byArrival(names, in: directory) {
        let path = directory + "/" + name
        if let refusal = misnamed[name] {
          found.append(left(path, refusal, now: milliseconds))
        } else if Inbox.isCandidate(name) {
          if let candidate = try candidate(path, now: milliseconds) { found.append(candidate) }
        } else if let store = Inbox.missingStore(of: name, present) {
          // If it were not reported, it would wait forever.
          found.append(left(path, .lonely(name, without: store), now: milliseconds))
        }
      }
      return found + unreadable.filter(Inbox.isCandidate).map(unnameable)
    }
  }

  /// Orders names of files by the time of the last change of each file and its log, then by name.
  private static func byArrival(_ names: [String], in directory: String) -> [String] {
    names.map { name in
      let times = ["", "-wal"].compactMap {
        try? Files.modificationTime(of: directory + "/" + name + $0)
      }
      return (time: times.max() ?? 0, name: name)
    }.sorted { ($0.time, $0.name) < ($1.time, $1.name) }.map(\.name)
  }

  /// Returns the missing store of a companion file; nil for any other file.
  private static func missingStore(of name: String, _ present: Set<String>) -> String? {
    guard !name.hasPrefix("."), let suffix = suffixes.first(where: name.lowercased().hasSuffix)
    else { return nil }
    let store = String(name.dropLast(suffix.count))
    return present.contains(store) ? nil : store
  }

  /// The refusals of companions whose names differ from those of their stores in upper and lower
  /// case, and of these stores, by name.
  ///
  /// Without its log, a store would lack its last edits.
  private static func misnamed(in names: [String]) -> [String: Refusal] {
    let companions = names.filter { !$0.hasPrefix(".") && isCompanion($0) }
    if companions.isEmpty { return [:] }
    let present = Set(names)
    let alike = Dictionary(grouping: names) { $0.lowercased() }
    var refusals: [String: Refusal] = [:]
    for name in companions {
      guard let suffix = suffixes.first(where: name.lowercased().hasSuffix) else { continue }
      let store = String(name.dropLast(suffix.count))
      if present.contains(store), name.hasSuffix(suffix) { continue }
      let stores = present.contains(store) ? [store] : alike[store.lowercased()] ?? []
      for store in stores {
        let refusal = Refusal.misnamed(name, right: store + suffix)
        (refusals[name], refusals[store]) = (refusal, refusal)
      }
    }
    return refusals
  }

  /// The candidate for a file that cannot be taken, and stays.
  private func left(_ path: String, _ refusal: Refusal, now: Int64?) -> Candidate {
    Candidate(
      path: path, name: Files.name(of: path), kind: .store, hasLog: false,
      hasStoodStill: hasStoodStill(path, now), refusal: refusal)
  }

  /// The candidate for a file that cannot be opened by the name that was read.
  private func unnameable(_ name: String) -> Candidate {
    Candidate(
      path: directory + "/" + name, name: name, kind: .store, hasLog: false, hasStoodStill: true,
      refusal: .unreadableName(name))
  }

  /// Returns the candidate for a named file, which need not stay unchanged first.
  package func candidate(named path: String) throws(BundleError) -> Candidate? {
    try BundleError.mapping {
      let names = Files.parent(of: path).flatMap { try? Files.list($0) } ?? []
      if let refusal = Inbox.misnamed(in: names)[Files.name(of: path)] {
        return left(path, refusal, now: nil)
      }
      return try candidate(path, now: nil)
    }
  }

  /// Whether a name could be that of a return: not hidden, not partly written, not a companion.
  package static func isCandidate(_ name: String) -> Bool {
    !name.hasPrefix(".") && !isUpload(name) && !isCompanion(name)
  }

  /// Whether a name is that of a companion of a store, in upper or lower case.
  package static func isCompanion(_ name: String) -> Bool {
    suffixes.contains(where: name.lowercased().hasSuffix)
  }

  /// Whether a name is that of an upload in progress.
  ///
  /// Such a file is left alone until it has its final name.
  package static func isUpload(_ name: String) -> Bool {
    name.hasSuffix(".tmp") || name.hasSuffix(".part")
  }

  /// The name suffixes of a store's companions.
  static let suffixes = ["-wal", "-shm", "-journal"]

  private func candidate(_ path: String, now: Int64?) throws -> Candidate? {
    guard let status = try? Files.status(path) else { return nil }
    let name = Files.name(of: path)
    func found(_ kind: TakenReturn.Kind, _ refusal: Refusal? = nil) -> Candidate {
      Candidate(
        path: path, name: name, kind: kind, hasLog: Inbox.log(of: path) != nil,
        hasStoodStill: hasStoodStill(path, now), refusal: refusal)
    }
    guard status.kind == .regular else {
      return found(.store, .notAFile(name, status.kind.words))
    }
    let kind: TakenReturn.Kind = Inbox.isArchive(path) ? .bundle : .store
    return found(kind, tooLarge(path, name, status.size, kind))
  }

  /// Refuses a file that is too large before it is read or copied, because it may be sparse.
  private func tooLarge(
    _ path: String, _ name: String, _ size: Int64, _ kind: TakenReturn.Kind
  ) -> Refusal? {
    let log = kind == .store ? (try? Files.status(path + "-wal").size) ?? 0 : 0
    let most = kind.mostBytes(fileBytes)
    guard size > most || log > most - size else { return nil }
    return .tooLargeToTake(name, than: most)
  }

  private static func isArchive(_ path: String) -> Bool {
    guard let file = try? Files.openRegular(path) else { return false }
    var head = [UInt8](repeating: 0, count: 4)
    let count = head.withUnsafeMutableBytes { raw in (try? file.read(into: raw)) ?? 0 }
    return ArchiveFormat(firstBytes: Array(head[..<count])) != nil
  }

  /// The `-wal` of a file, if it is not empty.
  static func log(of path: String) -> String? {
    let log = path + "-wal"
    guard let status = try? Files.status(log), status.kind == .regular, status.size > 0 else {
      return nil
    }
    return log
  }

  private func hasStoodStill(_ path: String, _ now: Int64?) -> Bool {
    guard let now else { return true }
    let wait = Int64(settleSeconds) * 1000
    return [path, path + "-wal"].allSatisfy { file in
      guard let time = try? Files.modificationTime(of: file) else { return true }
      // A time in the future means a wrong clock, not that the file is still being written.
      let age = now - time / 1_000_000
      return age >= wait || age < -wait
    }
  }
}
