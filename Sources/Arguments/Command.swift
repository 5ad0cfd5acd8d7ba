import System

/// A program's environment, in which the global options are set.
package protocol CommandContext: Sendable {
  /// The global options, which every command accepts.
  static var globals: [Parameter<Self>] { get }
}

extension CommandContext {
  /// No global options.
  package static var globals: [Parameter<Self>] { [] }
}

/// A global option as given on the command line.
package struct GivenOption: Sendable, Hashable {
  let name: String
  let word: String
}

/// One command of a program, declared once: its name, its help and its work.
///
/// `Context` is the program's own type for its environment (terminal, variables, clock). A command
/// uses nothing else.
package protocol Command<Context>: Sendable {
  /// The program's environment, which is passed to its commands.
  associatedtype Context: CommandContext

  /// The words that call it: `prime`, or `org serve` for a command of a group.
  static var name: String { get }
  /// One line in lower case, without a full stop.
  static var summary: String { get }
  /// The paragraphs of the help page, separated by empty lines.
  static var discussion: String { get }
  /// Complete, valid command lines, each with a remark.
  static var examples: [Note] { get }
  /// Its positional arguments in order, then its options.
  static var parameters: [Parameter<Self>] { get }
  /// Whether help, the manual and completion leave it out, because it is called by other programs.
  static var isHidden: Bool { get }

  /// Creates a command with the default of every parameter.
  init()
  /// Checks the combination of parameters.
  func validate() throws(UsageError)
  /// Runs the command.
  func run(_ context: Context) async throws -> ExitStatus
}

extension Command {
  package static var discussion: String { "" }
  package static var parameters: [Parameter<Self>] { [] }
  package static var isHidden: Bool { false }
  package func validate() throws(UsageError) {}
}

/// The description of a command, without its type.
package struct CommandDescription: Sendable {
  /// The words that call it.
  package let name: String
  /// One line in lower case.
  package let summary: String
  /// The paragraphs of the help page.
  package let discussion: String
  /// Complete, valid command lines.
  package let examples: [Note]
  /// Its arguments and options.
  package let parameters: [ParameterDescription]

  package var words: [String] { name.split(separator: " ").map(String.init) }
  /// The positional arguments.
  package var positionals: [ParameterDescription] { parameters.filter { $0.kind.isPositional } }
  package var options: [ParameterDescription] { parameters.filter { !$0.kind.isPositional } }

  init<C: Command>(_ type: C.Type) {
    name = type.name
    summary = type.summary
    discussion = type.discussion
    examples = type.examples
    let blank = type.init()
    parameters =
      type.parameters.map { $0.described(in: blank) }
      + C.Context.globals.map(\.describedGlobally) + [.help]
  }

  init(
    builtIn name: String, _ summary: String, examples: [Note], _ parameters: [ParameterDescription]
  ) {
    self.name = name
    self.summary = summary
    self.discussion = ""
    self.examples = examples
    self.parameters = parameters + [.help]
  }
}
