import Arguments
import JSON
import Pipelines
import System

/// `attache backup`: backs up the state that cannot be rebuilt.
struct BackupCommand: Command {
  static let name = "backup"
  static let summary = "back up the pipeline state that cannot be rebuilt"
  static let discussion = """
    One file, PIPELINE-TIME.backup.tar.zst: the ledger, the key of the stamps, refresh tokens, issued records, \
    returns, reports, the pipeline file and its configurations. Stores and bundles are left out; the next prime \
    builds them. The backup contains secrets and records: protect it accordingly. A run that starts meanwhile waits. \
    attache recover --from restores it.
    """
  static let examples = [
    Note("attache backup field-service /mnt/backups", "a new file in a directory"),
    Note(
      "attache backup field-service - | ssh vault 'cat > daily.backup.tar.zst'",
      "to another machine"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument(
        "to", "a directory, created if it does not exist; - is standard output", \.directory),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var directory = ""
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let streams = directory == "-"
    if streams, context.outputIsTerminal {
      throw PipelineError(
        .usage, "backup.terminal", "a backup is not written to a terminal",
        fix: "name a directory, or redirect the output: attache backup \(read.called) - > FILE")
    }
    let done = try PipelineBackup.write(
      read, root: call.root(of: read), to: streams ? nil : context.directory(directory))
    if streams { return .done }
    if options.json {
      context.print(done.json)
    } else if !options.quiet {
      let size = ByteCount.text(Int(done.bytes ?? 0))
      context.print("\(done.path ?? ""): \(CountText.of(done.files, "file")), \(size)")
    }
    return .done
  }
}
