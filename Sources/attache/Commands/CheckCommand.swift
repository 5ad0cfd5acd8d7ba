import Arguments
import JSON
import Pipelines
import System

/// `attache check`: validates a pipeline with its files, offline, and prints it with all defaults.
struct CheckCommand: Command {
  static let name = "check"
  static let summary = "validate a pipeline and every file it names, offline"
  static let discussion = """
    All problems are listed at once, each with file, line, column, JSON path and suggested fix. A \
    pipeline without problems is printed with every default filled in. A table of users, \
    private keys and CA certificates are also validated. A missing file or variable is a problem; with \
    --offline-secrets, on a machine without the secrets, it is only a note. A file that you cannot read \
    is only a note. It is also only a note if "name" in the pipeline differs from its file name. With --notify, \
    check sends a test message to the targets in "notify", regardless of its "on", requests the heartbeat, and prints the answers. \
    The inbox, and what a run writes, must not be among the files of a data directory.
    """
  static let examples = [
    Note("attache check field-service", "the effective pipeline, or its problems"),
    Note("attache check field-service --notify", "send a test to the notification targets"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .flag(
        "offline-secrets", "report missing secrets only as notes", \.offlineSecrets),
      .flag("notify", "send a test to the notification targets", \.notify),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var offlineSecrets = false
  var notify = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let path = try PipelineFile.locate(pipeline)
    let reading = PipelineFile.reading(
      path: context.absolute(path), thoroughly: context.variables)
    let missing = offlineSecrets ? [] : reading.missing
    guard reading.problems.isEmpty else { throw Problems(reading.problems + missing) }
    let pipeline = try reading.checked()
    let call = PipelineCall(program: context, options: options, name: self.pipeline)
    try call.checkPlaces(of: pipeline)
    if !missing.isEmpty { throw Problems(missing) }
    if notify { return try await test(RunNotices(pipeline, variables: context.variables), context) }
    if !options.quiet {
      let missing = reading.missing.map { "\($0.file):\($0.line):\($0.column): \($0.message)" }
      for note in missing + reading.notes {
        if options.json {
          context.note(["type": "warning", "message": .string(note)])
        } else {
          context.note("attache: \(note)")
        }
      }
      context.print(pipeline.effectiveJSON, pretty: !options.json)
    }
    return .done
  }

  /// Sends a test to all notification targets.
  private func test(_ notices: RunNotices, _ context: Program) async throws -> ExitStatus {
    let (answers, signal) = await Interruption.brief(spent: 0) { await notices.test() }
    guard !answers.isEmpty else {
      throw PipelineError(
        .configuration, "notify.nobody", "the pipeline has no notification target",
        location: pipeline, fix: "add a command, a webhook or a heartbeat to its section \"notify\""
      )
    }
    if options.json {
      context.print([
        "type": "notices",
        "notices": .array(
          answers.map {
            [
              "target": .string($0.target.rawValue), "told": .bool($0.isTold),
              "answer": .string($0.words),
            ]
          }),
      ])
    } else {
      for answer in answers where !options.quiet || !answer.isTold {
        let words = answer.isTold ? "sent: " : "not sent: "
        context.print("\(answer.target.rawValue): \(words)\(answer.words)")
      }
    }
    if answers.allSatisfy(\.isTold) { return .done }
    return signal.map(ExitStatus.interrupted(by:)) ?? .failed
  }
}
