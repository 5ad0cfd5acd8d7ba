import Arguments
import Pipelines
import System

/// `attache recover`: recovers a pipeline whose ledger does not know what was sent last.
struct RecoverCommand: Command {
  static let name = "recover"
  static let summary =
    "resume after a restore, a lost ledger, a cloned machine or a sandbox refresh"
  static let discussion = """
    Edits from older bundles may already have been sent by a run that the ledger does not know. New records are \
    therefore searched for in the org before they are sent, no update overwrites a later change of another user, and \
    ambiguous edits are left for review. Devices keep their bundles, and may return them as before. Processed \
    returns that the ledger does not know are ingested again. recover itself does not contact the org; the next run \
    searches it.
    """
  static let examples = [
    Note(
      "attache recover field-service", "after the ledger was lost, or replaced by an older one"),
    Note(
      "attache recover field-service --from /mnt/backups/field-service-20260131T050000Z.backup.tar.zst",
      "on another machine"),
    Note(
      "attache recover field-service --restored",
      "after the whole data directory was restored or cloned"
    ),
    Note("attache recover field-service --new-org", "after the sandbox was refreshed"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option("from", "FILE", "restore this backup; there must be no data directory yet", \.backup),
      .flag(
        "restored",
        "the whole data directory, with its ledger, is a copy from a backup or another machine",
        \.restored),
      .flag("new-org", "the pipeline's org has been replaced", \.newOrg),
      .flag("dry-run", short: "n", "show the findings without changing anything", \.dryRun),
      .option(
        "by", "NAME", "the name recorded with the recovery (default: the system's user name)", \.by),
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
    request.backup = try backup.map { try backupFile($0, context) }
    (request.isRestored, request.newOrg, request.isDryRun) = (restored, newOrg, dryRun)
    // A restored directory may have older generations than devices can get.
    let publisher = try await Publisher.open(
      read, root: call.root(of: read), variables: context.variables)
    if let published = try await publisher?.published() { request.published = published }
    let findings = try PipelineRecovery.perform(read, root: call.root(of: read), request)
    if options.json {
      context.print(findings.json(read.name, isDone: !dryRun))
    } else if !options.quiet {
      for line in findings.lines(read.called, isDone: !dryRun) { context.print(line) }
    }
    return .done
  }

  private func backupFile(_ path: String, _ context: Program) throws(UsageError) -> String {
    let absolute = context.absolute(path)
    guard Files.exists(absolute) else {
      throw UsageError("there is no backup \(path)", hint: "correct --from")
    }
    return absolute
  }
}
