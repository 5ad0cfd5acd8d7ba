import Archive
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
    package let isSettled: Bool
    /// Why it cannot be taken at all, if so.
    package let refusal: Refusal?
  }

  /// What taking a file came to.
  package enum Taking: Sendable {
    /// It is in `processing` now.
    case taken(TakenReturn)
    /// The same content was finished before; the new copy is gone.
    case duplicate(sha256: String)
    /// Somebody took or changed it meanwhile.
    case gone
  }

  /// Where returns arrive.
  package let directory: String
  /// The pipeline's directory under `snapshots/`, with `processing`, `done` and `quarantine`.
  package let root: String
  /// How long a file must stand still.
  package let settleSeconds: Int
  /// The largest store that is taken, with its log; a bundle may be twice as large.
  package let fileBytes: Int64

  /// Names the directories; they are made when they are needed.
  package init(
    directory: String, root: String, settleSeconds: Int = 60, fileBytes: Int64 = .max / 2
  ) {
    self.directory = directory
    self.root = root
    self.settleSeconds = settleSeconds
    self.fileBytes = fileBytes
  }

  /// Where taken returns wait to be proved and read.
  package var processing: String { root + "/processing" }
  /// Where they are kept afterwards.
  package var done: String { root + "/done" }
  /// Where refused ones are kept.
  package var quarantine: String { root + "/quarantine" }

  // MARK: Looking

  /// The files that may be taken, by name.
  ///
  /// `now` is the wall clock's, as the files' times are.
  package func candidates(now milliseconds: Int64) throws(BundleError) -> [Candidate] {
    try BundleError.mapping {
      guard Files.isDirectory(directory) else { return [] }
      return try Files.list(directory).compactMap { name in
        guard Inbox.isCandidate(name) else { return nil }
        return try candidate(directory + "/" + name, now: milliseconds)
      }
    }
  }

  /// A file that somebody named: it counts as settled.
  package func candidate(named path: String) throws(BundleError) -> Candidate? {
    try BundleError.mapping { try candidate(path, now: nil) }
  }

  /// Whether a name could be a return's: not hidden, not half-written, not a companion of one.
  static func isCandidate(_ name: String) -> Bool {
    !name.hasPrefix(".") && !name.hasSuffix(".tmp") && !name.hasSuffix(".part")
      && !name.hasSuffix("-wal") && !name.hasSuffix("-shm") && !name.hasSuffix("-journal")
  }

  private func candidate(_ path: String, now: Int64?) throws -> Candidate? {
    guard let status = try? Files.status(path), status.kind != .directory else { return nil }
    let name = Files.name(of: path)
    func found(_ kind: TakenReturn.Kind, _ refusal: Refusal? = nil) -> Candidate {
      Candidate(
        path: path, name: name, kind: kind, hasLog: Inbox.log(of: path) != nil,
        isSettled: isSettled(path, now), refusal: refusal)
    }
    guard status.kind == .regular else {
      return found(
        .store,
        Refusal(
          .archive, "\(name) is no regular file", mend: "put the file itself into the inbox"))
    }
    let kind: TakenReturn.Kind = Inbox.isArchive(path) ? .bundle : .store
    return found(kind, tooLarge(path, name, status.size, kind))
  }

  /// Refuses what is too large before a byte of it is read or copied: it may be all holes.
  private func tooLarge(
    _ path: String, _ name: String, _ size: Int64, _ kind: TakenReturn.Kind
  ) -> Refusal? {
    let log = kind == .store ? (try? Files.status(path + "-wal").size) ?? 0 : 0
    let most = kind == .store ? fileBytes : fileBytes * 2
    guard size > most || log > most - size else { return nil }
    return Refusal(
      .tooLarge, "\(name) is larger than \(most >> 20) MiB and stays where it is",
      mend: "take it out of the inbox, or raise inbox.limits.fileMiB if it is genuine")
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

  private func isSettled(_ path: String, _ now: Int64?) -> Bool {
    guard let now else { return true }
    let wait = Int64(settleSeconds) * 1000
    return [path, path + "-wal"].allSatisfy { file in
      guard let time = try? Files.modificationTime(of: file) else { return true }
      // A time in the future is a wrong clock, not a file that is still written.
      let age = now - time / 1_000_000
      return age >= wait || age < -wait
    }
  }

  // MARK: Moving

  /// Takes a candidate into `processing`.
  ///
  /// With `keepsOriginal` the file is copied, for one that somebody named outside the inbox.
  package func take(
    _ candidate: Candidate, now milliseconds: Int64, keepsOriginal: Bool = false
  ) throws(BundleError) -> Taking {
    try BundleError.mapping {
      let log = candidate.kind == .store ? Inbox.log(of: candidate.path) : nil
      guard Files.exists(candidate.path) else { return .gone }
      let sha256 = try TakenReturn.digest(candidate.path, log: log)
      if Files.exists("\(done)/\(sha256)") || Files.exists("\(processing)/\(sha256)") {
        if !keepsOriginal { try discard(candidate.path) }
        return .duplicate(sha256: sha256)
      }
      let temporary = DurableFile.temporaryName(for: processing + "/x")
      try Files.makeDirectory(temporary)
      let taken = TakenReturn(
        sha256: sha256, name: candidate.name, arrived: milliseconds, kind: candidate.kind,
        hasLog: log != nil, directory: temporary)
      try DurableFile.write(taken.note, to: temporary + "/" + TakenReturn.noteName)
      // Copied first and removed last: whatever dies in between, the inbox still has all of it, and
      // the next run finds the content taken already.
      try Files.copy(candidate.path, to: taken.path)
      if let log { try Files.copy(log, to: taken.path + "-wal") }
      // For the quarantine: a store with a journal is refused, and nothing of it may get lost.
      let journal = candidate.path + "-journal"
      if candidate.kind == .store, Files.exists(journal) {
        try Files.copy(journal, to: taken.path + "-journal")
      }
      guard try TakenReturn.digest(taken.path, log: log.map { _ in taken.path + "-wal" }) == sha256
      else {
        try Files.remove(temporary)
        return .gone
      }
      let final = "\(processing)/\(sha256)"
      try DurableFile.publishDirectory(temporary: temporary, final: final)
      if !keepsOriginal { try discard(candidate.path) }
      return .taken(taken.moved(to: final))
    }
  }

  /// Removes a file that is taken.
  ///
  /// It leaves the candidates first and in one step: alone, without its log, it would be an older
  /// state of its device; and a log alone would be taken for that of the next file of the name.
  private func discard(_ path: String) throws {
    let place = Files.parent(of: path) ?? "."
    let marker = place + "/" + Inbox.marker + Files.name(of: path)
    try Files.rename(path, to: marker)
    try DurableFile.synchronize(directory: place)
    try removeCompanions(of: path)
    try Files.remove(marker)
    try DurableFile.synchronize(directory: place)
  }

  /// What the name of a taken file begins with while its companions are removed.
  private static let marker = ".taken-"

  private func removeCompanions(of path: String) throws {
    for companion in ["-wal", "-shm", "-journal"] { try Files.remove(path + companion) }
  }

  /// Ends what an interrupted run began to remove.
  private func removeTaken() throws {
    guard Files.isDirectory(directory) else { return }
    for name in try Files.list(directory) where name.hasPrefix(Inbox.marker) {
      let path = directory + "/" + name.dropFirst(Inbox.marker.count)
      // With another file of the name the companions may be its own.
      if !Files.exists(path) { try removeCompanions(of: path) }
      try Files.remove(directory + "/" + name)
    }
  }

  /// What an interrupted run left in `processing`, oldest first; half-made directories are removed.
  package func unfinished() throws(BundleError) -> [TakenReturn] {
    try BundleError.mapping {
      try removeTaken()
      guard Files.isDirectory(processing) else { return [] }
      var found: [TakenReturn] = []
      for name in try Files.list(processing) {
        let directory = processing + "/" + name
        if name.hasPrefix(".tmp-") {
          try Files.remove(directory)
        } else if let taken = TakenReturn(directory: directory) {
          found.append(taken)
        }
      }
      return found.sorted { ($0.arrived, $0.sha256) < ($1.arrived, $1.sha256) }
    }
  }

  /// Keeps a return whose edits are all in the ledger.
  @discardableResult
  package func finish(_ taken: TakenReturn) throws(BundleError) -> TakenReturn {
    try BundleError.mapping {
      // Refused before, and proved since the pipeline was mended.
      for name in [taken.sha256, taken.sha256 + ".reason.json"] {
        try Files.remove(quarantine + "/" + name)
      }
    }
    return try move(taken, to: done)
  }

  /// Puts a return aside with the reason beside it.
  @discardableResult
  package func quarantine(
    _ taken: TakenReturn, _ refusal: Refusal, now milliseconds: Int64
  ) throws(BundleError) -> TakenReturn {
    try BundleError.mapping {
      try Files.makeDirectory(quarantine)
      try DurableFile.write(
        refusal.reason(of: taken, at: milliseconds),
        to: "\(quarantine)/\(taken.sha256).reason.json")
    }
    return try move(taken, to: quarantine)
  }

  private func move(_ taken: TakenReturn, to place: String) throws(BundleError) -> TakenReturn {
    try BundleError.mapping {
      try Files.makeDirectory(place)
      let final = "\(place)/\(taken.sha256)"
      // The same content again, refused again: the copy that is there is this one.
      if Files.exists(final) {
        try Files.remove(taken.directory)
      } else {
        try DurableFile.move(taken.directory, toNew: final)
      }
      return taken.moved(to: final)
    }
  }
}
