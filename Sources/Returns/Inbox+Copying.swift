import Bundles
import System

extension Inbox {
  /// A candidate that lies in a directory of its own beside those that were taken, and is not taken yet.
  ///
  /// Whatever dies now has only lost a copy: the next run removes it.
  package struct Copied: Sendable {
    /// What it becomes when it is taken.
    package let taken: TakenReturn
    let candidate: Candidate
    let likeness: Likeness
  }

  /// What copying a file came to.
  package enum Copying: Sendable {
    /// It is beside those that were taken.
    case copied(Copied)
    /// Somebody took it away meanwhile.
    case gone
    /// It stays where it is, and why.
    case left(Refusal)
  }

  /// Which file a name stood for, and in what state.
  struct Likeness: Equatable {
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
  struct Companions {
    /// The `-wal`, if there is something in it.
    var log: String?
    /// The `-journal`.
    var journal: String?
    /// The `-shm`.
    var index: String?
    /// What is wrong with one of them, so that the store cannot be believed without it.
    var fault: String?

    init(of candidate: Candidate) {
      guard candidate.kind == .store else { return }
      log = Inbox.log(of: candidate.path)
      let shared = candidate.path + "-shm"
      if (try? Files.status(shared).kind) == .regular { index = shared }
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

  /// Copies a candidate, and notes the digest of what was copied.
  ///
  /// `turn` is its place among those that came at the same time. What was read of
  /// a store without a log is kept in the `room`, if it is large enough. Several may be copied at once. Throws for
  /// trouble of this machine alone.
  package func copy(
    _ candidate: Candidate, now milliseconds: Int64, order: Int64, turn: Int = 0,
    keeping room: FileRoom? = nil
  ) throws(BundleError) -> Copying {
    if let refusal = candidate.refusal { return .left(refusal) }
    return try BundleError.mapping {
      do {
        return try copyOver(candidate, (milliseconds, order, turn), room)
      } catch let error as SystemError {
        return try trouble(error, with: candidate).map { .left($0) } ?? .gone
      }
    }
  }

  private func copyOver(
    _ candidate: Candidate, _ time: (wall: Int64, order: Int64, turn: Int), _ room: FileRoom?
  ) throws -> Copying {
    let likeness = Likeness(of: candidate)
    let companions = Companions(of: candidate)
    // Its digest is known once it was read, and it is read once.
    var taken = TakenReturn(
      sha256: "", name: candidate.name, arrived: time.wall, order: time.order,
      turn: time.turn, kind: candidate.kind, hasLog: companions.log != nil,
      fault: companions.fault, directory: DurableFile.temporaryName(for: processing + "/x"))
    do {
      guard try copy(candidate, companions, as: &taken, room) else {
        try Files.remove(taken.directory)
        return Files.exists(candidate.path) ? .left(changing(candidate)) : .gone
      }
      try DurableFile.write(taken.note, to: taken.directory + "/" + TakenReturn.noteName)
      // For the quarantine: a store with a journal is refused, and nothing of it may get lost.
      if let journal = companions.journal { try Files.copy(journal, to: taken.path + "-journal") }
      if let index = companions.index {
        try WriteAheadIndex.copyHeader(of: index, to: taken.path + "-shm")
      }
    } catch {
      // The error is what matters; a later run removes what is left.
      try? Files.remove(taken.directory)
      throw error
    }
    return .copied(Copied(taken: taken, candidate: candidate, likeness: likeness))
  }

  private func changing(_ candidate: Candidate) -> Refusal {
    Refusal(
      .changing, "\(candidate.name) changed while it was taken",
      fix: "nothing is to be done: the next run takes it when it stands still")
  }

  /// Copies a file with its log into a directory of its own, and notes the digest of both; false where one of
  /// them changed before both were read.
  private func copy(
    _ candidate: Candidate, _ companions: Companions, as taken: inout TakenReturn,
    _ room: FileRoom?
  ) throws -> Bool {
    try Files.makeDirectory(taken.directory)
    let isAlone = candidate.kind == .store && companions.log == nil
    let file = try CopiedFile(
      candidate.path, to: taken.path, keeping: isAlone ? room : nil)
    let log = try companions.log.map { try CopiedFile($0, to: taken.path + "-wal") }
    taken.sha256 = TakenReturn.digest(
      file: file.sha256, log: log?.sha256, fault: taken.fault)
    // The disk may write while all else is done.
    DurableFile.beginWriteback(of: taken.path)
    try betweenReadings()
    return try [file, log].allSatisfy { try $0?.isUnchanged(recent: recentNanoseconds) ?? true }
  }

  /// Waits until a copy is on the disk, so that taking it need not.
  package func synchronize(_ copied: Copied) throws(BundleError) {
    try BundleError.mapping { try DurableFile.synchronize(tree: copied.taken.directory) }
  }

  /// Lets go of a copy that is not taken; what cannot be removed a later run removes.
  package func drop(_ copied: Copied) { try? Files.remove(copied.taken.directory) }
}
