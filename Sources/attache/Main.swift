import Arguments
import Pipelines
import System

/// The program.
@main
enum Main {
  nonisolated static func main() async {
    ProcessEnvironment.fillStandardStreams()
    ProcessLimits.umask077()
    ProcessLimits.harden()
    Signals.ignorePipe()
    let program = Program.current()
    let words = Array(CommandLine.arguments.dropFirst())
    let status = await run(words, program)
    ProcessEnvironment.leave(program.ending(status).rawValue)
  }

  /// What `words` ask for, done; the exit status.
  nonisolated static func run(_ words: [String], _ program: Program) async -> ExitStatus {
    do {
      switch try AttacheTool.tool.parse(words) {
      case .answer(let text):
        program.write(text)
        return .done
      case .command(_, let run):
        return try await run(program)
      }
    } catch {
      let diagnostic = Diagnostic(error)
      if words.contains("--json") {
        program.print(diagnostic.json)
      } else {
        for line in diagnostic.lines { program.note(line) }
      }
      return diagnostic.status
    }
  }
}
