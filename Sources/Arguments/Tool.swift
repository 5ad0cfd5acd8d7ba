import System

/// A program: its commands, declared once; parsing, help, completion and manual are views of it.
package struct Tool<Context: CommandContext>: Sendable {
  /// What a command line requests.
  package enum Invocation: Sendable {
    /// Text to print: help, version, completion script, manual page.
    case answer(String)
    /// A command with its values, ready to run, and the global options.
    case command(
      name: String, globals: [GivenOption],
      run: @Sendable (Context) async throws -> ExitStatus)
  }

  /// The description of the program, for help and documentation.
  ///
  /// Built at each call.
  package var description: ToolDescription { describe() }
  private let name: String
  private let version: String
  private let describe: @Sendable () -> ToolDescription
  private let entries: [Entry]
  private let former: FormerWords

  private struct Entry: Sendable {
    let name: String
    let parse: @Sendable ([String]) throws(UsageError) -> Invocation?
  }

  /// Creates a program with its commands, in the order in which help lists them.
  package init(
    name: String, summary: String, version: String, date: String, discussion: String = "",
    groups: [Note] = [], sections: [HelpSection] = [],
    commands: [any Command<Context>.Type], exitStatuses: [Note],
    variables: [Note] = [], former: FormerWords = FormerWords()
  ) {
    entries = commands.map { Self.entry($0, former) }
    self.former = former
    (self.name, self.version) = (name, version)
    // Built on demand, because it would take most of the time of `--version`.
    describe = {
      ToolDescription(
        name: name, summary: summary, version: version, date: date, discussion: discussion,
        groups: groups, sections: sections,
        commands: commands.filter { !$0.isHidden }.map { Self.describe($0) }
          + ToolDescription.builtIns(of: name),
        hidden: commands.filter { $0.isHidden }.map { Self.describe($0) },
        exitStatuses: exitStatuses, variables: variables)
    }
  }

  private static func describe<C: Command>(_ type: C.Type) -> CommandDescription {
    CommandDescription(type)
  }

  private static func entry<C: Command<Context>>(_ type: C.Type, _ former: FormerWords) -> Entry {
    Entry(name: type.name) { words throws(UsageError) in
      var parser = WordParser<C>(former: former)
      guard let command = try parser.parse(words) else { return nil }
      return .command(
        name: type.name, globals: parser.globals, run: { try await command.run($0) })
    }
  }

  /// Sets global options.
  package func set(_ given: [GivenOption], in context: inout Context) throws(UsageError) {
    for option in given {
      for global in Context.globals where global.name == option.name {
        try global.set(&context, option.word)
      }
    }
  }

  /// Parses the words of a command line, without the program's own name.
  package func parse(_ words: [String]) throws(UsageError) -> Invocation {
    if words.first == "--version" { return .answer("\(name) \(version)\n") }
    let description = description
    guard let first = words.first, first != "--help", first != "-h" else {
      return .answer(description.help)
    }
    if first.hasPrefix("-") {
      if let meant = NearestWord.find(for: first, among: ["--version", "--help"]) {
        throw UsageError(
          "unknown option \"\(first)\"", hint: "did you mean \"\(meant)\"?",
          command: description.name)
      }
      throw UsageError(
        "the command must come before \"\(first)\"",
        hint: description.inOrder(words).map { "write \($0)" }
          ?? "\(description.name) help lists the commands", command: description.name)
    }
    if words.count > 1, ["--help", "-h"].contains(words[1]),
      let page = description.groupHelp(first)
    {
      return .answer(page)
    }
    let command = try description.command(calledBy: words)
    let rest = Array(words.dropFirst(command.words.count))
    do throws(UsageError) {
      guard let entry = entries.first(where: { $0.name == command.name }) else {
        return .answer(try description.answer(command, rest))
      }
      return try entry.parse(rest) ?? .answer(description.help(for: command))
    } catch {
      var named = former.error(callingBy: words) ?? error
      named.command = "\(description.name) \(command.name)"
      throw named
    }
  }
}
