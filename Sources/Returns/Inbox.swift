import Archive
import Bundles
import Ledger
import System

/// The directories through which returns go: `inbox` → `processing` → `done` or `quarantine`.
///
/// Every step is a rename, a taken file's directory is named by its content, and what an interrupted
/// run left in `processing` is found again by `unfinished`.
package struct Inbox: Sendable {
  /// A file that may be taken.
  package struct Candidate: Sendable, Hashable {
    /// The file.
    package let path: String
    /// Its name.
    package let name: String
    /// What it seems to be, by its first bytes.
    package let kind: TakenReturn.Kind
    /// Whether a `-wal` with something in it stands beside it.
    package let hasLog: Bool
    /// Whether it stood still for long enough.
    package let hasStoodStill: Bool
    /// Why it cannot be taken at all and stays where it is, if so.
    package let refusal: Refusal?
  }

  /// What taking a file came to.
  package enum Taking: Sendable {
    /// It is in `processing` now.
    case taken(TakenReturn)
    /// The same content was finished before; the new copy is gone.
    case duplicate(sha256: String)
    /// Somebody took it away meanwhile.
    case gone
    /// It stays where it is, and why.
    case left(Refusal)
  }

  /// Where returns arrive.
  package let directory: String
  /// The pipeline's directory under `snapshots/`, with `processing`, `done` and `quarantine`.
  package var root: String
  /// How long a file must stand still.
  package let settleSeconds: Int
  /// The largest store that is taken, with its log; a bundle may be twice as large.
  package let fileBytes: Int64
  /// A file that changed so short a time before it is taken is read twice: it may change again under the same time.
  ///
  /// File systems that keep whole seconds count by two.
  package var recentNanoseconds: Int64 = 5_000_000_000
  /// What happens between the reading of a file and the look whether it changed: for tests of files that change.
  package var betweenReadings: @Sendable () throws -> Void = {}
  /// What happens between the copy of a file and its removal: for tests of a newer file of its name.
  package var beforeRemoval: @Sendable () throws -> Void = {}

  /// Names the directories; they are made when they are needed.
  package init(
    directory: String, root: String, settleSeconds: Int, fileBytes: Int64 = .max / 2
  ) {
    self.directory = directory
    self.root = root
    self.settleSeconds = settleSeconds
    self.fileBytes = fileBytes
  }

  /// Where taken returns wait to be validated and read.
  package var processing: String { root + "/processing" }
  /// Where they are kept afterwards.
  package var done: String { root + "/done" }
  /// Where refused ones are kept.
  package var quarantine: String { root + "/quarantine" }

  // MARK: Looking

  /// What stands in the inbox, what came first before what came later: the files that may be taken, and what can never
  /// be, with the reason.
  ///
  /// A phone's hand-backs should be entered as it made them: `phone-10.db` comes after `phone-9.db`. Files of one time
  /// are ordered by name. `now` is the wall clock's, as the files' times are.
  package func candidates(now milliseconds: Int64) throws(BundleError) -> [Candidate] {
    try BundleError.mapping {
      guard Files.isDirectory(directory) else { return [] }
      let (names, unreadable) = try Files.listing(directory)
      let present = Set(names)
      var found: [Candidate] = []
      for name in Self.byArrival(names, in: directory) {
        let path = directory + "/" + name
        if Inbox.isCandidate(name) {
          if let candidate = try candidate(path, now: milliseconds) { found.append(candidate) }
        } else if let store = Inbox.missingStore(of: name, present) {
          found.append(lonely(path, store, now: milliseconds))
        }
      }
      return found + unreadable.filter(Inbox.isCandidate).map(unnameable)
    }
  }

  /// Names of files by the time of the last change to each, its log's too, and then by the name.
  private static func byArrival(_ names: [String], in directory: String) -> [String] {
    names.map { name in
      let times = ["", "-wal"].compactMap {
        try? Files.modificationTime(of: directory + "/" + name + $0)
      }
      return (time: times.max() ?? 0, name: name)
    }.sorted { ($0.time, $0.name) < ($1.time, $1.name) }.map(\.name)
  }

  /// The store that a companion without one belongs to; nil for anything else.
  private static func missingStore(of name: String, _ present: Set<String>) -> String? {
    guard !name.hasPrefix("."), let suffix = suffixes.first(where: name.hasSuffix) else {
      return nil
    }
    let store = String(name.dropLast(suffix.count))
    return present.contains(store) ? nil : store
  }

  /// A log without its store: passed over in silence it would wait for ever.
  private func lonely(_ path: String, _ store: String, now: Int64) -> Candidate {
    let name = Files.name(of: path)
    return Candidate(
      path: path, name: name, kind: .store, hasLog: false, hasStoodStill: hasStoodStill(path, now),
      refusal: Refusal(
        .alone, "\(name) belongs to \(store), which is not in the inbox",
        fix: "put the store in beside it, or take it out"))
  }

  /// What cannot be opened by the name that was read.
  private func unnameable(_ name: String) -> Candidate {
    Candidate(
      path: directory + "/" + name, name: name, kind: .store, hasLog: false, hasStoodStill: true,
      refusal: Refusal(
        .name, "the name \(name) in the inbox is not UTF-8", fix: "give the file another name"))
  }

  /// A file that somebody named: it counts as settled.
  package func candidate(named path: String) throws(BundleError) -> Candidate? {
    try BundleError.mapping { try candidate(path, now: nil) }
  }

  /// Whether a name could be a return's: not hidden, not half-written, not a companion of one.
  package static func isCandidate(_ name: String) -> Bool {
    !name.hasPrefix(".") && !isUpload(name) && !suffixes.contains(where: name.hasSuffix)
  }

  /// Whether a name says that the file is still being uploaded: it is left alone until it has its own.
  package static func isUpload(_ name: String) -> Bool {
    name.hasSuffix(".tmp") || name.hasSuffix(".part")
  }

  /// What the names of a store's companions end in.
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
      return found(
        .store,
        Refusal(
          .archive, "\(name) is \(status.kind.words) and no regular file",
          fix: "put the file itself into the inbox"))
    }
    let kind: TakenReturn.Kind = Inbox.isArchive(path) ? .bundle : .store
    return found(kind, tooLarge(path, name, status.size, kind))
  }

  /// Refuses what is too large before a byte of it is read or copied: it may be all holes.
  private func tooLarge(
    _ path: String, _ name: String, _ size: Int64, _ kind: TakenReturn.Kind
  ) -> Refusal? {
    let log = kind == .store ? (try? Files.status(path + "-wal").size) ?? 0 : 0
    let most = kind.mostBytes(fileBytes)
    guard size > most || log > most - size else { return nil }
    return Refusal(
      .tooLarge, "\(name) is larger than \(most >> 20) MiB and stays where it is",
      fix: "take it out of the inbox, or " + Refusal.raiseLimit)
  }

  private static func isArchive(_ path: String) -> Bool {
    guard let file = try? Files.openRegular(path) else { return false }
    var head = [UInt8](repeating: 0, count: 4)
    let count = head.withUnsafeMutableBytes { raw in (try? file.read(into: raw)) ?? 0 }
    return ArchiveFormat(firstBytes: Array(head[..<count])) != nil
  }

  /// The `-wal` of a file, if there is something in it.
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
      // A time in the future is a wrong clock, not a file that is still written.
      let age = now - time / 1_000_000
      return age >= wait || age < -wait
    }
  }
}
