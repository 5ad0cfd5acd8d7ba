import JSON
import Ledger
import System

/// The findings of a recovery, and their consequences for later returns.
package struct RecoveryFindings: Sendable, Hashable {
  /// The state in which the ledger was found.
  package enum LedgerState: String, Sendable, Hashable {
    /// The ledger exists, and nothing next to it is newer.
    case sound
    /// Something was published or reported that it does not know.
    case behind
    /// The ledger is the copy in a backup.
    case backup
    /// The ledger is missing.
    case lost
    /// The ledger cannot be read.
    case damaged

    /// The message about the state.
    package var words: String {
      switch self {
      case .sound: "the ledger is as new as the bundles and the reports"
      case .behind: "the ledger is older than what was published or reported"
      case .backup: "the ledger is that of a backup"
      case .lost: "the ledger is missing; a new one replaces it"
      case .damaged: "the ledger cannot be read; a new one replaces it"
      }
    }
  }

  package var ledger = LedgerState.sound
  package var isFirst = true
  package var epoch: Int64 = 0
  /// The highest known number of a run, from any source.
  package var lastRun: Int64 = 0
  /// The time of the last run in the ledger, in ms; nil for none.
  package var known: Int64?
  /// The newest known generation of each snapshot.
  package var generations: [String: Int64] = [:]
  /// Processed returns that the ledger does not know, and that will be ingested again.
  package var again: [String] = []
  /// The number of open edits that may have been sent by a run unknown to the ledger.
  package var waiting = 0
  /// Refused returns that are acceptable now, because their bundles were issued before.
  package var releasable: [String] = []
  /// The number of users who can get other bundles from the store than there are here.
  package var outdated = 0
  /// The path to which an unreadable ledger was moved.
  package var aside: String?
  /// The backup; nil for the existing data directory.
  package var from: String?
  /// The pipeline file of the earlier runs, if it is a different one that still has the name.
  ///
  /// It prevents new runs.
  package var otherFile: String?
  /// Whether the next run binds the pipeline to another org.
  package var isNewOrg = false

  /// Returns the messages for the operator, including the next steps.
  package func lines(_ pipeline: String, isDone: Bool) -> [String] {
    var lines = [
      ledger.words
        + (known.map { "; its last run with the org was at \(Dates.utcSeconds($0))" } ?? "")
    ]
    if let aside { lines.append("the old one is kept as \(aside)") }
    lines.append(
      "snapshots: \(generations.count); the newest generation of each is kept"
        + (from == nil ? "" : ", its stores are rebuilt by the next prime"))
    if outdated > 0 {
      lines.append(
        "\(CountText.of(outdated, "user")) can get other bundles from the store than there are here: "
          + "the next run primes them again")
    }
    if !again.isEmpty {
      lines.append(
        "\(CountText.of(again.count, "return")) will be ingested again, because the ledger does not know them"
      )
    }
    if waiting > 0 {
      lines.append(
        "\(CountText.of(waiting, "open edit")) may have been sent"
          + (known.map { " since \(Dates.utcSeconds($0))" } ?? "")
          + ": the next run looks in the org first"
      )
    }
    if !releasable.isEmpty {
      lines.append(
        "\(CountText.of(releasable.count, "refused return")) can be ingested now: attache returns release \(pipeline) NAME"
      )
    }
    if isNewOrg { lines.append("the next run binds the pipeline to the org that it finds") }
    lines.append(
      isDone
        ? "recovered: edits from older bundles are looked up in the org before they are sent"
        : "nothing was changed")
    if isDone {
      lines.append(
        otherFile.map {
          "next: remove or rename \($0), which has the same name and made the earlier runs; then "
            + "attache run \(pipeline)"
        } ?? "next: attache run \(pipeline)")
      if ledger == .backup || ledger == .sound {
        let lost = known.map { "returns since \(Dates.utcSeconds($0))" } ?? "earlier returns"
        lines.append("then have every device return its stores again: \(lost) may be lost")
      }
    }
    return lines
  }

  package func json(_ pipeline: String, isDone: Bool) -> JSONValue {
    var object: JSONObject = [
      "pipeline": .string(pipeline), "done": .bool(isDone), "ledger": .string(ledger.rawValue),
      "epoch": JSONValue(epoch), "lastRun": JSONValue(lastRun),
      "snapshots": JSONValue(generations.count), "returnsAgain": JSONValue(again),
      "waitingEdits": JSONValue(waiting), "releasable": JSONValue(releasable),
      "newOrg": .bool(isNewOrg), "outdated": JSONValue(outdated),
    ]
    object["known"] = known.map { .string(Dates.utc($0)) }
    object["aside"] = aside.map(JSONValue.string)
    object["otherFile"] = otherFile.map(JSONValue.string)
    object["from"] = from.map(JSONValue.string)
    return .object(object)
  }
}
