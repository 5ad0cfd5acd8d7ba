import JSON
import System

/// A return, or a file that could become one, where it lies.
package struct LyingReturn: Sendable {
  /// Where it is on its way.
  package enum State: String, Sendable, CaseIterable {
    /// In the inbox; the next run takes it.
    case waiting
    /// In the inbox, and still being written or uploaded.
    case arriving
    /// In the inbox, and no run takes it as it is.
    case left
    /// Taken, and not finished: the next run goes on with it.
    case taken
    /// Refused.
    case quarantined
    /// Its edits are in the ledger.
    case done
    /// It was refused, and somebody removed it.
    case discarded

    /// What it is called.
    package var words: String {
      switch self {
      case .waiting: "waiting for the next run"
      case .arriving: "still arriving"
      case .left: "left in the inbox"
      case .taken: "taken and not finished"
      case .quarantined: "in quarantine"
      case .done: "done"
      case .discarded: "discarded"
      }
    }
  }

  /// Where it is on its way.
  package var state: State
  /// What it is called.
  package var name: String
  /// The digest of its content; nil for what was not taken.
  package var sha256: String?
  /// So much of the digest as a person needs to name it.
  package var shortDigest: String? { sha256.map { String($0.prefix(12)) } }
  /// Where it lies; nil for what is gone.
  package var path: String?
  /// Its bytes.
  package var bytes: Int64 = 0
  /// Since when, in ms since 1970.
  package var since: Int64?
  /// Whose it is; nil where nobody knows.
  package var owner: String?
  /// What of: a generation and its platform; nil where nobody knows.
  package var of: String?
  /// Why it lies there, in words.
  package var reason: String?
  /// The reason's code.
  package var code: String?
  /// What to do.
  package var fix: String?
  /// Who discarded it.
  package var by: String?
  /// Its edits, and what became of each.
  package var edits: [(number: Int64, verdict: String)] = []

  /// As JSON.
  package var json: JSONValue {
    var object: JSONObject = ["state": .string(state.rawValue), "name": .string(name)]
    for (name, text) in [
      ("sha256", sha256), ("path", path), ("user", owner), ("of", of), ("code", code),
      ("reason", reason), ("fix", fix), ("by", by),
    ] {
      if let text { object[name] = .string(text) }
    }
    object["bytes"] = JSONValue(bytes)
    object["since"] = since.map { .string(Dates.utc($0)) }
    if !edits.isEmpty {
      object["edits"] = .array(
        edits.map { ["number": JSONValue($0.number), "verdict": .string($0.verdict)] })
    }
    return .object(object)
  }
}
