import Arguments
import JSON
import Ledger
import Pipelines
import Reports
import System

/// `attache decide`: lets an operator decide open edits.
struct DecideCommand: Command {
  static let name = "decide"
  static let summary = "decide edits that a run left open"
  static let discussion = """
    A decision is based on the org's values in the last report. If they have changed when it is \
    applied, nothing is sent and a new decision is needed. The next reconciliation applies decisions; --now \
    applies them at once, for these edits alone. Give EDIT, --verdict or --file; or --list alone.

    Which decisions are possible depends on the verdict; --list shows them with the values of all sides. \
    --set FIELD=VALUE sends a value that you enter (an empty VALUE clears the field). The other \
    edited fields follow --take: device (the default) sends the device's values, server keeps the \
    org's. --file reads many decisions from a report's conflicts.csv, with \
    \(Decision.Kind.allCases.map(\.rawValue).joined(separator: ", ")) in the column decision. Its columns are \
    number, decision, value and field; set needs field and value, record needs value. It also reads JSON: \
    {"decisions": [{"edit": 1, "decision": "device"}]}.
    """
  static let examples = [
    Note("attache decide field-service --list", "the open edits, and the possible decisions"),
    Note("attache decide field-service 12 --take device --now", "send the device's edit, at once"),
    Note(
      "attache decide field-service 12 --take server --set Phone=+15550100",
      "send this phone number; the other edited fields keep the org's values"),
    Note(
      "attache decide field-service --verdict conflict --take server",
      "for all conflicts, keep the org's values"
    ),
    Note(
      "attache decide field-service --file conflicts.csv --dry-run",
      "what the decisions in a table would do"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .pipeline(\.pipeline),
      .arguments(
        "edit", "an edit's number, as --list and reports show it; several with spaces between",
        \.edits),
      .option("take", "SIDE", "the side whose values are used", \.take),
      .option(
        "set", "FIELD=VALUE", "send this value; the other edited fields follow --take", \.set),
      .option(
        "match-record", "ID",
        "the ID of the org's record that this edit belongs to; for the verdicts "
          + DecisionRule.verdicts(permitting: .record), \.record),
      .flag("retry", Decision.Kind.retry.meaning, \.retry),
      .flag("discard", Decision.Kind.discard.meaning, \.discard),
      .option("file", "FILE", "read decisions from JSON or CSV", completes: .files, \.file),
      .flag("list", "list the open edits and the possible decisions", \.list),
      .flag("now", "apply the decision at once", \.now),
      .flag(
        "dry-run", short: "n", "show the effect without deciding or sending anything", \.dryRun),
      .option(
        "by", "NAME", "the name recorded with the decision (default: the system's user name)", \.by),
      .option(
        "verdict", "VERDICTS", "all open edits with these verdicts", commas: true, \.verdicts),
    ] + Options.run.map { $0.within(\.options) }
  }

  var pipeline = ""
  var edits: [Int] = []
  var take: Decision.Side?
  var set: [String] = []
  var record: String?
  var retry = false
  var discard = false
  var file: String?
  var list = false
  var now = false
  var dryRun = false
  var by: String?
  var verdicts: [OpenVerdict] = []
  var options = Options()

  /// The named verdicts.
  private var chosen: Set<Verdict> { Set(verdicts.map(\.verdict)) }

  /// The number of requested actions; `--take` with `--set` counts as one.
  private var asked: Int {
    (take != nil || !set.isEmpty ? 1 : 0) + [record != nil, retry, discard].count { $0 }
  }

  func validate() throws(UsageError) {
    let isAimed = !edits.isEmpty || !chosen.isEmpty
    if list {
      if asked > 0 || file != nil || now || dryRun {
        throw UsageError(
          "--list cannot be combined with an option that decides",
          hint: "remove --list, or the other option")
      }
    } else if file != nil {
      if asked > 0 || isAimed {
        throw UsageError(
          "--file contains both the edits and the decisions",
          hint: "remove the edit numbers, --verdict and the options that decide")
      }
    } else if !isAimed {
      throw UsageError("no edit is named", hint: "give edit numbers or --verdict, or use --list")
    } else if asked != 1 {
      throw UsageError(
        asked == 0 ? "no decision is given" : "these decisions exclude each other",
        hint: "give --take, --set or both, or one of --match-record, --retry and --discard")
    }
    _ = try choice()
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: pipeline)
    let read = try call.read()
    let root = call.root(of: read)
    let decisions = PipelineDecisions(read, root: root)
    if list { return try show(decisions, context, read.called) }
    let name = by ?? ProcessEnvironment.userName()
    let result = try decisions.enter(
      try requests(context), try selection(), by: name, isDryRun: dryRun)
    if !dryRun || !result.refused.isEmpty || result.decided.isEmpty {
      tell(result, decisions.shown, context, read.called)
    }
    let entered = result.refused.isEmpty ? ExitStatus.done : .needsAttention
    guard now || dryRun, !result.decided.isEmpty else { return entered }
    let status = try await call.run(
      dryRun
        ? try decisions.runOptions(trying: result.decided, by: name)
        : try decisions.runOptions(carryingOut: result.decided.map(\.edit), by: name))
    return status == .done ? entered : status
  }

  // MARK: requests

  private func requests(_ context: Program) throws -> [DecisionRequest] {
    if let file { return try DecisionFile.read(path: context.existing(file)) }
    guard let choice = try choice() else { return [] }
    return edits.map { DecisionRequest(edit: Int64($0), choice) }
  }

  private func selection() throws -> PipelineDecisions.Selection? {
    guard !chosen.isEmpty, let choice = try choice() else { return nil }
    return .init(chosen, choice)
  }

  private func choice() throws(UsageError) -> DecisionRequest.Choice? {
    if !set.isEmpty { return .fields(try fields(), rest: take) }
    if let record {
      guard let id = record.recordID18 else {
        throw UsageError(
          "--match-record cannot be \"\(record)\": it is not a record ID",
          hint: "write 15 or 18 characters")
      }
      return .whole(.record(id))
    }
    if retry { return .whole(.retry) }
    if discard { return .whole(.discard) }
    return take.map { .whole($0 == .device ? .device : .server) }
  }

  private func fields() throws(UsageError) -> [String: DecisionRequest.FieldChoice] {
    var fields: [String: DecisionRequest.FieldChoice] = [:]
    for word in set {
      guard let equals = word.firstIndex(of: "="), equals > word.startIndex else {
        throw UsageError("--set cannot be \"\(word)\"", hint: "write FIELD=VALUE")
      }
      let name = String(word[..<equals])
      if fields[name] != nil { throw UsageError("--set names \(name) twice") }
      fields[name] = .text(String(word[word.index(after: equals)...]))
    }
    return fields
  }

  // MARK: output

  private func tell(
    _ result: PipelineDecisions.Result, _ shown: ReportMask, _ context: Program, _ called: String
  ) {
    if options.json {
      context.print(DecisionText.json(result, shown))
      return
    }
    for refusal in result.refused { context.note("attache: \(refusal)") }
    if options.quiet { return }
    for one in result.replaced {
      let words = one.decision.kind.meaning
      context.print("edit \(one.edit): the decision by \(one.by) was replaced: \(words)")
    }
    for decided in result.decided {
      context.print("edit \(decided.edit): \(decided.decision.kind.meaning)")
    }
    if result.decided.isEmpty {
      context.print(noneDecided(result))
    } else if !now, !dryRun {
      context.print("the next run applies it; to apply it now: attache reconcile \(called)")
    }
  }

  /// Why no decision was recorded.
  private func noneDecided(_ result: PipelineDecisions.Result) -> String {
    if verdicts.isEmpty { return "the file contains no decisions" }
    guard !result.refused.isEmpty, let choice = try? choice() else {
      let labels = verdicts.map(\.verdict.rawValue).joined(separator: " or ")
      return "no open edit has the verdict \(labels)"
    }
    let kind = DecisionRequest(edit: 0, choice).kind
    return "no decision was recorded; edits with these verdicts allow \(kind.option): "
      + DecisionRule.verdicts(permitting: kind)
  }

  private func show(
    _ decisions: PipelineDecisions, _ context: Program, _ called: String
  ) throws -> ExitStatus {
    let wanted = Set(edits.map { Int64($0) })
    let open = try decisions.open().filter { open in
      (wanted.isEmpty || wanted.contains(open.edit.number))
        && (chosen.isEmpty || chosen.contains(open.edit.verdict))
    }
    if options.json {
      context.print(.array(open.map { $0.json(decisions.shown, pipeline: called) }))
      return .done
    }
    if open.isEmpty, !options.quiet { context.print(decisions.nothingRan ?? "no open edits") }
    for edit in open {
      for line in DecisionText.lines(edit, decisions.shown, called) { context.print(styled: line) }
    }
    return .done
  }
}

extension Decision.Side: ArgumentValue {}

/// A verdict of open edits on the command line: its label, with hyphens instead of spaces.
struct OpenVerdict: ArgumentValue {
  let verdict: Verdict

  init?(argument: String) {
    let label = String(argument.map { $0 == "-" ? " " : $0 })
    guard let verdict = Verdict(rawValue: label), !verdict.isSettled else { return nil }
    self.verdict = verdict
  }

  private init(_ verdict: Verdict) { self.verdict = verdict }

  static var candidates: [String] {
    Verdict.allCases.filter { !$0.isSettled }.map { OpenVerdict($0).argumentText }
  }
  static var expectation: String { "one of " + candidates.joined(separator: ", ") }
  var argumentText: String { String(verdict.rawValue.map { $0 == " " ? "-" : $0 }) }
}
