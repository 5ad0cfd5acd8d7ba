import Arguments
import JSON
import Pipelines
import Review
import System

/// `attache review`: serves a page on which an operator decides open edits.
struct ReviewCommand: Command {
  static let name = "review"
  static let summary = "decide open edits on a page in the browser"
  static let discussion = """
    The page is served on the loopback interface of this machine. The printed address contains a token \
    that works once; the browser that opened it may reload the page. The page reads the org's current values. Nothing \
    is sent until its plan has been shown, and decisions apply to the values that the page showed. It stops on \
    ^C, or after an hour without use.

    To use it from another machine, forward the port: ssh -L 8417:127.0.0.1:8417 HOST, with \
    --port 8417 here.
    """
  static let examples = [
    Note("attache review field-service", "open the printed address"),
    Note("attache review field-service --port 8417 --by grace", "on a fixed port, in grace's name"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option("port", "PORT", "the port; 0 selects a free one", \.port),
      .option(
        "by", "NAME", "the name recorded with decisions (default: the system's user name)", \.by),
      .option("idle", "SECONDS", "stop after SECONDS without use", \.idle),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var port = Port(0)
  var by: String?
  var idle = 3600
  var options = Options()

  func validate() throws(UsageError) {
    if idle < 1 { throw UsageError("--idle must be a number of seconds, at least 1") }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let (read, root) = try call.pipeline()
    let server = try ReviewServer(
      read, root: root, variables: context.variables,
      by: by ?? ProcessEnvironment.userName(), port: port.number)
    let nothingRan = PipelineDecisions(read, root: root).nothingRan
    if let nothingRan, !options.quiet {
      context.note("attache: note: \(nothingRan), so the page is empty")
    }
    let stopped = Stop()
    Signals.onTermination { stopped.signal($0) }
    if options.json {
      context.print(.object(["url": .string(server.address)]))
    } else {
      context.print(server.address)
      if !options.quiet {
        context.note("attache: open this address once in a browser; ^C stops it")
      }
    }
    let idle = idle
    let timer = Task {
      try await server.waitUntilIdle(seconds: idle)
      stopped.signal(0)
    }
    let signal = await stopped.wait()
    timer.cancel()
    await server.stop()
    if signal == 0, !options.quiet {
      context.note("attache: stopped after \(CountText.of(idle, "second")) without use")
    }
    return .done
  }
}
