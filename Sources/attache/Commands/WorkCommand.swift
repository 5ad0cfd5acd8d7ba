import Arguments
import JSON
import Pipelines
import System

/// `attache work`: performs orders of a run on another machine.
struct WorkCommand: Command {
  static let name = "work"
  static let summary = "prime snapshots that a run has ordered, without its data directory"
  static let discussion = """
    Several workers divide the orders that attache run --until orders wrote to work.store, and attache run --from \
    collect takes their results. A worker needs the pipeline file, the org's login and the store: neither the data \
    directory nor its keys. It performs the orders of its shard, and then those that no other worker has claimed. An \
    order that is performed twice counts once. With auto, the index comes from SLURM_ARRAY_TASK_ID, \
    JOB_COMPLETION_INDEX or AWS_BATCH_JOB_ARRAY_INDEX. The workers divide org.concurrency and org.apiBudget.
    """
  static let examples = [
    Note("attache work field-service --shard 0/4", "the first of four workers"),
    Note("attache work field-service --shard auto/4", "a worker of an array of four"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .option(
        "shard", "I/N", "the worker's index, from 0 or auto, and the number of workers",
        required: true, \.shard),
      .flag("only-own", "leave orders of other shards alone", \.onlyOwn),
      .flag(
        "oversubscribe",
        "allow more workers than org.concurrency; each sends one request at a time",
        \.oversubscribe),
      .deadline(\.deadline),
    ] + Options.output.map { $0.within(\.options) }
  }

  var pipeline = ""
  var shard = ShardArgument(index: 0, count: 1)
  var onlyOwn = false
  var oversubscribe = false
  var deadline: PositiveNumber?
  var options = Options()

  func run(_ context: Program) async throws -> ExitStatus {
    var work = Worker.Options(try shard.resolved(context.variables))
    (work.onlyOwn, work.oversubscribes) = (onlyOwn, oversubscribe)
    work.deadlineSeconds = deadline?.value
    let path = context.absolute(try PipelineFile.locate(pipeline))
    // A worker has not all variables that the file names: only those of the secrets that it uses.
    let read = try PipelineFile.read(path: path)
    context.use(pipeline: read.called)
    let progress = Progress(context, quiet: options.quiet || options.json)
    let (program, json, used) = (context, options.json, work)
    // Events come from several threads; each is handled completely before the next.
    let turn = Locked(())
    let seconds = used.deadlineSeconds ?? read.org.runDeadlineSeconds
    let (outcome, signal, isLate) = await Interruption.run(deadlineSeconds: seconds) {
      try await Worker.perform(read, variables: program.variables, options: used) { event in
        turn.withLock { _ in
          if json { program.print(event.json) } else { progress.show(event) }
        }
      }
    }
    progress.finish()
    switch outcome {
    case .success(let summary):
      if json {
        program.print(
          .object([
            "type": "summary", "status": JSONValue(Int(summary.exitStatus.rawValue)),
            "result": summary.json,
          ]))
      } else if !options.quiet {
        program.print(summary.text)
      }
      return summary.exitStatus
    case .failure(let error):
      if let signal { throw Interruption.error(.work, signal: signal) }
      if isLate {
        throw Interruption.late(.work, seconds: seconds, setting: "org.runDeadlineSeconds")
      }
      throw error
    }
  }
}

/// `I/N` or `auto/N` on the command line.
struct ShardArgument: ArgumentValue {
  /// The index; nil for that of the environment.
  let index: Int?
  let count: Int

  init(index: Int?, count: Int) { (self.index, self.count) = (index, count) }

  init?(argument: String) {
    let parts = argument.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, let count = Int(argument: parts[1]), count > 0 else { return nil }
    let index = Int(argument: parts[0])
    guard parts[0] == Self.auto || index.map({ $0 >= 0 }) == true else { return nil }
    self.init(index: index, count: count)
  }

  private static let auto = "auto"
  static var expectation: String { "I/N or auto/N, with I from 0 to N - 1" }
  var argumentText: String { "\(index.map { String($0) } ?? Self.auto)/\(count)" }

  /// Returns the shard, with the index that the environment gives for `auto`.
  func resolved(_ variables: [String: String]) throws(UsageError) -> Shard {
    guard let index = index ?? Shard.index(in: variables) else {
      throw UsageError(
        "--shard auto needs the index of an array",
        hint:
          "set SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX or AWS_BATCH_JOB_ARRAY_INDEX, or write "
          + "--shard I/\(count)")
    }
    guard let shard = Shard(index, of: count) else {
      throw UsageError(
        "the worker's index is \(index), and there \(count == 1 ? "is" : "are") "
          + CountText.of(count, "worker"),
        hint: "the index is from 0 to \(count - 1): correct N, or the size of the array")
    }
    return shard
  }
}
