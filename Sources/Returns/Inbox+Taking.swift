import Bundles
import Crypto
import Ledger
import System

extension Inbox {
  /// Which file a name stood for, and in what state.
  private struct Likeness: Equatable {
    private var parts: [Part?]

    private struct Part: Equatable {
      var device: UInt64
      var inode: UInt64
      var size: Int64
      var modified: Int64
    }

    /// A candidate under a name that it may have got since, with what lies beside it under its own.
    init(of candidate: Candidate, at path: String? = nil) {
      let companions =
        candidate.kind == .store ? ["-wal", "-journal"].map { candidate.path + $0 } : []
      parts = ([path ?? candidate.path] + companions).map { path in
        (try? Files.status(path)).map {
          Part(
            device: $0.device, inode: $0.inode, size: $0.size, modified: $0.modifiedNanoseconds)
        }
      }
    }
  }

  /// What lies beside a store that is taken.
  private struct Companions {
    /// The `-wal`, if there is something in it.
    var log: String?
    /// The `-journal`.
    var journal: String?
    /// What is wrong with one of them, so that the store cannot be believed without it.
    var fault: String?

    init(of candidate: Candidate) {
      guard candidate.kind == .store else { return }
      log = Inbox.log(of: candidate.path)
      for suffix in ["-wal", "-journal"] {
        guard let kind = try? Files.status(candidate.path + suffix).kind else { continue }
        if kind != .regular {
          fault = "\(candidate.name)\(suffix) is \(kind.words) and no regular file"
        } else if suffix == "-journal" {
          journal = candidate.path + suffix
        }
      }
    }
  }

  /// Takes a candidate into `processing`.
  ///
  /// `order` is the time of the run that takes it, by which returns are ordered where this machine's clock goes
  /// back. With `keepsOriginal` the file is copied, for one that somebody named outside the inbox. `isKnown` says
  /// of a digest in `done` whether the ledger has it: one that was restored from a backup may not. Throws
  /// for trouble of this machine alone: what cannot be read or removed is said in the answer.
  package func take(
    _ candidate: Candidate, now milliseconds: Int64, order: Int64? = nil,
    keepsOriginal: Bool = false,
    isKnown: (_ sha256: String) throws -> Bool = { _ in true }
  ) throws(BundleError) -> Taking {
    if let refusal = candidate.refusal { return .left(refusal) }
    return try BundleError.mapping {
      do {
        return try takeOver(
          candidate, (milliseconds, order ?? milliseconds), keepsOriginal, isKnown)
      } catch let error as SystemError {
        guard Files.exists(candidate.path) else { return .gone }
        // The disk may be ours, or the one that the inbox is on: ours shows it in other places.
        guard !error.isOfTheMachine || error.isOf(candidate.path) else { throw error }
        return .left(
          Refusal(
            .unreadable, "\(candidate.name) cannot be taken: \(error)",
            fix: "let the user who runs attache read it, or take it out of the inbox"))
      }
    }
  }

  private func takeOver(
    _ candidate: Candidate, _ time: (wall: Int64, order: Int64), _ keepsOriginal: Bool,
    _ isKnown: (_ sha256: String) throws -> Bool
  ) throws -> Taking {
    let likeness = Likeness(of: candidate)
    let companions = Companions(of: candidate)
    // Its digest is known once it was read, and it is read once.
    var taken = TakenReturn(
      sha256: "", name: candidate.name, arrived: time.wall, order: time.order,
      kind: candidate.kind, hasLog: companions.log != nil, fault: companions.fault,
      directory: DurableFile.temporaryName(for: processing + "/x"))
    do {
      guard try copy(candidate, companions, as: &taken) else {
        try Files.remove(taken.directory)
        return Files.exists(candidate.path) ? .left(changing(candidate)) : .gone
      }
      let isDone = try Files.exists("\(done)/\(taken.sha256)") && isKnown(taken.sha256)
      if isDone || Files.exists("\(processing)/\(taken.sha256)") {
        try Files.remove(taken.directory)
        try beforeRemoval()
        let remains = keepsOriginal ? nil : discard(candidate, likeness)
        return remains.map { .left($0) } ?? .duplicate(sha256: taken.sha256)
      }
      try publish(&taken, companions)
    } catch {
      // The error is what matters; a later run removes what is left.
      try? Files.remove(taken.directory)
      throw error
    }
    try beforeRemoval()
    if !keepsOriginal { taken.remains = discard(candidate, likeness) }
    return .taken(taken)
  }

  private func changing(_ candidate: Candidate) -> Refusal {
    Refusal(
      .changing, "\(candidate.name) changed while it was taken",
      fix: "nothing is to be done: the next run takes it when it stands still")
  }

  /// Copies a file with its log into a directory of its own, and notes the digest of both; false where one of
  /// them changed before both were read.
  private func copy(
    _ candidate: Candidate, _ companions: Companions, as taken: inout TakenReturn
  ) throws -> Bool {
    try Files.makeDirectory(taken.directory)
    let file = try CopiedFile(candidate.path, to: taken.path)
    let log = try companions.log.map { try CopiedFile($0, to: taken.path + "-wal") }
    taken.sha256 = TakenReturn.digest(
      file: file.sha256, log: log?.sha256, fault: taken.fault)
    try betweenReadings()
    return try [file, log].allSatisfy { try $0?.isUnchanged(recent: recentNanoseconds) ?? true }
  }

  /// Gives what was copied its place in `processing`.
  ///
  /// Copied first and removed last: whatever dies in between, the inbox still has all of it, and the
  /// next run finds the content taken already.
  private func publish(_ taken: inout TakenReturn, _ companions: Companions) throws {
    try DurableFile.write(taken.note, to: taken.directory + "/" + TakenReturn.noteName)
    // For the quarantine: a store with a journal is refused, and nothing of it may get lost.
    if let journal = companions.journal { try Files.copy(journal, to: taken.path + "-journal") }
    let final = "\(processing)/\(taken.sha256)"
    try DurableFile.publishDirectory(temporary: taken.directory, final: final)
    taken = taken.moved(to: final)
  }

  /// Removes a file that is taken; why it could not be, if so.
  ///
  /// It leaves the candidates first and in one step: alone, without its log, it would be an older
  /// state of its device; and a log alone would be taken for that of the next file of the name. What bears
  /// the name by now and is not what was read is a newer return: it stays for the next run.
  private func discard(_ candidate: Candidate, _ read: Likeness) -> Refusal? {
    guard Likeness(of: candidate) == read else { return nil }
    do throws(SystemError) {
      let place = Files.parent(of: candidate.path) ?? "."
      let marker = place + "/" + Inbox.marker(of: candidate.name)
      try Files.rename(candidate.path, to: marker)
      guard Likeness(of: candidate, at: marker) == read else {
        try DurableFile.move(marker, toNew: candidate.path)
        return nil
      }
      try DurableFile.synchronize(directory: place)
      try removeCompanions(of: candidate.path)
      try Files.remove(marker)
      try DurableFile.synchronize(directory: place)
      return nil
    } catch {
      return Refusal(
        .notRemoved, "\(candidate.name) was taken and cannot be removed from the inbox: \(error)",
        fix: "let the user who runs attache write the inbox, or take the file out of it")
    }
  }

  /// What the name of a taken file begins with while its companions are removed.
  private static let markerPrefix = ".taken-"
  /// Bytes of the longest name that every file system takes.
  static let longestName = 255

  /// The name of a taken file while its companions are removed: one that is too long for a prefix is
  /// told by its digest.
  private static func marker(of name: String) -> String {
    let plain = markerPrefix + name
    guard plain.utf8.count > longestName else { return plain }
    return markerPrefix + Digest.sha256Hex(Array(name.utf8))
  }

  /// A directory is never removed with what is in it: it stays, and is told as what it is.
  private func removeCompanions(of path: String) throws(SystemError) {
    for suffix in Inbox.suffixes {
      guard let kind = try? Files.status(path + suffix).kind, kind != .directory else { continue }
      try Files.remove(path + suffix)
    }
  }

  /// Ends what an interrupted run began to remove; what cannot be removed is left, and its companions
  /// are told as such.
  private func removeTaken() throws {
    guard Files.isDirectory(directory) else { return }
    let names = try Files.list(directory)
    let present = Set(names)
    for marker in names where marker.hasPrefix(Inbox.markerPrefix) {
      let stores = names.compactMap { name -> String? in
        guard let suffix = Inbox.suffixes.first(where: name.hasSuffix) else { return nil }
        let store = String(name.dropLast(suffix.count))
        return Inbox.marker(of: store) == marker ? store : nil
      }
      // With another file of the name the companions may be its own.
      for store in Set(stores) where !present.contains(store) {
        try? removeCompanions(of: directory + "/" + store)
      }
      try? Files.remove(directory + "/" + marker)
    }
  }

  /// What an interrupted run left in `processing`, oldest first; half-made directories are removed.
  package func unfinished() throws(BundleError) -> [TakenReturn] {
    try BundleError.mapping {
      try removeTaken()
      guard Files.isDirectory(processing) else { return }
      for name in try Files.list(processing) where name.hasPrefix(".tmp-") {
        try Files.remove(processing + "/" + name)
      }
    }
    return try taken()
  }

  /// What was taken and not finished, oldest first.
  package func taken() throws(BundleError) -> [TakenReturn] {
    try BundleError.mapping {
      guard Files.isDirectory(processing) else { return [] }
      return try Files.list(processing)
        .compactMap { $0.hasPrefix(".tmp-") ? nil : TakenReturn(directory: processing + "/" + $0) }
        .sorted { ($0.order, $0.arrived, $0.sha256) < ($1.order, $1.arrived, $1.sha256) }
    }
  }

  /// The names in `processing` that nobody took: they are left there.
  package func strangers() throws(BundleError) -> [String] {
    try BundleError.mapping {
      guard Files.isDirectory(processing) else { return [] }
      return try Files.list(processing).filter {
        !$0.hasPrefix(".tmp-") && TakenReturn(directory: processing + "/" + $0) == nil
      }
    }
  }

  /// Keeps a return whose edits are all in the ledger.
  @discardableResult
  package func finish(_ taken: TakenReturn) throws(BundleError) -> TakenReturn {
    try BundleError.mapping {
      // Refused before, and validated since the pipeline was mended.
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
