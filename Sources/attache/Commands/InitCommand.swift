import Arguments
import JSON
import Pipelines
import System

/// `attache init`: writes a pipeline with its store and sync files, from an app's own files or from
/// the org's objects.
struct InitCommand: Command {
  static let name = "init"
  static let summary = "write a new pipeline, from an app's own files or from the org's objects"
  static let discussion = """
    Writes NAME.json, NAME/userstore.json and NAME/usersyncs.json, and prints the next steps. Existing files \
    are never changed. With --from, the app's store file and sync file are used unchanged. With --object, \
    init reads the objects' fields from the org as the first of the users. It writes a soup for each, a sync down \
    of names, external IDs and the fields on the user's page layout, and a sync up of the fields that the user \
    can edit. Then the pipeline is validated against the org, as attache org check does.

    On a terminal it asks for missing options, and asks again after a wrong answer. The pipeline has \
    the defaults of "keep", and "notify" has no command yet: add one to be notified of failed runs. Secrets are \
    not copied: the pipeline names their files or variables.
    """
  static let examples = [
    Note(
      "attache init visits --object Account,Contact --user ada@example.com --key-file jwt.key "
        + "--client-id APP --org-url https://example.my.salesforce.com",
      "a pipeline with two objects"
    ),
    Note(
      "attache init app --from userstore.json usersyncs.json --target-org field",
      "a pipeline with an app's own files, for the user of an sf login"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("name", "the pipeline's name", \.pipeline),
      .argument("syncs", "with --from, the app's sync file", completes: .files, \.syncs),
      .option("in", "DIR", "the directory of pipelines", completes: .directories, \.directory),
    ] + InitOptions.parameters.map { $0.within(\.told) }
      + Options.pipeline.map { $0.within(\.options) }
  }

  var pipeline = ""
  var syncs: String?
  var directory = "pipelines"
  var told = InitOptions()
  var options = Options()

  func validate() throws(UsageError) {
    if told.from != nil, !told.objects.isEmpty {
      throw UsageError(
        "--from and --object exclude each other",
        hint: "remove --object: the app's files name the objects")
    }
    if (told.from == nil) != (syncs == nil) {
      throw UsageError(
        told.from == nil
          ? "unexpected argument \"\(syncs ?? "")\"" : "the app's sync file is missing",
        hint: "write --from userstore.json usersyncs.json")
    }
  }

  func run(_ context: Program) async throws -> ExitStatus {
    let told = try InitQuestions(program: context).completed(told)
    if told.from == nil, told.objects.isEmpty {
      throw UsageError(
        "no objects are named",
        hint: "give --object Account,Contact, or --from userstore.json usersyncs.json")
    }
    let place = context.absolute(directory)
    let login = try told.login(context)
    var draft = PipelineDraft(
      name: pipeline, url: try told.address(context), login: login,
      caFile: told.caFile.map(context.absolute), users: try told.selection(login),
      platforms: told.platforms, store: .provisional)
    draft.schema = Self.schemaPath(from: place)
    try draft.expectNothing(in: place)
    let root = PipelineCall(program: context, options: options, name: pipeline).root(in: place)
    let written: Pipeline
    do {
      if let from = told.from, let syncs {
        draft.store = StoreDraft(
          schema: try Files.read(context.existing(from), limit: PipelineFile.limitBytes),
          syncs: try Files.read(context.existing(syncs), limit: PipelineFile.limitBytes))
      } else {
        let found = try await DraftedObjects.ask(
          told.objects, draft, root: root, variables: context.variables)
        draft.store = try StoreDraft(found.objects, edited: found.edited)
        if login.method == .sf { draft.url = .plain(found.address) }
      }
      written = try draft.write(into: place, variables: context.variables)
    } catch let problems as Problems {
      throw ofOptions(ofSources(problems))
    }
    return try await tell(written, context)
  }

  /// The problems of copied files, which are removed again, in the files that the user named.
  private func ofSources(_ problems: Problems) -> Problems {
    guard let from = told.from, let syncs else { return problems }
    let sources = ["/\(pipeline)/userstore.json": from, "/\(pipeline)/usersyncs.json": syncs]
    return Problems(
      problems.list.map { problem in
        let source = sources.first { problem.file.hasSuffix($0.key) }?.value
        return Problem(
          file: source ?? problem.file, line: problem.line, column: problem.column,
          path: problem.path, message: problem.message, fix: problem.fix)
      })
  }

  /// The options whose values are in the pipeline file, by path there.
  private var optionsByPath: [String: String] {
    [
      "org.url": told.url == nil ? "$ATTACHE_ORG_URL" : "--org-url", "org.caFile": "--ca-file",
      "users.list": "--user",
    ]
  }

  /// The problems of the pipeline file, which is removed again, in the options that caused them.
  private func ofOptions(_ problems: Problems) -> Problems {
    Problems(
      problems.list.map { problem in
        let path = problem.path.prefix { $0 != "[" }
        guard Files.name(of: problem.file) == pipeline + ".json",
          let option = optionsByPath[String(path)]
        else { return problem }
        let fix = problem.fix.isEmpty ? "" : problem.fix + "; "
        return Problem(
          file: option, line: 0, column: 0, path: "", message: problem.message,
          fix: fix + "nothing was written")
      })
  }

  /// Returns the path of the schema of pipeline files: that of the source tree around the pipeline
  /// file's directory, or the one installed with the program; nil if there is neither.
  private static func schemaPath(from place: String) -> String? {
    let name = "docs/pipeline.schema.json"
    if Files.exists("\(place)/../\(name)") { return "../" + name }
    let directory = Files.parent(of: ProcessEnvironment.executablePath()) ?? ""
    let installed = "\(Files.parent(of: directory) ?? "")/share/doc/attache/\(name)"
    return Files.exists(installed) ? installed : nil
  }

  /// Prints what was written, the result of the org's check, and the next steps.
  private func tell(_ written: Pipeline, _ context: Program) async throws -> ExitStatus {
    let call = PipelineCall(program: context, options: options, name: written.file)
    let outcome: Result<OrgCheck, any Error>
    do {
      outcome = .success(
        try await OrgCheck.run(written, root: call.root(of: written), variables: context.variables))
    } catch {
      outcome = .failure(error)
    }
    var lines = ["wrote \(written.file)"]
    lines += written.stores.flatMap { ["wrote \($0.schemaFile)", "wrote \($0.syncsFile)"] }
    var status = ExitStatus.done
    var answer: JSONObject = ["pipeline": .string(written.file)]
    switch outcome {
    case .success(let check):
      lines += check.lines
      answer["org"] = check.json
      status = check.exitStatus
    case .failure(let error):
      let diagnostic = Diagnostic(error)
      lines += ["the org was not contacted:"] + diagnostic.lines.map { "  " + $0 }
      answer["error"] = diagnostic.json
      status = diagnostic.status
    }
    let named = call.called(written)
    let next =
      status == .done ? ["run \(named) --dry-run", "run \(named)"] : ["org check \(named)"]
    lines += ["next:"] + next.map { "  attache \($0)" }
    answer["next"] = JSONValue(next.map { "attache \($0)" })
    if options.json {
      context.print(.object(answer))
    } else if !options.quiet {
      for line in lines { context.print(line) }
    }
    return status
  }
}
