import System

/// The description of a program as plain values.
package struct ToolDescription: Sendable {
  package let name: String
  /// One line in lower case.
  package let summary: String
  /// The output of `--version`.
  package let version: String
  /// The date of the version in the format of manual pages: "November 21, 2026".
  package let date: String
  /// The paragraphs of the program's help page.
  package let discussion: String
  /// The names of command groups, with their summaries.
  package let groups: [Note]
  /// The parts of the list of commands on the first help page; empty for one list of all.
  package let sections: [HelpSection]
  /// Every command for users; the built-in ones come last.
  package let commands: [CommandDescription]
  /// The commands that are called by other programs.
  package let hidden: [CommandDescription]
  /// The exit statuses and their meanings.
  package let exitStatuses: [Note]
  /// The environment variables that it reads.
  package let variables: [Note]

  /// The built-in commands, whose output is generated from this description.
  static func builtIns(of name: String) -> [CommandDescription] {
    let words = ParameterDescription(
      kind: .arguments, name: "command", short: nil, placeholder: "COMMAND",
      summary: "the command; without it, the program", isRequired: false, defaultText: nil,
      completion: .nothing)
    let shell = ParameterDescription(
      kind: .argument, name: "shell", short: nil, placeholder: "SHELL",
      summary: "the shell to complete for", isRequired: true, defaultText: nil,
      completion: .words(Shell.candidates))
    return [
      CommandDescription(
        builtIn: "completion", "print a completion script for a shell",
        examples: [
          Note(
            "source <(\(name) completion bash)",
            "for this shell; add the line to ~/.bashrc for every new one")
        ],
        [shell]),
      CommandDescription(
        builtIn: "manual", "print the manual page",
        examples: [Note("\(name) manual > \(name).1", "the page as mdoc text")], [words]),
      CommandDescription(
        builtIn: "help", "explain a command",
        examples: [Note("\(name) help completion", "the help page of one command")], [words]),
    ]
  }

  /// Returns the command with this name.
  package func command(named name: String) -> CommandDescription? {
    (commands + hidden).first { $0.name == name }
  }

  /// Returns the command that the first one or two words call.
  func command(calledBy words: [String]) throws(UsageError) -> CommandDescription {
    if words.count > 1, let command = command(named: words[0] + " " + words[1]) { return command }
    if let command = command(named: words[0]) { return command }
    let members = commands.filter { $0.words.count > 1 && $0.words[0] == words[0] }
    guard members.isEmpty else {
      let names = members.map { $0.words[1] }
      guard words.count > 1, !words[1].hasPrefix("-") else {
        throw UsageError(
          "\"\(words[0])\" needs one of: \(names.joined(separator: ", "))",
          hint: "\(name) help \(words[0]) explains them", command: name)
      }
      throw UsageError(
        "\"\(words[0])\" has no command \"\(words[1])\"",
        hint: NearestWord.suggestion(for: words[1], among: names)
          ?? "there are: \(names.joined(separator: ", "))", command: name)
    }
    let known = commands.map { $0.words[0] }
    throw UsageError(
      "unknown command \"\(words[0])\"",
      hint: NearestWord.suggestion(for: words[0], among: known)
        ?? "\(name) help lists the commands", command: name)
  }

  /// Returns the text that a built-in command prints.
  func answer(_ command: CommandDescription, _ words: [String]) throws(UsageError) -> String {
    if words.contains("--help") || words.contains("-h") { return help(for: command) }
    if let option = words.first(where: { $0.hasPrefix("-") }) {
      throw UsageError(
        "unknown option \"\(option)\"", hint: "remove it: \(command.name) has no options")
    }
    switch command.name {
    case "completion":
      guard let word = words.first else {
        throw UsageError("SHELL is missing: \(Shell.expectation)")
      }
      guard let shell = Shell(argument: word), words.count == 1 else {
        throw UsageError(
          "SHELL cannot be \"\(words.joined(separator: " "))\": it must be \(Shell.expectation)",
          hint: NearestWord.suggestion(for: word, among: Shell.candidates))
      }
      return completion(for: shell)
    case "manual":
      return words.isEmpty ? manual : manual(for: try self.command(exactly: words))
    default:
      guard let first = words.first else { return help }
      if words.count == 1, let page = groupHelp(first) { return page }
      return help(for: try self.command(exactly: words))
    }
  }

  /// The page of the group with this name; nil if there is no such group, or if a command has the
  /// name.
  func groupHelp(_ name: String) -> String? {
    let isGroup = command(named: name) == nil && groups.contains { $0.name == name }
    return isGroup ? help(forGroup: name) : nil
  }

  /// Returns the command line with the command before its options; nil if the words call none.
  func inOrder(_ words: [String]) -> String? {
    for start in words.indices where !words[start].hasPrefix("-") {
      let called = Array(words[start...])
      guard let command = try? command(calledBy: called) else { continue }
      let rest = words[..<start] + called.dropFirst(command.words.count)
      return ([name] + command.words + rest.map(ShellWord.quoted)).joined(separator: " ")
    }
    return nil
  }

  private func command(exactly words: [String]) throws(UsageError) -> CommandDescription {
    let found = try command(calledBy: words)
    guard found.words.count == words.count else {
      throw UsageError("there is no command \"\(words.joined(separator: " "))\"")
    }
    return found
  }
}
