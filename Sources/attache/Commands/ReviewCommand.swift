import Arguments
import JSON
import Pipelines
import Review
import System

/// `attache review`: serves a page on which an operator decides open edits.
struct ReviewCommand: Command {
  static let name = "review"
  static let summary = "decide about open edits on a page in the browser"
  static let discussion = """
    The page is served on the loopback interface of this machine. Its address is printed; it holds a token \
    that opens the page once, for one browser. The org is asked anew for the records on the page, nothing \
    is sent before its plan was shown, and decisions hold for the values that the page showed. It ends with \
    ^C, or when nobody has used it for an hour.

    To use it from another machine, lead the same port there: ssh -L 8417:127.0.0.1:8417 HOST, with \
    --port 8417 here.
    """
  static let examples = [
    Note("attache review field-service", "open the address that it prints"),
    Note("attache review field-service --port 8417 --by grace", "on a port, in grace's name"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option("port", "PORT", "the port; 0 takes a free one", \.port),
      .option("by", "NAME", "who decides; else the name of the system's user", \.by),
      .option("idle", "SECONDS", "end when nobody has used it for so long", \.idle),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var port = Port(0)
  var by: String?
  var idle = 3600
  var options = Options()

  func validate() throws(UsageError) {
    if idle < 1 { throw UsageError("--idle is a number of seconds, at least 1") }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let (read, root) = try call.pipeline()
    let server = try ReviewServer(
      read, root: root, variables: context.variables,
      by: by ?? ProcessEnvironment.userName(), port: port.number)
    let stopped = Stop()
    Signals.onTermination { stopped.signal($0) }
    if options.json {
      context.print(.object(["url": .string(server.address)]))
    } else {
      context.print(server.address)
      if !options.quiet {
        context.note("attache: open it in a browser, once; ^C ends it")
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
      context.note("attache: nobody used it for \(idle) seconds, so it ended")
    }
    return .done
  }
}
