import Snapshots
import JSON
import Ledger
import Reconciliation
import Returns
import SQLite
import SmartStore
import System

/// What became of one file of the inbox in a run: told once for each, in one place.
struct ReturnOutcome {
  /// What can become of it.
  enum Result {
    /// It was validated, and its edits are in the ledger, which noted it in the same transaction; the soups
    /// that are an app's own were left alone.
    case accepted(Provenance, edits: Int, new: Int, known: Int, leftAlone: [String])
    /// It was accepted before.
    case known
    /// It was refused and is kept in quarantine, with the reason beside it.
    case quarantined(TakenReturn, Refusal)
    /// It stays where it is: in the inbox, or in `processing`.
    case left(Refusal)
  }

  /// The file's name as it came.
  var name: String
  /// Where it is.
  var path: String
  /// The digest of its content, where it was read.
  var sha256: String?
  /// What became of it.
  var result: Result
}

extension ReturnOutcome.Result {
  /// What a dry run says of a file, after its name.
  var planned: String {
    switch self {
    case .accepted(_, let edits, let new, _, _):
      edits == 0 ? " holds no edit" : " holds \(edits) edits, \(new) of them new"
    case .known: " was ingested before"
    case .quarantined(_, let refusal): " goes into quarantine: \(refusal.sentence); \(refusal.fix)"
    case .left(let refusal): " stays where it is: \(refusal.sentence); \(refusal.fix)"
    }
  }
}
