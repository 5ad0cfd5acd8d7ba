import Arguments
import Pipelines
import System

/// `attache prune`: removes what the pipeline's `keep` no longer covers.
struct PruneCommand: Command {
  static let name = "prune"
  static let summary = "remove expired files, according to the pipeline's keep"
  static let discussion = """
    Without keep, prune removes all but the newest 3 generations, issued records after 60 days, returns after 90 \
    days, and reports after 400 days. Only the pruning at the end of every successful run needs keep. Files that are still needed stay even if they are \
    old: the issued records (the list of what each bundle contained) of a bundle that has not expired, the \
    source of an open edit, the generation that redelivers it, and the last generation that a device returned. The plan lists each with the reason. \
    Quarantined returns never expire. The org is not contacted; ages are relative to \
    the time of the last run.
    """
  static let examples = [
    Note(
      "attache prune field-service --dry-run",
      "what would be removed, and why the rest stays"),
    Note("attache prune field-service", "remove it"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .flag("dry-run", short: "n", "show the plan without removing anything", \.dryRun),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var dryRun = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let plan = try KeepWork.prune(
      read, root: call.root(of: read), isDryRun: dryRun, variables: context.variables)
    if options.json {
      context.print(plan.json(read.name, isDone: !dryRun))
    } else if !options.quiet {
      for line in KeepText.lines(plan, isDone: !dryRun) { context.print(line) }
      if dryRun { context.print("dry run: nothing was removed") }
    }
    return .done
  }
}

/// The text of a prune plan.
enum KeepText {
  /// Returns the removed items by kind, and the kept ones with the reasons.
  static func lines(_ plan: KeepPlan, isDone: Bool) -> [String] {
    var lines = KeepPlan.Kind.allCases.compactMap { kind -> String? in
      let count = plan.count(kind)
      guard count > 0 else { return nil }
      let size = plan.going.filter { $0.kind == kind }.reduce(0) { $0 + $1.bytes }
      return (isDone ? "removed: " : "would be removed: ") + kind.words(count)
        + (size > 0 ? ", " + ByteCount.text(Int(size)) : "")
    }
    if lines.isEmpty { lines.append("there is nothing to remove") }
    return lines
      + ShortList.lines(plan.staying, verb: (one: "stays", many: "stay")) { item in
        ["stays: \(words(item)): \(item.because.joined(separator: "; "))"]
      }
  }

  private static func words(_ item: KeepPlan.Item) -> String {
    switch item.kind {
    case .generation: item.name
    case .issued: "the issued records of \(item.name)"
    case .record: "the record of \(item.name)"
    case .returned: "the return \(item.name)"
    case .quarantined: "the refused return \(item.name)"
    case .report: "the report of run \(item.name)"
    case .values, .run: item.name
    }
  }
}
