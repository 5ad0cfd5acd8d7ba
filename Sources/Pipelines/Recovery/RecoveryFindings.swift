import JSON
import Ledger
import System

/// What a recovery found, and what it means for what comes back.
package struct RecoveryFindings: Sendable, Hashable {
  /// What became of the ledger.
  package enum LedgerState: String, Sendable, Hashable {
    /// It is there, and nothing that lies beside it is newer.
    case sound
    /// Something was published or reported since that it does not know of.
    case behind
    /// It is the copy in a backup.
    case backup
    /// It is gone.
    case lost
    /// It cannot be read.
    case damaged

    /// What is told of it.
    package var words: String {
      switch self {
      case .sound: "the ledger is there, and nothing beside it is newer"
      case .behind: "the ledger is older than what was published or reported"
      case .backup: "the ledger is that of a backup"
      case .lost: "the ledger is gone; a new one takes its place"
      case .damaged: "the ledger cannot be read; a new one takes its place"
      }
    }
  }

  /// The ledger.
  package var ledger = LedgerState.sound
  /// Whether the ledger was never recovered before.
  package var isFirst = true
  /// The epoch that begins.
  package var epoch: Int64 = 0
  /// The highest number of a run that is known from anywhere.
  package var lastRun: Int64 = 0
  /// The time of the last run that the ledger knows, in ms; nil for none.
  package var known: Int64?
  /// The newest generation of each snapshot that is known.
  package var generations: [String: Int64] = [:]
  /// Returns that were done with and that the ledger does not know: they are ingested again.
  package var again: [String] = []
  /// Edits of the ledger that wait and may have been sent by a run that it does not know.
  package var waiting = 0
  /// Refused returns that are taken now: their bundles were issued before.
  package var releasable: [String] = []
  /// Where a ledger that cannot be read was put.
  package var aside: String?
  /// The backup; nil for a data directory that lies there.
  package var from: String?
  /// The pipeline file whose runs these were, where that is another one that bears the name still: no run begins
  /// beside it.
  package var otherFile: String?
  /// Whether the next run ties the pipeline to another org.
  package var isNewOrg = false

  /// What a person is told, and what is to be done next.
  package func lines(_ pipeline: String, isDone: Bool) -> [String] {
    var lines = [
      ledger.words + (known.map { "; it knows runs until \(Dates.utcSeconds($0))" } ?? "")
    ]
    if let aside { lines.append("what was there is kept as \(aside)") }
    lines.append(
      "snapshots: \(generations.count); the newest generation of each is kept"
        + (from == nil ? "" : ", its stores are made anew by the next prime"))
    if !again.isEmpty {
      lines.append(
        "\(ByteCount.count(again.count, "return")) will be ingested again, for the ledger does not know them"
      )
    }
    if waiting > 0 {
      lines.append(
        "\(ByteCount.count(waiting, "edit")) wait that may have been sent since: the org is asked first"
      )
    }
    if !releasable.isEmpty {
      lines.append(
        "\(ByteCount.count(releasable.count, "refused return")) can be taken now: attache returns release \(pipeline) NAME"
      )
    }
    if isNewOrg { lines.append("the next run ties the pipeline to the org that it finds") }
    lines.append(
      isDone
        ? "recovered: what bundles from before bring is looked for in the org before it is sent"
        : "nothing was changed")
    if isDone {
      lines.append(
        otherFile.map {
          "next: \($0), whose runs these were, is still there and bears the name: remove it, or give it another "
            + "name; then attache run \(pipeline)"
        } ?? "next: attache run \(pipeline)")
      if ledger == .backup || ledger == .sound {
        let since = known.map { " since \(Dates.utcSeconds($0))" } ?? ""
        lines.append(
          "then have devices hand back once more what they handed back\(since): it may be gone")
      }
    }
    return lines
  }

  /// As JSON.
  package func json(_ pipeline: String, isDone: Bool) -> JSONValue {
    var object: JSONObject = [
      "pipeline": .string(pipeline), "done": .bool(isDone), "ledger": .string(ledger.rawValue),
      "epoch": JSONValue(epoch), "lastRun": JSONValue(lastRun),
      "snapshots": JSONValue(generations.count), "returnsAgain": JSONValue(again),
      "waitingEdits": JSONValue(waiting), "releasable": JSONValue(releasable),
      "newOrg": .bool(isNewOrg),
    ]
    object["known"] = known.map { .string(Dates.utc($0)) }
    object["aside"] = aside.map(JSONValue.string)
    object["otherFile"] = otherFile.map(JSONValue.string)
    object["from"] = from.map(JSONValue.string)
    return .object(object)
  }
}
