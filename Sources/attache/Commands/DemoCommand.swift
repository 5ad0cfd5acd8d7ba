import Arguments
import Pipelines
import Rehearsal
import System

/// `attache demo`: plays a whole scenario on an embedded org.
struct DemoCommand: Command {
  static let name = "demo"
  static let summary = "show the whole job on an embedded org"
  static let discussion = """
    Starts an org of its own on a free port, primes three technicians' snapshots, plays a day in the field, \
    ingests and reconciles what comes back, and primes again. It checks itself and exits with status 1 if \
    the result is not what was played. It brings its own pipeline, which it writes into the scratch directory, \
    and its results stay under snapshots/demo. It empties only directories that an earlier demo made.
    """
  static let examples = [Note("attache demo", "in any directory that you may write to")]
  static var parameters: [Parameter<Self>] {
    [
      .option(
        "pipeline", "FILE", "a pipeline to play instead of the demo's own", completes: .files,
        \.pipeline),
      .option("data", "DIR", "where snapshots are kept", completes: .directories, \.data),
      .option(
        "scratch", "DIR", "where the org and the devices live; emptied first if a demo made it",
        completes: .directories, \.scratch),
      .flag("verbose", short: "v", "also print the events of each run", \.verbose),
    ]
  }

  var pipeline: String?
  var data = "snapshots"
  var scratch = ".demo"
  var verbose = false

  func run(_ context: Program) async throws -> ExitStatus {
    let places = Demo.Places(
      pipelineFile: pipeline.map(context.absolute), snapshots: context.absolute(data),
      scratch: context.absolute(scratch))
    let (outcome, signal, _) = await Interruption.run(deadlineSeconds: 600) { [verbose] in
      try await Demo.run(
        places,
        report: { event in
          if verbose, let line = EventText.line(for: event) { context.note(line) }
        }, say: { context.print($0) })
    }
    if let signal {
      throw Interruption.error(.demo, signal: signal, fix: "start it again: it begins anew")
    }
    do {
      try outcome.get()
      return .done
    } catch let error as MarkedDirectory.Foreign {
      throw PipelineError(error)
    } catch RehearsalError.overlapping(let scratch, let other) {
      throw PipelineError(
        .configuration, "demo.overlap",
        "\(RehearsalError.overlapping(scratch, other))", fix: "name another --scratch")
    } catch let error as RehearsalError {
      throw PipelineError(
        .failed, "demo", "the demo came out another way", reason: error.description,
        fix: "please report it, with the output above")
    }
  }
}
