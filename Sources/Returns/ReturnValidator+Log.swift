import SQLite
import SmartStore
import System

extension ReturnValidator {
  /// Merges the log of a private copy into it, and returns whether it contained an uncommitted
  /// change.
  ///
  /// Refuses a store of which a committed change is missing.
  func foldLog(of path: String, _ name: String, _ index: WriteAheadIndex?) throws -> Bool {
    let log: WriteAheadLog?
    do {
      log = try WriteAheadLog.checked(of: path, index)
    } catch let damage as WriteAheadLog.Damage {
      throw refusal(name, damage.words)
    }
    guard let log else { return false }
    let bytes = Int64(log.committedPages ?? 0) * Int64(log.pageSize)
    guard bytes <= expected.fileBytes else {
      throw Refusal.tooLarge(name, than: expected.fileBytes, beside: " with its -wal")
    }
    if let words = try log.shortage(beside: Files.size(of: path)) {
      throw Refusal.unsound(name, words)
    }
    try refusingDamage(name) {
      try Connection.foldLog(untrusted: path)
    }
    if log.committedPages != nil, try Files.size(of: path) != bytes {
      throw refusal(name, "was not merged completely")
    }
    try checkHeader(path, name)
    return log.hasUnfinished
  }

  private func refusal(_ name: String, _ words: String) -> Refusal {
    Refusal(
      .log, "the -wal of \(name) \(words)",
      fix:
        "run PRAGMA wal_checkpoint(TRUNCATE) in the app, or have the device send its store again with the "
        + "unchanged -wal")
  }
}
