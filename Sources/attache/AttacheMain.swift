import Arguments
import Pipelines
import Salesforce
import System

/// The program.
///
/// Its entry point is in the target `attache-program`.
package enum AttacheMain {
  /// Runs the command that the arguments name, and ends the process with its exit status.
  ///
  /// It is not asynchronous, because the concurrency runtime would wait forever for threads that
  /// the system refuses.
  package static func run() {
    ProcessEnvironment.fillStandardStreams()
    ProcessLimits.umask077()
    ProcessLimits.harden()
    ProcessLimits.tellOfMemory()
    ProcessLimits.giveMemoryBack()
    Signals.ignorePipe()
    var program = Program.current()
    let words = Array(CommandLine.arguments.dropFirst())
    let work: @Sendable (Program) async throws -> ExitStatus
    do {
      switch try AttacheTool.tool.parse(words) {
      case .answer(let text):
        // Printed here, without starting threads.
        program.write(text)
        ProcessEnvironment.leave(program.ending(.done).rawValue)
      case .command(_, let globals, let run):
        try AttacheTool.tool.set(globals, in: &program)
        work = run
      }
    } catch {
      ProcessEnvironment.leave(program.ending(told(error, words, program)).rawValue)
    }
    let ready = program
    if let trouble = ProcessLimits.threadTrouble() {
      let error = PipelineError(
        .failed, "process.threads", "attache cannot start the threads that it needs",
        reason: trouble.reason,
        fix: "raise the limits for processes (ulimit -u) and memory (ulimit -v)")
      ProcessEnvironment.leave(told(error, words, ready).rawValue)
    }
    ProcessEnvironment.leave {
      do {
        let trace = try RequestTrace(ready, showsRetries: !words.contains(where: silent.contains))
        let observer = trace.map { trace in OrgObserver { trace.see($0) } }
        let status = try await OrgObserver.$current.withValue(observer) {
          try await work(ready)
        }
        if let trouble = trace?.trouble { ready.note("warning: \(trouble)") }
        return ready.ending(status).rawValue
      } catch {
        return ready.ending(told(error, words, ready)).rawValue
      }
    }
  }

  /// The options without which repeated requests are shown.
  private static let silent: Set<String> = ["--quiet", "-q", "--json"]

  /// Prints an error, and returns its exit status.
  private static func told(
    _ error: any Error, _ words: [String], _ program: Program
  ) -> ExitStatus {
    let diagnostic = Diagnostic(error, pipeline: program.calledPipeline)
    if words.contains("--json") {
      program.print(diagnostic.json)
    } else {
      for (number, line) in diagnostic.lines.enumerated() {
        guard number == 0, let colon = line.firstRange(of: ": ") else {
          program.note(line)
          continue
        }
        program.note(
          styled: "\(String(line[..<colon.lowerBound]), .red): \(String(line[colon.upperBound...]))"
        )
      }
    }
    return diagnostic.status
  }
}
