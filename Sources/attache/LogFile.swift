import Arguments
import JSON
import Pipelines
import System

/// A log file to which a run appends its events, one line each.
///
/// Each run opens it again and only appends, so logrotate may move it away between runs. A new file
/// is readable only by its owner, because it names users.
final class LogFile: Sendable {
  private let path: String
  private let format: LogFormat
  private let file: FileDescriptorHandle
  private let failure = Locked<String?>(nil)

  /// Opens or creates the file.
  init(_ path: String, _ format: LogFormat) throws(PipelineError) {
    (self.path, self.format) = (path, format)
    do throws(SystemError) {
      file = try FileDescriptorHandle.appending(path)
    } catch {
      throw PipelineError(
        .failed, "log.file", "the log file cannot be opened: \(error.reason)", location: path,
        fix: "create its directory, writable for the user who runs attache")
    }
  }

  /// Appends an event.
  func add(_ seen: SeenEvent) {
    switch format {
    case .json: write(seen.json)
    case .text:
      guard let text = EventText.logLine(for: seen.event) else { return }
      write(text, of: (seen.pipeline, seen.run), at: seen.time)
    }
  }

  /// Appends the end of the run.
  func add(_ end: RunEnd) {
    switch format {
    case .json:
      var object = end.json.object ?? [:]
      object["time"] = .string(Dates.utc(end.ended))
      write(.object(object))
    case .text:
      let status = "exit status \(end.status.rawValue)"
      let words = end.error.map { "\($0)" } ?? end.words
      write("ended: \(words); \(status)", of: (end.pipeline, end.run), at: end.ended)
    }
  }

  /// Appends a warning that came after the end.
  func add(warning text: String, of end: RunEnd) {
    switch format {
    case .json: write(end.warning(text))
    case .text:
      write("warning: \(text)", of: (end.pipeline, end.run), at: Clock.wallMilliseconds())
    }
  }

  /// Why lines are missing; nil if none are.
  var trouble: String? { failure.withLock { $0 } }

  private func write(_ text: String, of run: (pipeline: String, id: String?), at time: Int64) {
    let line = "\(run.pipeline) \(run.id ?? "-")  \(text)"
    append("\(Dates.utcSeconds(time))  \(VisibleText.line(line))\n")
  }

  private func write(_ value: JSONValue) { append(VisibleText.json(value.text) + "\n") }

  /// One write per line, so that lines of concurrent runs do not mix.
  private func append(_ line: String) {
    do throws(SystemError) { try file.write(Array(line.utf8)) } catch {
      let words = "the log file \(path) could not be written: \(error.reason)"
      failure.withLock { $0 = $0 ?? words }
    }
  }
}
