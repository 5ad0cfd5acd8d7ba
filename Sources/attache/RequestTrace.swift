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
  /// Which events are printed.
  private let level: Level
  private let failure = Locked<String?>(nil)

  /// The events that are printed, from none to every request with its status, time and size.
  private enum Level: Comparable {
    case nothing, retries, requests, details
  }

  /// Creates the trace that the options request; nil if they request none.
  ///
  /// With `showsRetries`, repeated requests are printed without `--verbose` too: without their
  /// lines, a command would be silent during the pauses.
  init?(_ program: Program, showsRetries: Bool) throws(PipelineError) {
    switch program.verbosity {
    case 0: level = showsRetries ? .retries : .nothing
    case 1: level = .requests
    default: level = .details
    }
    guard level > .nothing || program.debugHTTP != nil else { return nil }
    self.program = program
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
    if let line = line(event) { program.note(line) }
    guard !path.isEmpty, let value = Self.json(event, at: Clock.wallMilliseconds()) else { return }
    do throws(SystemError) {
      try file?.write(Array((VisibleText.json(value.text) + "\n").utf8))
    } catch {
      let words = "the file \(path) could not be written: \(error.reason)"
      failure.withLock { $0 = $0 ?? words }
    }
  }

  /// The line to print for an event; nil if none is requested.
  private func line(_ event: OrgEvent) -> String? {
    let isLong = level == .details
    switch event {
    case .retrying(let request, let reason, let attempt, let most, let milliseconds, _):
      guard level >= .retries else { return nil }
      return "\(request): " + EventText.retrying(reason, attempt, of: most, milliseconds)
    case _ where level < .requests: return nil
    case .answered(_, let request, let status, let milliseconds, let bytes, let identity):
      guard isLong else { return request }
      return "\(request): \(status), \(milliseconds) ms, \(ByteCount.text(bytes))" + user(identity)
    case .failed(_, let request, let reason, let milliseconds, let identity):
      guard isLong else { return "\(request): no answer" }
      return "\(request): no answer, \(milliseconds) ms, \(reason)" + user(identity)
    case .loggedIn(let username, _): return isLong ? "logged in as \(username)" : nil
    case .renewed(let username): return isLong ? "renewed the session of \(username)" : nil
    }
  }

  private func user(_ identity: String) -> String {
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
