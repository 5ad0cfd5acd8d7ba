import Arguments
import Pipelines
import System

/// `attache ingest`: validates returns and records their edits.
struct IngestCommand: Command {
  static let name = "ingest"
  static let summary = "ingest returned stores and bundles, and record their edits"
  static let discussion = """
    Without a file, takes everything in the inbox that has been unchanged for a minute. A return is copied, \
    opened as untrusted input and validated: its org, user, pipeline and platform are read from the stamp that prime \
    writes into each store. An invalid return is quarantined with its reason; the others are ingested. Ingesting a return twice records its edits once.
    """
  static let examples = [
    Note("attache ingest field-service", "everything in the inbox"),
    Note("attache ingest field-service ada.sqlite", "one file, at once"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .arguments("file", "files to ingest at once; they are copied", completes: .files, \.files),
      .option(
        "generation", "SNAPSHOT/GENERATION",
        "for a file that lost its stamp: the 18-character ID of its user (or global), and the "
          + "generation", \.identity),
      .flag(
        "dry-run", short: "n", "show the contents of the files without ingesting them", \.dryRun),
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
        "--generation cannot be \"\(identity)\": it must be SNAPSHOT/GENERATION",
        hint: "write the user's 18-character ID (not the user name), a slash and the generation")
    }
    if files.count != 1 {
      throw UsageError(
        files.isEmpty ? "PIPELINE or FILE is missing" : "--generation applies to one file",
        hint:
          "write attache ingest PIPELINE --generation \(identity) FILE, with the file that lost "
          + "its stamp")
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
