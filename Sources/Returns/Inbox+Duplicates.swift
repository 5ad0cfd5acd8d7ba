import System

// Detects files that were returned before.
extension Inbox {
  /// Whether the copied content is already in `processing`, or in `done` with an entry in the
  /// ledger.
  ///
  /// Only the digest counts (`TakenReturn.sha256`, of the file and its `-wal`), not the name. A
  /// ledger restored from a backup may not know a return in `done`; that return is ingested again.
  /// A refused return does not count, and is validated again. For content in `processing`, an
  /// ingest asks only the ledger.
  func isDuplicate(
    _ sha256: String, isKnown: (_ sha256: String) throws -> Bool
  ) throws -> Bool {
    let isDone = try mayBeDuplicate(sha256) && isKnown(sha256)
    return isDone || Files.exists("\(processing)/\(sha256)")
  }

  /// Whether a file seems to be processed already, before the ledger is asked, so that reading it
  /// is not worthwhile.
  package func mayBeDuplicate(_ sha256: String) -> Bool { Files.exists("\(done)/\(sha256)") }
}
