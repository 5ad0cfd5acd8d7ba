import System

// How a file is known to be one that came before.
extension Inbox {
  /// Whether what was copied is the same file once more: its content lies in `processing`, or in `done`
  /// and the ledger has it.
  ///
  /// The digest alone counts (`TakenReturn.sha256`, of the file and its `-wal`), whatever the name. A ledger that
  /// was restored from a backup may not have what lies in `done`: that is ingested once more. What was refused is
  /// none of these: it is proved again. Of what lies in `processing` an ingest asks the ledger alone.
  func isDuplicate(
    _ sha256: String, isKnown: (_ sha256: String) throws -> Bool
  ) throws -> Bool {
    let isDone = try mayBeDuplicate(sha256) && isKnown(sha256)
    return isDone || Files.exists("\(processing)/\(sha256)")
  }

  /// Whether a file seems to be finished with, before the ledger is asked: then it is not worth reading.
  package func mayBeDuplicate(_ sha256: String) -> Bool { Files.exists("\(done)/\(sha256)") }
}
