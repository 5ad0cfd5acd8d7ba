import JSON
import System

/// Why a command of a pipeline could not do its work, in the words that its user reads.
package struct PipelineError: Error, Sendable, CustomStringConvertible {
  /// What kind of failure it is; the exit status follows from it.
  package enum Kind: Sendable, Equatable {
    /// The disk, or a defect.
    case failed
    /// The command line names what is not there.
    case usage
    /// The configuration, or an org or a ledger that is not this pipeline's.
    case configuration
    /// A login or a permission.
    case authentication
    /// The org is out of reach, or a limit or the deadline is reached.
    case tryLater
    /// Another run holds the lock.
    case locked
    /// A file that was to be verified is damaged.
    case damaged
    /// The run was asked to stop by this signal.
    case interrupted(signal: Int32)

    /// What the program ends with.
    package var exitStatus: ExitStatus {
      switch self {
      case .failed: .failed
      case .usage: .usage
      case .configuration: .configuration
      case .authentication: .authentication
      case .tryLater: .tryLater
      case .locked: .locked
      case .damaged: .damaged
      case .interrupted(let signal): .interrupted(by: signal)
      }
    }
  }

  /// What kind of failure it is.
  package let kind: Kind
  /// A stable code, such as `sync.query-refused`.
  package let code: String
  /// One sentence without a full stop: what is wrong, and whose.
  package let message: String
  /// Where: a file with line and column, a request, a soup; nil where the message says it.
  package var location: String?
  /// The cause, in the words of whoever refused.
  package var reason: String?
  /// What to do.
  package var fix: String?

  /// An error with its four parts.
  package init(
    _ kind: Kind, _ code: String, _ message: String, location: String? = nil,
    reason: String? = nil, fix: String? = nil
  ) {
    (self.kind, self.code, self.message) = (kind, code, message)
    (self.location, self.reason, self.fix) = (location, reason, fix)
  }

  /// That nobody of the pipeline has a name that was asked for.
  init(unknownUser name: String, in pipeline: Pipeline, near names: [String]) {
    // Another name before the @ is another person.
    func local(_ name: String) -> String { String(name.lowercased().prefix { $0 != "@" }) }
    let nearest = Spelling.nearest(name, among: names.filter { local($0) == local(name) })
    self.init(
      .usage, "users.unknown", "\(name) is no user of the pipeline", location: pipeline.file,
      fix: nearest.map { "did you mean \($0)?" } ?? "name one of those that \"users\" gives")
  }

  /// The four parts on one line.
  package var description: String {
    var text = "\(message) [\(code)]"
    if let location { text += "; where: \(location)" }
    if let reason { text += "; why: \(reason)" }
    if let fix { text += "; fix: \(fix)" }
    return text
  }
}
