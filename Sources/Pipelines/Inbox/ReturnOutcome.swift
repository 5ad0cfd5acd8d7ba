import Returns
import Snapshots
import System

/// The outcome of one inbox file in a run, reported once per file.
enum ReturnOutcome {
  /// The return is valid, and its edits and the return itself are in the ledger. `leftAlone` lists
  /// the soups that belong to the app.
  case accepted(Provenance, edits: Int, new: Int, known: Int, leftAlone: [String])
  /// The return was accepted before.
  case known
  /// The return was refused and quarantined with its reason.
  case quarantined(TakenReturn, Refusal)
  /// The file stays where it is, in the inbox or in `processing`.
  case left(Refusal)

  /// The outcome as a dry run words it, after the file name.
  var planned: String {
    switch self {
    case .accepted(_, let edits, let new, _, _):
      edits == 0 ? " has no edits" : " has \(CountText.of(edits, "edit")), \(new) of them new"
    case .known: " was already ingested"
    case .quarantined(_, let refusal): " will be quarantined: \(refusal.sentence); \(refusal.fix)"
    case .left(let refusal): " stays in place: \(refusal.sentence); \(refusal.fix)"
    }
  }
}
