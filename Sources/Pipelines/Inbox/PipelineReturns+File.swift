import JSON
import Returns
import System

extension PipelineReturns {
  /// A return, or a file that could become one, with its location.
  package struct File: Sendable {
    /// The stage that the file has reached.
    package enum State: String, Sendable, CaseIterable {
      /// In the inbox; the next run takes it.
      case waiting
      /// In the inbox, and still being written or uploaded.
      case arriving
      /// In the inbox, but no run takes it in its present form.
      case left
      /// Out of the inbox, because it was released or its ingest was interrupted; the next ingest
      /// validates it.
      case taken
      case quarantined
      /// Its edits are in the ledger.
      case done
      /// Refused, and then removed by an operator.
      case discarded

      /// The label in lists.
      package var words: String {
        switch self {
        case .waiting: "waiting for the next run"
        case .arriving: "still arriving"
        case .left: "left in the inbox"
        case .taken: "to be validated by the next ingest"
        case .quarantined: "in quarantine"
        case .done: "done"
        case .discarded: "discarded"
        }
      }
    }

    package var state: State
    /// The file's name, as shown in lists.
    package var name: String
    /// The digest of its content; nil if it was not taken.
    package var sha256: String?
    /// The first digits of the digest, enough to name the file in a command.
    package var shortDigest: String? { sha256.map { String($0.prefix(12)) } }
    /// Its path; nil if the file is gone.
    package var path: String?
    /// The path of the file itself, which may be in a directory at `path`; nil if the file is gone.
    package var file: String? {
      path.map { path in TakenReturn(directory: path)?.path ?? path }
    }
    /// Its size in bytes.
    package var bytes: Int64 = 0
    /// When it reached this state, in ms since 1970.
    package var since: Int64?
    /// The name of its user; nil if unknown.
    package var owner: String?
    /// Its generation and platform; nil if unknown.
    package var of: String?
    /// The message that explains its state.
    package var reason: String?
    package var code: String?
    package var fix: String?
    /// The operator who discarded it.
    package var by: String?
    /// Its edits, each with its last verdict.
    package var edits: [(number: Int64, verdict: String)] = []

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
}
