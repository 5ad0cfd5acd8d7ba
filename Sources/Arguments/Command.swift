import System

/// One command of a program, declared once: its words, its help and its work.
///
/// `Context` is the program's own type for the outside world (terminal, environment, clock); a
/// command reaches nothing else.
package protocol Command<Context>: Sendable {
  /// What the program hands to its commands.
  associatedtype Context: Sendable

  /// The words that call it: `prime`, or `org serve` for one of a group.
  static var name: String { get }
  /// One line without a full stop, in lower case.
  static var summary: String { get }
  /// Paragraphs for the help page; empty lines separate them.
  static var discussion: String { get }
  /// Complete command lines that work, each with a remark.
  static var examples: [Note] { get }
  /// Its positional arguments in order, and its options.
  static var parameters: [Parameter<Self>] { get }
  /// Whether help, the manual and completion leave it out: other programs call it, users do not.
  static var isHidden: Bool { get }

  /// A command with every default.
  init()
  /// Checks what one parameter alone cannot show.
  func validate() throws(UsageError)
  /// Does the work.
  func run(_ context: Context) async throws -> ExitStatus
}

extension Command {
  /// Nothing beyond the summary.
  package static var discussion: String { "" }
  /// No parameters.
  package static var parameters: [Parameter<Self>] { [] }
  /// A command for users.
  package static var isHidden: Bool { false }
  /// Nothing to check.
  package func validate() throws(UsageError) {}
}

/// What is known of a command, without its type.
package struct CommandDescription: Sendable {
  /// The words that call it.
  package let name: String
  /// One line.
  package let summary: String
  /// Paragraphs.
  package let discussion: String
  /// Command lines that work.
  package let examples: [Note]
  /// Arguments and options.
  package let parameters: [ParameterDescription]

  /// The words of the name.
  package var words: [String] { name.split(separator: " ").map(String.init) }
  /// The arguments that stand by position.
  package var positionals: [ParameterDescription] { parameters.filter { $0.kind.isPositional } }
  /// The options and flags.
  package var options: [ParameterDescription] { parameters.filter { !$0.kind.isPositional } }

  init<C: Command>(_ type: C.Type) {
    name = type.name
    summary = type.summary
    discussion = type.discussion
    examples = type.examples
    let blank = type.init()
    parameters = type.parameters.map { $0.described(in: blank) } + [.help]
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
