import Arguments
import JSON
import Ledger
import Pipelines
import System

/// `attache reconcile undo`: undoes what a run changed in the org.
struct ReconcileUndoCommand: Command {
  static let name = "reconcile undo"
  static let summary = "undo what a run changed in the org"
  static let discussion = """
    Shows a plan first, with the digest for --confirm. Fields are reset to the values that the org had \
    before the run, new records are deleted, and deleted ones are restored from the recycle bin. A record that \
    has been changed since the run is left as it is, and is listed with the \
    reason. An undo is a separate run with its own report. An edit that is undone is resolved: \
    no later run sends it again.
    """
  static let examples = [
    Note("attache reconcile undo field-service 20260131T020000Z-12", "the plan"),
    Note(
      "attache reconcile undo field-service 20260131T020000Z-12 --confirm 8c1f0e6bd02a77d4",
      "apply the plan"),
    Note("attache reconcile undo field-service 20260131T020000Z-12 37 38", "two of its edits"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .argument("run", "the run's ID, as shown by attache status and in the report", \.run),
      .arguments(
        "edit",
        "an edit's number, as the report shows it; several with spaces between (default: all that "
          + "the run wrote)", \.edits),
      .option("confirm", "DIGEST", "apply the plan with this digest", \.confirm),
      .flag("dry-run", short: "n", "show the plan, and exit with status 0", \.dryRun),
      .option(
        "by", "NAME", "the name recorded with the undo (default: the system's user name)", \.by),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var run = ""
  var edits: [Int] = []
  var confirm: String?
  var dryRun = false
  var by: String?
  var options = Options()

  func validate() throws(UsageError) {
    if dryRun, confirm != nil {
      throw UsageError("--dry-run and --confirm exclude each other", hint: "remove one of them")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let undo = PipelineUndo(read, root: call.root(of: read))
    let numbers = edits.map { Int64($0) }
    let plan = try undo.plan(run: run, edits: numbers)
    tell(plan, context)
    if plan.edits.isEmpty {
      if options.json {
        context.print(.object(["type": "undo", "run": .string(run), "edits": []]))
      } else {
        context.print("run \(run) has nothing to undo")
      }
      return plan.refused.isEmpty ? .done : .needsAttention
    }
    let name = by ?? ProcessEnvironment.userName()
    if let confirm {
      guard confirm == plan.digest else { throw undo.notConfirmed(plan) }
      return try await call.run(undo.runOptions(plan, by: name, isDryRun: false))
    }
    let status = try await call.run(
      undo.runOptions(plan, by: name, isDryRun: true), isUndoPlan: true)
    let command = undo.command(plan, edits: numbers)
    let words = "this is a plan, and nothing was undone; to apply it: \(command)"
    if options.json {
      context.print(
        .object([
          "type": "undo", "run": .string(run), "edits": .array(plan.edits.map { JSONValue($0) }),
          "digest": .string(plan.digest), "message": .string(words),
        ]))
    } else {
      context.note(words)
    }
    // A plan that is only shown leaves nothing open, whatever it cannot undo.
    let isShown = status == .done || status == .needsAttention
    return isShown ? (dryRun ? .done : .needsAttention) : status
  }

  /// Prints the edits that the plan leaves out.
  private func tell(_ plan: PipelineUndo.Plan, _ context: Program) {
    if options.json { return }
    for refusal in plan.refused { context.note("attache: \(refusal)") }
    if options.quiet { return }
    for (edit, run) in plan.undone { context.print("edit \(edit): run \(run) undid it") }
  }
}
