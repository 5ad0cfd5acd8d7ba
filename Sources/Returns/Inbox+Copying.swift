import Bundles
import SmartStore
import System

extension Inbox {
  /// A candidate that was copied next to the taken returns, but is not taken yet.
  ///
  /// If the run is interrupted now, only a copy is lost, which the next run removes.
  package struct Copied: Sendable {
    /// The return that it becomes when it is taken.
    package let taken: TakenReturn
    let candidate: Candidate
    let likeness: Likeness
  }

  /// The result of copying a file.
  package enum Copying: Sendable {
    /// The copy is next to the taken returns.
    case copied(Copied)
    /// The file was removed meanwhile.
    case gone
    /// The file stays in the inbox, with the reason.
    case left(Refusal)
  }

  /// The identity and state of the file behind a name.
  struct Likeness: Equatable {
    private var parts: [Part?]

    private struct Part: Equatable {
      var device: UInt64
      var inode: UInt64
      var size: Int64
      var modified: Int64
    }

    /// The state of a candidate at a name that it may have got since, with its companions under
    /// their original names.
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

  /// The companion files of a store that is taken.
  struct Companions {
    /// The `-wal`, if it is not empty.
    var log: String?
    /// The `-journal`.
    var journal: String?
    /// The `-shm`.
    var index: String?
    /// The fault of a companion without which the store cannot be trusted.
    var fault: String?

    init(of candidate: Candidate) {
      guard candidate.kind == .store else { return }
      log = Inbox.log(of: candidate.path)
      let shared = candidate.path + "-shm"
      if (try? Files.status(shared).kind) == .regular { index = shared }
      for suffix in ["-wal", "-journal"] {
        guard let kind = try? Files.status(candidate.path + suffix).kind else { continue }
        if kind != .regular {
          fault = "\(candidate.name)\(suffix) is \(kind.words), not a regular file"
        } else if suffix == "-journal" {
          journal = candidate.path + suffix
        }
      }
    }
  }

  /// Copies a candidate, and records the digest of the copy.
  ///
  /// `turn` is its position among files of the same time. If the store has no log and `room` is
  /// large enough, the content is kept there. May be called concurrently. Throws only for faults of
  /// this machine.
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
    // The digest is known only after the file was read, and it is read only once.
    var taken = TakenReturn(
      sha256: "", name: candidate.name, arrived: time.wall, order: time.order,
      turn: time.turn, kind: candidate.kind, hasLog: companions.log != nil,
      fault: companions.fault, directory: DurableFile.temporaryName(for: processing + "/x"))
    do {
      guard try copy(candidate, companions, as: &taken, room) else {
        try Files.remove(taken.directory)
        return Files.exists(candidate.path) ? .left(.changing(candidate.name)) : .gone
      }
      try DurableFile.write(taken.note, to: taken.directory + "/" + TakenReturn.noteName)
      // For the quarantine: a store with a journal is refused, but must not lose it.
      if let journal = companions.journal { try Files.copy(journal, to: taken.path + "-journal") }
      if let index = companions.index {
        try WriteAheadIndex.copyHeader(of: index, to: taken.path + "-shm")
      }
    } catch {
      // Report the original error; a later run removes the copy.
      try? Files.remove(taken.directory)
      throw error
    }
    return .copied(Copied(taken: taken, candidate: candidate, likeness: likeness))
  }

  /// Copies a file with its log into a new directory, and records the digest of both.
  ///
  /// Returns false if one of them changed before both were read.
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
    // The disk can write while other work continues.
    DurableFile.beginWriteback(of: taken.path)
    try betweenReadings()
    return try [file, log].allSatisfy { try $0?.isUnchanged(recent: recentNanoseconds) ?? true }
  }

  /// Waits until a copy is on disk, so that taking it does not have to wait.
  package func synchronize(_ copied: Copied) throws(BundleError) {
    try BundleError.mapping { try DurableFile.synchronize(tree: copied.taken.directory) }
  }

  /// Removes a copy that is not taken.
  ///
  /// If that fails, a later run removes it.
  package func drop(_ copied: Copied) { try? Files.remove(copied.taken.directory) }
}
