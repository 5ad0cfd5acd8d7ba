import Arguments
import Ledger
import Pipelines
import System

/// `attache complete`: prints the names for completion scripts, without contacting an org.
struct CompleteCommand: Command {
  /// The kinds of names.
  enum Kind: String, ArgumentValue, CaseIterable {
    case pipelines, users
  }

  static let name = "complete"
  static let summary = "print the names that a shell completes"
  static let isHidden = true
  static let discussion = """
    The completion scripts call this command, which prints one name per line: the pipelines in pipelines/ and \
    /etc/attache, or the users of the first pipeline among the words, from its file and its ledger.
    """
  static let examples = [
    Note("attache complete pipelines", "every pipeline that can be called by name"),
    Note("attache complete users field-service", "the users of one pipeline"),
  ]
  static var parameters: [Parameter<Self>] {
    [
      .argument("kind", "the kind of names", \.kind),
      .arguments("word", "the words of a command line, after --", \.words),
    ]
  }

  var kind = Kind.pipelines
  var words: [String] = []

  func run(_ context: Program) async throws -> ExitStatus {
    let names =
      switch kind {
      case .pipelines: PipelineFile.places.flatMap(PipelineFile.names(in:))
      case .users: users(context)
      }
    for name in Set(names).sorted() { context.print(name) }
    return .done
  }

  /// The users of the first word that names a readable pipeline; empty if there is none.
  private func users(_ context: Program) -> [String] {
    for word in words {
      guard let path = try? PipelineFile.locate(word),
        let pipeline = PipelineFile.reading(path: context.absolute(path)).pipeline
      else { continue }
      var options = Options()
      options.data = words.firstIndex(of: "--data").flatMap { words.dropFirst($0 + 1).first }
      let call = PipelineCall(program: context, options: options, name: word)
      return listed(pipeline)
        + primed(DataDirectory(root: call.root(of: pipeline), name: pipeline.name))
    }
    return []
  }

  private func listed(_ pipeline: Pipeline) -> [String] {
    if case .list(let names) = pipeline.users.source { names } else { [] }
  }

  private func primed(_ data: DataDirectory) -> [String] {
    guard Files.exists(data.state), let ledger = try? data.openLedger() else { return [] }
    defer { ledger.close() }
    return ((try? ledger.snapshotRows()) ?? []).filter { $0.id != SnapshotID.global }
      .compactMap(\.username)
  }
}
