import Arguments
import Pipelines
import Rehearsal
import System

/// `attache demo`: plays a whole scenario on an embedded org.
struct DemoCommand: Command {
  static let name = "demo"
  static let summary = "play the whole cycle on an embedded org"
  static let discussion = """
    Starts its own org on a free port, primes three technicians' snapshots, plays a day in the field, ingests and \
    reconciles the returned stores, and primes again. It checks itself and exits with status 1 if the \
    outcome differs from the expected one. On a terminal it asks whether to leave the org running and three edits open, so that \
    every command it prints can be tried; --keep-open does so without the question. The demo writes its own \
    pipeline into the scratch directory, and its results stay under snapshots/demo. It empties only directories \
    that an earlier demo created.
    """
  static let examples = [Note("attache demo", "in any directory in which you can write")]
  static var parameters: [Parameter<Self>] {
    [
      .option(
        "pipeline", "FILE", "another pipeline to play", completes: .files,
        \.pipeline),
      .option("data", "DIR", "data directory", completes: .directories, \.data),
      .option(
        "scratch", "DIR",
        "directory of the org and the devices; emptied first if a demo created it",
        completes: .directories, \.scratch),
      .flag(
        "keep-open", "leave the org running and three edits open, until Ctrl-C", \.keepOpen),
    ]
  }

  var pipeline: String?
  var data = "snapshots"
  var scratch = ".demo"
  var keepOpen = false

  func run(_ context: Program) async throws -> ExitStatus {
    let places = Demo.Places(
      pipelineFile: pipeline.map(context.absolute), snapshots: try context.directory(data),
      scratch: try context.directory(scratch))
    let keepsOpen = keepOpen || asks(context)
    let (outcome, signal, _) = await Interruption.run(deadlineSeconds: 600) {
      [verbose = context.verbosity > 0] in
      try await Demo.run(
        places, keepsOpen: keepsOpen,
        report: { event in
          if verbose, let line = EventText.line(for: event) { context.note(line) }
        }, say: { context.print($0) })
    }
    if let signal {
      throw Interruption.error(.demo, signal: signal, fix: "start it again")
    }
    do {
      guard let org = try outcome.get() else { return .done }
      let stopped = Stop()
      Signals.onTermination { stopped.signal($0) }
      context.print("")
      context.print("Press Ctrl-C to stop the org. The files stay.")
      _ = await stopped.wait()
      org.stop()
      return .done
    } catch let error as MarkedDirectory.Foreign {
      throw PipelineError(error)
    } catch RehearsalError.overlapping(let scratch, let other) {
      throw PipelineError(
        .configuration, "demo.overlap",
        "\(RehearsalError.overlapping(scratch, other))", fix: "name another --scratch")
    } catch RehearsalError.running(let path) {
      throw PipelineError(
        .locked, "demo.running", "\(RehearsalError.running(path))",
        fix: "stop it, or name another --data and --scratch")
    } catch let error as RehearsalError {
      throw PipelineError(
        .failed, "demo", "the demo's self-check failed", reason: error.description,
        fix: "please report it, with the output above")
    }
  }
  /// Whether the user wants the org to keep running; false without a terminal.
  private func asks(_ context: Program) -> Bool {
    guard context.inputIsTerminal, context.errorIsTerminal, context.outputIsTerminal else {
      return false
    }
    for _ in 0..<3 {
      let answer = context.ask(
        "Leave the org running and three edits open, to try the commands yourself? [Y/n]")
      guard let answer else { return false }
      switch answer.lowercased() {
      case "", "y", "yes": return true
      case "n", "no": return false
      default: context.note("answer y or n")
      }
    }
    return false
  }
}
