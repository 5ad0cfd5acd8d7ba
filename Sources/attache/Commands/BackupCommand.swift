import Arguments
import JSON
import Pipelines
import System

/// `attache backup`: backs up the state that cannot be rebuilt.
struct BackupCommand: Command {
  static let name = "backup"
  static let summary = "back up everything of a pipeline that could not be made anew"
  static let discussion = """
    One file, PIPELINE-TIME.backup.tar.zst: the ledger, the key of the stamps, refresh tokens, what was issued, \
    returns, reports, the pipeline file and its configurations. Stores and bundles are not in it; the next prime \
    makes them. It holds secrets and records: keep it as you keep them. A run that begins meanwhile waits. \
    attache recover --from brings it back.
    """
  static let examples = [
    Note("attache backup field-service /mnt/backups", "a file of its own in a directory"),
    Note(
      "attache backup field-service - | ssh vault 'cat > night.backup.tar.zst'",
      "to another machine"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument(
        "to", "a directory, which is made if it is not there; - is standard output", \.directory),
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
        fix: "name a directory, or send it on: attache backup \(read.called) - > FILE")
    }
    let done = try PipelineBackup.write(
      read, root: call.root(of: read), to: streams ? nil : context.absolute(directory))
    if streams { return .done }
    if options.json {
      context.print(done.json)
    } else if !options.quiet {
      let size = ByteCount.text(Int(done.bytes ?? 0))
      context.print("\(done.path ?? ""): \(ByteCount.count(done.files, "file")), \(size)")
    }
    return .done
  }
}
