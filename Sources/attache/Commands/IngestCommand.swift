import Arguments
import Pipelines
import System

/// `attache ingest`: validates returns and records their edits.
struct IngestCommand: Command {
  static let name = "ingest"
  static let summary = "take returned stores and bundles, and record their edits"
  static let discussion = """
    Without a file, everything in the inbox that has stood still for a minute is taken. A return is copied, \
    opened defensively and proved: org, user, pipeline and platform by its stamp. What fails goes into \
    quarantine with its reason; the rest goes on. Ingesting a return twice records nothing twice.
    """
  static let examples = [
    Note("attache ingest field-service", "everything in the inbox"),
    Note("attache ingest field-service ada.sqlite", "one file, at once"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .arguments("file", "returns to take at once; they are copied", completes: .files, \.files),
      .option(
        "as", "SNAPSHOT/GENERATION", "whose a file is that lost its stamp", \.identity),
      .flag("dry-run", short: "n", "tell what the files hold, take nothing", \.dryRun),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var files: [String] = []
  var identity: String?
  var dryRun = false
  var options = Options()

  func validate() throws(UsageError) {
    guard let identity else { return }
    if snapshot == nil {
      throw UsageError(
        "--as cannot be \"\(identity)\"",
        hint: "write the user's 18-character id, a slash and the generation")
    }
    if files.count != 1 {
      throw UsageError("--as is for one file", hint: "name the file that lost its stamp")
    }
  }

  private var snapshot: (id: String, generation: Int)? {
    guard let parts = identity?.split(separator: "/"), parts.count == 2,
      let generation = Int(parts[1]), generation > 0
    else { return nil }
    return (String(parts[0]), generation)
  }

  func run(_ context: Program) async throws -> ExitStatus {
    var run = RunOptions()
    run.stages = [.ingest]
    run.files = files.map(context.absolute)
    run.asSnapshot = snapshot
    run.isDryRun = dryRun
    return try await PipelineCall(program: context, options: options, name: pipeline).run(run)
  }
}
