import JSON
import System

/// The reason why a pipeline command failed, worded for its user.
package struct PipelineError: Error, Sendable, CustomStringConvertible {
  /// The kind of a failure, which determines the exit status.
  package enum Kind: Sendable, Equatable {
    /// An I/O error or a defect.
    case failed
    /// The command line is invalid.
    case usage
    /// The command line names something that does not exist.
    case unknownName
    /// The configuration is invalid, or the org or the ledger does not match the pipeline.
    case configuration
    /// A login or a permission is missing.
    case authentication
    /// The org is unreachable, or a limit or the deadline was reached.
    case tryLater
    /// Another run holds the lock.
    case locked
    /// A verified file is damaged.
    case damaged
    /// A signal interrupted the run.
    case interrupted(signal: Int32)

    package var exitStatus: ExitStatus {
      switch self {
      case .failed: .failed
      case .usage: .usage
      case .configuration, .unknownName: .configuration
      case .authentication: .authentication
      case .tryLater: .tryLater
      case .locked: .locked
      case .damaged: .damaged
      case .interrupted(let signal): .interrupted(by: signal)
      }
    }
  }

  package let kind: Kind
  /// A stable code, such as `sync.query-refused`.
  package let code: String
  /// One sentence without a full stop that names the fault and its subject.
  package let message: String
  /// The location: a file with line and column, a request or a soup; nil if the message contains
  /// it.
  package var location: String?
  /// The address of the org to which the request was sent; nil if the error is not about a request.
  package var address: String?
  /// The location with the address.
  package var place: String? {
    guard let location, let address else { return location }
    return "\(location) at \(address)"
  }
  /// The cause, in the words of the system that refused.
  package var reason: String?
  package var fix: String?

  /// Creates an error from its four parts.
  package init(
    _ kind: Kind, _ code: String, _ message: String, location: String? = nil,
    reason: String? = nil, fix: String? = nil
  ) {
    (self.kind, self.code, self.message) = (kind, code, message)
    (self.location, self.reason, self.fix) = (location, reason, fix)
  }

  /// The error for a name that is not among the pipeline's users.
  init(unknownUser name: String, in pipeline: Pipeline, near names: [String]) {
    // A different name before the @ is a different user.
    func local(_ name: String) -> String { String(name.lowercased().prefix { $0 != "@" }) }
    let nearest = Spelling.nearest(name, among: names.filter { local($0) == local(name) })
    self.init(
      .unknownName, "users.unknown", "\(name) is not a user of the pipeline",
      location: pipeline.file,
      fix: nearest.map { "did you mean \($0)?" } ?? Self.nameUser(names, near: name))
  }

  /// The fix for an unknown user: the pipeline's users, the most similar names first.
  private static func nameUser(_ names: [String], near name: String) -> String {
    if names.isEmpty { return "name a user selected by \"users\"" }
    let first = name.lowercased().first
    let alike = names.filter { $0.lowercased().first == first }
    let listed = (alike + names.filter { !alike.contains($0) }).prefix(mostNamed)
    let more = names.count - listed.count
    return "name a user of the pipeline: \(listed.joined(separator: ", "))"
      + (more > 0 ? " or one of \(more) more" : "")
  }

  /// The number of users that a message lists.
  private static let mostNamed = 5

  /// The four parts on one line.
  package var description: String {
    var text = "\(message) [\(code)]"
    if let location { text += "; where: \(location)" }
    if let reason { text += "; why: \(reason)" }
    if let fix { text += "; fix: \(fix)" }
    return text
  }
}
