import Arguments
import Pipelines
import System

/// `attache returns list`: lists returns with their locations.
struct ReturnsListCommand: Command {
  static let name = "returns list"
  static let summary = "list the returns in the inbox, in processing and in quarantine"
  static let discussion = """
    Each return is listed with its location, age, user and reason. --all includes the processed and the \
    discarded returns.
    """
  static let examples = [
    Note(
      "attache returns list field-service",
      "the waiting returns, and the refused ones with their reasons")
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .flag("all", "include processed and discarded returns", \.all),
    ] + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var all = false
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let found = try call.returns().list().filter {
      all || ($0.state != .done && $0.state != .discarded)
    }
    if options.json {
      context.print(.array(found.map(\.json)))
    } else if !options.quiet {
      if found.isEmpty { context.print("no return is waiting or in quarantine") }
      for one in found {
        for line in ReturnText.lines(one, isWhole: false, context) { context.print(line) }
      }
    }
    return .done
  }
}

/// The text of a return.
enum ReturnText {
  /// Returns the state and the reason; if `isWhole`, also the path and the edits.
  static func lines(_ one: PipelineReturns.File, isWhole: Bool, _ program: Program) -> [String] {
    let digest = one.shortDigest.map { " (\($0))" } ?? ""
    let owner = one.owner.map { " of \($0)" } ?? ""
    let since = one.since.map { " since \(Dates.utcSeconds($0))" } ?? ""
    var lines = ["\(one.state.words): \(one.name)\(digest)\(owner)\(since)"]
    if let reason = one.reason { lines.append("  \(reason)") }
    if let fix = one.fix {
      let called = program.calledPipeline ?? "PIPELINE"
      lines.append("  " + ReturnFix.text(fix, pipeline: called, name: one.name, path: one.file))
    }
    if let by = one.by { lines.append("  by \(by)") }
    guard isWhole else { return lines }
    if let of = one.of { lines.append("  \(of)") }
    if let code = one.code { lines.append("  \(code)") }
    if let path = one.path { lines.append("  \(path), \(ByteCount.text(Int(one.bytes)))") }
    return lines + one.edits.map { "  edit \($0.number): \($0.verdict)" }
  }
}

extension PipelineCall {
  /// Opens the pipeline's returns.
  ///
  /// The pipeline file is read, but no secrets.
  func returns() throws -> PipelineReturns {
    let read = try read()
    return PipelineReturns(read, root: root(of: read))
  }
}
