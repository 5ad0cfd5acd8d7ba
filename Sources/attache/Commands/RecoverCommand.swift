import Arguments
import Pipelines
import System

/// `attache recover`: recovers a pipeline whose ledger does not know what was sent last.
struct RecoverCommand: Command {
  static let name = "recover"
  static let summary = "go on after a restore, a lost ledger, a cloned machine, a refreshed sandbox"
  static let discussion = """
    What a bundle of before brings from now on may have been sent by a run that nobody remembers. So new records \
    are searched in the org before they are sent, no change goes over what somebody made of a record since, and \
    what stays unsure waits for a person. Devices keep their bundles, and may hand them back as ever. What the \
    ledger does not know and lies there as done with is ingested again. The org is not asked.
    """
  static let examples = [
    Note(
      "attache recover field-service", "after the ledger was lost, or an older one was put back"),
    Note(
      "attache recover field-service --from /mnt/backups/field-service-20260131T050000Z.backup.tar.zst",
      "on another machine"),
    Note("attache recover field-service --restored", "the whole directory was restored, or cloned"),
    Note("attache recover field-service --new-org", "the sandbox was refreshed: it is another org"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option("from", "FILE", "begin with a backup, where no data directory is", \.backup),
      .flag("restored", "the data directory is a restored or a cloned one", \.restored),
      .flag("new-org", "the pipeline's org is another one from now on", \.newOrg),
      .flag("dry-run", short: "n", "say what was found, change nothing", \.dryRun),
      .option("by", "NAME", "who recovers; else the name of the system's user", \.by),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var backup: String?
  var restored = false
  var newOrg = false
  var dryRun = false
  var by: String?
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read(isRestoring: backup != nil)
    var request = PipelineRecovery.Request(by: by ?? ProcessEnvironment.userName())
    request.backup = backup.map(context.absolute)
    (request.isRestored, request.newOrg, request.isDryRun) = (restored, newOrg, dryRun)
    let findings = try PipelineRecovery.perform(read, root: call.root(of: read), request)
    if options.json {
      context.print(findings.json(read.name, isDone: !dryRun))
    } else if !options.quiet {
      for line in findings.lines(read.called, isDone: !dryRun) { context.print(line) }
    }
    return .done
  }
}
