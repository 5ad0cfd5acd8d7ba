import System

/// The reason why the ledger cannot be used.
package enum LedgerError: Error, Sendable, CustomStringConvertible, Hashable {
  /// The file was written by a version of attache whose ledgers differ.
  case unsupportedVersion(path: String, found: Int64, known: Int64)
  /// The file is not a ledger.
  case notALedger(path: String)
  /// The org is not that of the first run.
  case foreignOrganization(pinned: String, found: String)
  /// The run to end does not exist.
  case unknownRun(String)
  /// The ledger's content cannot be read.
  case damaged(path: String, what: String)
  /// The verdicts of a run do not add up to its edits.
  case unaccounted(run: String, edits: Int, verdicts: Int)

  /// One sentence that says what is wrong, where, and what to do.
  package var description: String {
    switch self {
    case .unsupportedVersion(let path, let found, let known):
      if found > known {
        "\(path) was written by a newer attache (ledger version \(found), this one knows "
          + "\(known)); use that version or a later one"
      } else {
        "\(path) was written by an older attache (ledger version \(found), this one knows "
          + "\(known)); use that version, or another data directory"
      }
    case .notALedger(let path):
      "\(path) is a database, but not a ledger of attache; move it away, or restore the ledger"
    case .foreignOrganization(let pinned, let found):
      "the ledger belongs to org \(pinned), but this is org \(found); "
        + "check org.url, or use another data directory"
    case .unknownRun(let id): "the ledger has no run \(id)"
    case .damaged(let path, let what):
      "\(path) has \(what) that cannot be read; restore it from a backup"
    case .unaccounted(let run, let edits, let verdicts):
      "run \(run) processed \(CountText.of(edits, "edit")) but has "
        + "\(CountText.of(verdicts, "verdict")); "
        + "this is a bug, please report it"
    }
  }
}
