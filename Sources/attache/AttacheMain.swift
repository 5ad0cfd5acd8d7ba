import Arguments
import Pipelines
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
    let program = Program.current()
    let words = Array(CommandLine.arguments.dropFirst())
    let work: @Sendable (Program) async throws -> ExitStatus
    do {
      switch try AttacheTool.tool.parse(words) {
      case .answer(let text):
        // Printed here, without starting threads.
        program.write(text)
        ProcessEnvironment.leave(program.ending(.done).rawValue)
      case .command(_, let run): work = run
      }
    } catch {
      ProcessEnvironment.leave(program.ending(told(error, words, program)).rawValue)
    }
    if let trouble = ProcessLimits.threadTrouble() {
      let error = PipelineError(
        .failed, "process.threads", "attache cannot have the threads that it needs",
        reason: trouble.reason,
        fix: "raise the limits of processes (ulimit -u) and of memory (ulimit -v)")
      ProcessEnvironment.leave(told(error, words, program).rawValue)
    }
    ProcessEnvironment.leave {
      do {
        return program.ending(try await work(program)).rawValue
      } catch {
        return program.ending(told(error, words, program)).rawValue
      }
    }
  }

  /// Prints an error, and returns its exit status.
  private static func told(
    _ error: any Error, _ words: [String], _ program: Program
  ) -> ExitStatus {
    let diagnostic = Diagnostic(error)
    if words.contains("--json") {
      program.print(diagnostic.json)
    } else {
      for line in diagnostic.lines { program.note(line) }
    }
    return diagnostic.status
  }
}
