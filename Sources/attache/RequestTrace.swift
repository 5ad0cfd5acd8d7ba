import JSON
import Pipelines
import Salesforce
import System

/// Prints and records the requests to an org, for `--verbose` and `--debug-http`, and prints the
/// repeated ones.
///
/// A request is shown as its method and its path without the query. Tokens, keys and bodies are
/// never shown.
final class RequestTrace: Sendable {
  private let program: Program
  private let file: FileDescriptorHandle?
  private let path: String
  /// Whether repeated requests are shown without `--verbose`.
  private let showsRetries: Bool
  private let failure = Locked<String?>(nil)

  /// Creates the trace that the options request; nil if they request none.
  init?(_ program: Program, showsRetries: Bool) throws(PipelineError) {
    guard program.verbosity > 0 || program.debugHTTP != nil || showsRetries else { return nil }
    self.program = program
    self.showsRetries = showsRetries
    path = program.debugHTTP.map(program.absolute) ?? ""
    guard program.debugHTTP != nil else {
      file = nil
      return
    }
    do throws(SystemError) {
      file = try FileDescriptorHandle.appending(path)
    } catch {
      throw PipelineError(
        .failed, "debug-http.file", "the file of --debug-http cannot be opened: \(error.reason)",
        location: path, fix: "name a file in a directory that is writable for you")
    }
  }

  /// Why lines are missing in the file; nil if none are.
  var trouble: String? { failure.withLock { $0 } }

  /// Prints an event, and appends it to the file.
  func see(_ event: OrgEvent) {
    if let line = shown(event) { program.note(line) }
    guard !path.isEmpty, let value = Self.json(event, at: Clock.wallMilliseconds()) else { return }
    do throws(SystemError) {
      try file?.write(Array((VisibleText.json(value.text) + "\n").utf8))
    } catch {
      let words = "the file \(path) could not be written: \(error.reason)"
      failure.withLock { $0 = $0 ?? words }
    }
  }

  /// The line to print for an event; nil if none is requested.
  private func shown(_ event: OrgEvent) -> String? {
    if program.verbosity > 0 { return Self.line(event, isLong: program.verbosity > 1) }
    // Without this line, a command would be silent during the pause.
    guard showsRetries, case .retrying = event else { return nil }
    return Self.line(event, isLong: false)
  }

  /// Returns the line of an event; a long line has the status, the time and the size.
  static func line(_ event: OrgEvent, isLong: Bool) -> String? {
    switch event {
    case .answered(_, let request, let status, let milliseconds, let bytes, let identity):
      guard isLong else { return request }
      return "\(request): \(status), \(milliseconds) ms, \(ByteCount.text(bytes))" + user(identity)
    case .failed(_, let request, let reason, let milliseconds, let identity):
      guard isLong else { return "\(request): no answer" }
      return "\(request): no answer, \(milliseconds) ms, \(reason)" + user(identity)
    case .retrying(let request, let reason, let attempt, let most, let milliseconds, _):
      return "\(request): " + EventText.retrying(reason, attempt, of: most, milliseconds)
    case .loggedIn(let username, _): return isLong ? "logged in as \(username)" : nil
    case .renewed(let username): return isLong ? "renewed the session of \(username)" : nil
    }
  }

  private static func user(_ identity: String) -> String {
    identity.isEmpty ? "" : ", as \(identity)"
  }

  /// The event as one JSON object; nil for a login, because its requests have
  /// separate events.
  static func json(_ event: OrgEvent, at time: Int64) -> JSONValue? {
    var object: JSONObject = ["time": .string(Dates.utc(time))]
    switch event {
    case .answered(let kind, let request, let status, let milliseconds, let bytes, let identity):
      object["type"] = "answered"
      object["kind"] = .string(kind.rawValue)
      object["request"] = .string(request)
      object["status"] = JSONValue(status)
      object["milliseconds"] = JSONValue(milliseconds)
      object["bytes"] = JSONValue(bytes)
      object["user"] = .string(identity)
    case .failed(let kind, let request, let reason, let milliseconds, let identity):
      object["type"] = "failed"
      object["kind"] = .string(kind.rawValue)
      object["request"] = .string(request)
      object["reason"] = .string(reason)
      object["milliseconds"] = JSONValue(milliseconds)
      object["user"] = .string(identity)
    case .retrying(let request, let reason, let attempt, let most, let milliseconds, let identity):
      object["type"] = "retrying"
      object["request"] = .string(request)
      object["reason"] = .string(reason)
      object["attempt"] = JSONValue(attempt)
      object["of"] = JSONValue(most)
      object["milliseconds"] = JSONValue(milliseconds)
      object["user"] = .string(identity)
    case .loggedIn, .renewed: return nil
    }
    return .object(object)
  }
}
