import Arguments
import JSON
import MobileSync
import Pipelines
import Salesforce
import SmartStore
import System

/// `attache sync run`: runs Mobile Sync on one store file, without a pipeline.
struct SyncRunCommand: Command {
  static let name = "sync run"
  static let summary = "run named syncs of one store, as an app with the Mobile SDK does"
  static let discussion = """
    Syncs are run in the given order: everything the first time, then only changes. With \
    --all every sync is run, sync ups first, so that fetched records do not overwrite unsent \
    changes. Syncs of --config that the store lacks are set up; existing ones keep their definitions \
    and states, and differences are reported. A store that does not exist is created from --store-config.

    A failing sync ends the command, and later syncs are not run. Changes that the org refused, or \
    that were left because the org's record is newer, stay in the store, are listed, and give exit status 3.
    """
  static let examples = [
    Note(
      "attache sync run --store store.sqlite --config usersyncs.json --all --target-org field",
      "every sync of the file, as the user of the sf login"),
    Note(
      "attache sync run --store store.sqlite --name contactsUp,contactsDown --token-env TOKEN "
        + "--org-url https://example.my.salesforce.com",
      "two syncs of the store, with an access token"),
    Note(
      "attache sync run --store new.sqlite --platform ios --store-config userstore.json "
        + "--config usersyncs.json --all --username ada@example.com --key-file jwt.key "
        + "--client-id APP --org-url https://example.my.salesforce.com",
      "a new store, primed as a user"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .option("store", "FILE", "the store file", required: true, completes: .files, \.store),
      .option(
        "name", "NAMES", "syncs to run, in this order", commas: true, \.names),
      .flag("all", "run all named syncs, sync ups first", \.all),
      .option(
        "config", "FILE", "the sync file", completes: .files, \.config),
      .option(
        "store-config", "FILE", "the SDK's userstore.json, which defines the soups",
        completes: .files,
        \.storeConfig),
      .option("platform", "PLATFORM", "the layout of a new store", \.platform),
      .flag("replace", "replace the definitions of existing syncs by those of --config", \.replace),
      .flag("clean-ghosts", "remove records that the org no longer returns", \.cleanGhosts),
      .option(
        "max-deletes", "N%", "the largest share of a soup to remove at once (default: 10%)",
        \.maxDeletes),
      .deadline(\.deadline),
    ] + LoginOptions.parameters.map { $0.within(\.login) }
      + Options.output.map { $0.within(\.options) }
  }

  var store = ""
  var names: [String] = []
  var all = false
  var config: String?
  var storeConfig: String?
  var platform: StorePlatform?
  var replace = false
  var cleanGhosts = false
  var maxDeletes: Percentage?
  var deadline: PositiveNumber?
  var login = LoginOptions()
  var options = Options()

  func validate() throws(UsageError) {
    guard names.isEmpty == all else {
      throw UsageError(
        names.isEmpty ? "no sync is named" : "--name and --all exclude each other",
        hint: "give --name NAMES, or --all")
    }
    if replace, config == nil {
      throw UsageError("--replace needs the new definitions", hint: "give --config FILE")
    }
    try login.validate()
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let progress = Progress(context, quiet: options.quiet || options.json)
    do {
      let result = try await work(context, progress)
      progress.finish()
      return show(result, nil, context)
    } catch {
      progress.finish()
      guard options.json else { throw error }
      return show(SyncCall.Result(failure: nil), Diagnostic(error), context)
    }
  }

  private func work(_ context: Program, _ progress: Progress) async throws -> SyncCall.Result {
    let json = options.json
    let quiet = options.quiet
    let call = SyncCall(
      command: self, program: context, plan: try plan(context), org: try login.org(context),
      show: { state in
        if json {
          context.print(.object(["type": "sync", "state": state.document]))
        } else {
          progress.show(state)
        }
      },
      warn: { text in
        if !json, !quiet {
          progress.finish()
          context.note("warning: \(text)")
        }
      })
    let seconds = deadline?.value ?? 7 * 24 * 60 * 60
    let (outcome, signal, isLate) = await Interruption.run(deadlineSeconds: seconds) {
      try await call.run()
    }
    let interrupted = signal.map { Interruption.error(.sync, signal: $0) }
    let late = Interruption.late(.sync, seconds: seconds, setting: "--deadline")
    switch outcome {
    case .success(var result):
      if result.failure != nil { result.failure = interrupted ?? (isLate ? late : result.failure) }
      return result
    case .failure(let error): throw interrupted ?? (isLate ? late : error)
    }
  }

  /// Reads the files, and reports all of their faults at once.
  private func plan(_ context: Program) throws -> SyncCall.Plan {
    var plan = SyncCall.Plan()
    if let storeConfig {
      let path = try context.existing(storeConfig)
      plan.soups = try StoreConfig(
        json: try Files.read(path, limit: PipelineFile.limitBytes), file: storeConfig)
    }
    guard let config else { return plan }
    let path = try context.existing(config)
    let syncs = try SyncsConfig(
      json: try Files.read(path, limit: PipelineFile.limitBytes), file: config)
    if let soups = plan.soups {
      let reader = ConfigurationReader(file: config)
      syncs.check(against: soups, storeFile: storeConfig ?? "", reader)
      try reader.finish()
    }
    (plan.syncs, plan.syncsFile) = (syncs, config)
    return plan
  }

  // MARK: output

  private func show(
    _ result: SyncCall.Result, _ error: Diagnostic?, _ context: Program
  ) -> ExitStatus {
    let failure = error ?? result.failure.map { Diagnostic($0) }
    let finished: ExitStatus =
      result.outcomes.contains(where: \.needsAttention) ? ExitStatus.needsAttention : .done
    let status = failure?.status ?? finished
    if options.json {
      context.print(json(result, failure, status))
      return status
    }
    if !options.quiet {
      for outcome in result.outcomes where outcome.state.status == .done {
        context.print(outcome.line)
      }
    }
    let rows = result.outcomes.flatMap(\.open).map(\.row)
    if !rows.isEmpty, !options.quiet {
      let header = ["soup", "entry", "id", "change", "outcome", "why"]
      for line in TextTable.lines(header: header, rows: rows, isCut: context.outputIsTerminal) {
        context.print(line)
      }
    }
    for line in failure?.lines ?? [] { context.note(line) }
    if !result.notRun.isEmpty, !options.quiet {
      context.note("not run: \(result.notRun.joined(separator: ", "))")
    }
    return status
  }

  private func json(
    _ result: SyncCall.Result, _ failure: Diagnostic?, _ status: ExitStatus
  ) -> JSONValue {
    var object: JSONObject = [
      "type": "summary", "status": JSONValue(Int(status.rawValue)),
      "result": .object([
        "syncs": .array(result.outcomes.map(\.json)), "notRun": JSONValue(result.notRun),
      ]),
      "warnings": JSONValue(result.warnings),
    ]
    if let failure { object["error"] = failure.json }
    return .object(object)
  }
}
