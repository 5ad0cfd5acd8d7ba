import Arguments
import JSON
import Pipelines
import System

/// An error as shown to the user: at most four lines, with a stable code and the exit status.
struct Diagnostic {
  let status: ExitStatus
  let lines: [String]
  let json: JSONValue

  /// Creates the text of an error; `pipeline` replaces `PIPELINE` in the commands of its fix.
  init(_ error: any Error, pipeline: String? = nil) {
    switch error {
    case let error as UsageError: self.init(usage: error)
    case let error as Problems: self.init(problems: Self.problems(error, naming: pipeline))
    default:
      var told = PipelineError(describing: error)
      if let pipeline { told.fix = told.fix?.replacing("PIPELINE", with: pipeline) }
      self.init(pipeline: told)
    }
  }

  private static func problems(_ problems: Problems, naming pipeline: String?) -> Problems {
    guard let pipeline else { return problems }
    return Problems(
      problems.list.map {
        Problem(
          file: $0.file, line: $0.line, column: $0.column, path: $0.path, message: $0.message,
          fix: $0.fix.replacing("PIPELINE", with: pipeline))
      })
  }

  private init(usage error: UsageError) {
    status = .usage
    let command = error.command.isEmpty ? "attache" : error.command
    lines = ["\(command): \(error.message)"] + (error.hint.map { ["  fix    \($0)"] } ?? [])
    json = Self.json("usage", error.message, nil, nil, error.hint)
  }

  private init(problems error: Problems) {
    status = ExitStatus.configuration
    var lines = ["attache: \(error.summary)   [configuration]"]
    if let problem = error.ofFile {
      lines.append("  where  \(problem.file)")
      if !problem.fix.isEmpty { lines.append("  fix    \(problem.fix)") }
    } else {
      lines += error.list.map { "  " + $0.description }
    }
    self.lines = lines
    json = .object([
      "type": "error", "code": "configuration",
      "problems": .array(
        error.list.map {
          .object([
            "file": .string($0.file), "line": .number(String($0.line)),
            "column": .number(String($0.column)), "path": .string($0.path),
            "message": .string($0.message), "fix": .string($0.fix),
          ])
        }),
    ])
  }

  private init(pipeline error: PipelineError) {
    status = error.kind.exitStatus
    var lines = ["attache: \(error.message)   [\(error.code)]"]
    let location = error.place
    if let location { lines.append("  where  \(location)") }
    if let reason = error.reason {
      lines += WordLines.of("  why    " + reason, indent: "         ")
    }
    if let fix = error.fix { lines.append("  fix    \(fix)") }
    self.lines = lines
    json = Self.json(error.code, error.message, location, error.reason, error.fix)
  }

  private static func json(
    _ code: String, _ message: String, _ location: String?, _ reason: String?, _ fix: String?
  ) -> JSONValue {
    var object: JSONObject = ["type": "error", "code": .string(code), "message": .string(message)]
    if let location { object["where"] = .string(location) }
    if let reason { object["why"] = .string(reason) }
    if let fix { object["fix"] = .string(fix) }
    return .object(object)
  }
}
