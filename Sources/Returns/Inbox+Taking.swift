import Bundles
import Crypto
import Ledger
import System

extension Inbox {
  /// Takes a candidate into `processing` by copying it first and then taking the copy.
  ///
  /// `order` is the time of the run that takes it; it orders returns even if this machine's clock
  /// goes back. `keepsOriginal` leaves the original in place, for a file named outside the inbox.
  /// `isKnown` tells whether the ledger has the digest of a file in `done`; a restored ledger may
  /// not. Throws only for faults of this machine; if the file cannot be read or removed, the result
  /// says so.
  package func take(
    _ candidate: Candidate, now milliseconds: Int64, order: Int64? = nil,
    keepsOriginal: Bool = false,
    isKnown: (_ sha256: String) throws -> Bool = { _ in true }
  ) throws(BundleError) -> Taking {
    switch try copy(candidate, now: milliseconds, order: order ?? milliseconds) {
    case .copied(let copied):
      return try take(copied, keepsOriginal: keepsOriginal, isKnown: isKnown)
    case .gone: return .gone
    case .left(let refusal): return .left(refusal)
    }
  }

  /// Takes a copied candidate.
  package func take(
    _ copied: Copied, keepsOriginal: Bool = false,
    isKnown: (_ sha256: String) throws -> Bool = { _ in true }
  ) throws(BundleError) -> Taking {
    try BundleError.mapping {
      do {
        return try takeOver(copied, keepsOriginal, isKnown)
      } catch let error as SystemError {
        return try trouble(error, with: copied.candidate).map { .left($0) } ?? .gone
      }
    }
  }

  /// Returns why a candidate stays in the inbox after an error; nil if the file has been removed
  /// meanwhile.
  ///
  /// Rethrows faults of this machine.
  func trouble(_ error: SystemError, with candidate: Candidate) throws -> Refusal? {
    guard Files.exists(candidate.path) else { return nil }
    // The disk of the inbox may be at fault rather than ours; ours fails on other files too.
    guard !error.isOfTheMachine || error.isOf(candidate.path) else { throw error }
    if error.path.hasPrefix(processing + "/") {
      return Refusal(
        .notCopied,
        "\(candidate.name) cannot be copied into \(Files.name(of: processing)): \(error)",
        fix: error.isDenied
          ? "let the user who runs attache write to \(processing)"
          : "let attache write a file of that size there (ulimit -f, and the limit of the file "
            + "system), or remove it from the inbox")
    }
    return Refusal(
      .unreadable, "\(candidate.name) cannot be taken: \(error)",
      fix: "let the user who runs attache read it, or remove it from the inbox")
  }

  private func takeOver(
    _ copied: Copied, _ keepsOriginal: Bool, _ isKnown: (_ sha256: String) throws -> Bool
  ) throws -> Taking {
    let (candidate, likeness) = (copied.candidate, copied.likeness)
    var taken = copied.taken
    do {
      if try isDuplicate(taken.sha256, isKnown: isKnown) {
        try Files.remove(taken.directory)
        try beforeRemoval()
        let remains = keepsOriginal ? nil : discard(candidate, likeness)
        return remains.map { .left($0) } ?? .duplicate(sha256: taken.sha256)
      }
      // The copy is made first, and the original removed last: after any interruption the inbox is
      // still complete, and the next run detects that the content was taken.
      let final = "\(processing)/\(taken.sha256)"
      try DurableFile.publishDirectory(temporary: taken.directory, final: final)
      taken = taken.moved(to: final)
    } catch {
      drop(copied)
      throw error
    }
    try beforeRemoval()
    if !keepsOriginal { taken.remains = discard(candidate, likeness) }
    return .taken(taken)
  }

  /// Removes a taken file, and returns why if that fails.
  ///
  /// The file is first renamed out of the candidates in one step. Without its log, a store would be
  /// an older state of its device, and a log alone would be used for the next file of the name. A
  /// newer file under the name was not read, and stays for the next run.
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
        fix: "let the user who runs attache write to the inbox, or remove the file")
    }
  }

  /// The name prefix of a taken file while its companions are removed.
  private static let markerPrefix = ".taken-"
  /// The longest file name, in bytes, that every file system supports.
  static let longestName = 255

  /// The name of a taken file while its companions are removed.
  ///
  /// A name too long for the prefix is replaced by its digest.
  private static func marker(of name: String) -> String {
    let plain = markerPrefix + name
    guard plain.utf8.count > longestName else { return plain }
    return markerPrefix + Digest.sha256Hex(Array(name.utf8))
  }

  /// Directories are never removed with their content; they stay, and are reported.
  private func removeCompanions(of path: String) throws(SystemError) {
    for suffix in Inbox.suffixes {
      guard let kind = try? Files.status(path + suffix).kind, kind != .directory else { continue }
      try Files.remove(path + suffix)
    }
  }

  /// Completes the removals that an interrupted run started.
  ///
  /// Files that cannot be removed stay, and are reported as companions.
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
      // If there is another file of the name, the companions may belong to it.
      for store in Set(stores) where !present.contains(store) {
        try? removeCompanions(of: directory + "/" + store)
      }
      try? Files.remove(directory + "/" + marker)
    }
  }

  /// Returns what an interrupted run left in `processing`, oldest first.
  ///
  /// Incomplete directories are removed.
  package func unfinished() throws(BundleError) -> [TakenReturn] {
    try BundleError.mapping {
      try removeTaken()
      guard Files.isDirectory(processing) else { return }
      try DurableFile.removeTemporaries(in: processing)
    }
    return try taken()
  }

  /// Returns the taken returns that are not processed, oldest first.
  package func taken() throws(BundleError) -> [TakenReturn] {
    try BundleError.mapping {
      guard Files.isDirectory(processing) else { return [] }
      return try Files.list(processing)
        .compactMap {
          DurableFile.isTemporary($0) ? nil : TakenReturn(directory: processing + "/" + $0)
        }
        .sorted {
          ($0.order, $0.arrived, $0.turn, $0.sha256)
            < ($1.order, $1.arrived, $1.turn, $1.sha256)
        }
    }
  }

  /// Returns the names in `processing` that no run has created.
  ///
  /// They are left there.
  package func strangers() throws(BundleError) -> [String] {
    try BundleError.mapping {
      guard Files.isDirectory(processing) else { return [] }
      return try Files.list(processing).filter {
        !DurableFile.isTemporary($0) && TakenReturn(directory: processing + "/" + $0) == nil
      }
    }
  }

  /// Moves a return whose edits are all in the ledger to `done`.
  @discardableResult
  package func finish(_ taken: TakenReturn) throws(BundleError) -> TakenReturn {
    try BundleError.mapping {
      // It was refused before, and is valid since the pipeline was fixed.
      try Files.remove(quarantine + "/" + taken.sha256)
      try ReasonFile.remove(of: taken.sha256, in: quarantine)
    }
    return try move(taken, to: done)
  }

  /// Moves a return to the quarantine, with its reason.
  @discardableResult
  package func quarantine(
    _ taken: TakenReturn, _ refusal: Refusal, now milliseconds: Int64
  ) throws(BundleError) -> TakenReturn {
    try BundleError.mapping {
      try Files.makeDirectory(quarantine)
      try ReasonFile(refusal, of: taken, at: milliseconds).write(into: quarantine)
    }
    return try move(taken, to: quarantine)
  }

  private func move(_ taken: TakenReturn, to place: String) throws(BundleError) -> TakenReturn {
    try BundleError.mapping {
      try Files.makeDirectory(place)
      let final = "\(place)/\(taken.sha256)"
      // The same content was refused before, so the existing copy is identical.
      if Files.exists(final) {
        try Files.remove(taken.directory)
      } else {
        try DurableFile.move(taken.directory, toNew: final)
      }
      return taken.moved(to: final)
    }
  }
}
