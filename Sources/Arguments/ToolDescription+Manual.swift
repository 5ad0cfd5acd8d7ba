/// Manual pages in mdoc format.
extension ToolDescription {
  /// The page of the program, with every command.
  package var manual: String {
    var text = prologue(name)
    text += ".Nm \(Self.escaped(name))\n.Nd \(Self.escaped(summary))\n.Sh SYNOPSIS\n"
    text += ".Nm\n.Ar command\n.Op Ar option ...\n.Op Ar argument ...\n.Sh DESCRIPTION\n"
    text += Self.manualParagraphs(discussion.isEmpty ? sentence(summary) : discussion)
    text += ".Ss Commands\n.Bl -tag -width Ds\n"
    for command in commands {
      text += ".It Ic \(Self.escaped(command.name)) \(Self.macroArguments(of: command))\n"
      text += Self.escapedLine(sentence(command.summary)) + "\n"
    }
    text += ".El\n"
    for command in commands { text += parameterSection(command) }
    text += environmentSection + exitSection
    return text + Self.exampleSection(commands.flatMap(\.examples))
  }

  /// The page of one command.
  package func manual(for command: CommandDescription) -> String {
    let title = ([name] + command.words).joined(separator: "-")
    var text = prologue(title)
    text += ".Nm \(Self.escaped(title))\n.Nd \(Self.escaped(command.summary))\n.Sh SYNOPSIS\n"
    text += ".Nm \(Self.escaped(name)) \(Self.escaped(command.name))\n"
    for parameter in command.parameters where parameter.name != "help" {
      text += Self.synopsisMacro(parameter) + "\n"
    }
    text += ".Sh DESCRIPTION\n"
    text += Self.manualParagraphs(
      command.discussion.isEmpty ? sentence(command.summary) : command.discussion)
    text += ".Pp\nIts arguments and options:\n" + Self.parameterList(command)
    text += environmentSection + exitSection
    return text + Self.exampleSection(command.examples)
  }

  private func prologue(_ title: String) -> String {
    ".Dd \(date)\n.Dt \(Self.escaped(title.uppercased())) 1\n.Os\n.Sh NAME\n"
  }

  private var exitSection: String {
    ".Sh EXIT STATUS\n" + Self.tagList(exitStatuses, macro: "Li")
  }

  private var environmentSection: String {
    variables.isEmpty ? "" : ".Sh ENVIRONMENT\n" + Self.tagList(variables, macro: "Ev")
  }

  private func parameterSection(_ command: CommandDescription) -> String {
    ".Ss \(Self.escaped(command.name))\n" + Self.escapedLine(sentence(command.summary)) + "\n"
      + Self.parameterList(command)
  }

  private func sentence(_ text: String) -> String {
    text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  private static func parameterList(_ command: CommandDescription) -> String {
    var text = ".Bl -tag -width Ds\n"
    for parameter in command.parameters {
      text += ".It \(itemMacro(parameter))\n"
      text += escapedLine(ToolDescription.explanation(of: parameter)) + "\n"
    }
    return text + ".El\n"
  }

  private static func exampleSection(_ examples: [Note]) -> String {
    guard !examples.isEmpty else { return "" }
    return ".Sh EXAMPLES\n"
      + examples.map { escapedLine($0.text) + ":\n.Pp\n.Dl \(escapedLine($0.name))\n" }
      .joined(separator: ".Pp\n")
  }

  private static func itemMacro(_ parameter: ParameterDescription) -> String {
    let value = "Ar \(escaped(parameter.placeholder.lowercased()))"
    if parameter.kind.isPositional { return value }
    let short = parameter.short.map { "Fl \(escaped(String($0))) , " } ?? ""
    let long = "Fl \\-\(escaped(parameter.name))"
    return short + long + (parameter.kind == .flag ? "" : " " + value)
  }

  private static func synopsisMacro(_ parameter: ParameterDescription) -> String {
    let value = "Ar \(escaped(parameter.placeholder.lowercased()))"
    let long = "Fl \\-\(escaped(parameter.name))"
    let shown =
      switch parameter.kind {
      case .argument: value
      case .arguments: value + " ..."
      case .flag: long
      case .option: long + " " + value
      case .repeatable: long + " " + value + " ..."
      }
    return parameter.isRequired ? ".\(shown)" : ".Op \(shown)"
  }

  private static func macroArguments(of command: CommandDescription) -> String {
    command.positionals.map {
      "Ar " + escaped($0.placeholder.lowercased()) + ($0.kind == .arguments ? " ..." : "")
    }.joined(separator: " ")
  }

  private static func tagList(_ notes: [Note], macro: String) -> String {
    var text = ".Bl -tag -width Ds\n"
    for note in notes {
      text += ".It \(macro) \(escaped(note.name))\n\(escapedLine(note.text))\n"
    }
    return text + ".El\n"
  }

  private static func manualParagraphs(_ text: String) -> String {
    ToolDescription.paragraphList(text).map { escapedLine($0) + "\n" }
      .joined(separator: ".Pp\n")
  }

  /// Escapes text for troff.
  private static func escaped(_ text: String) -> String {
    text.map { character in
      switch character {
      case "\\": "\\e"
      case "-": "\\-"
      case "\"": "\\(dq"
      default: String(character)
      }
    }.joined()
  }

  /// Escapes whole lines of text.
  ///
  /// A line that starts with a dot or quote would be read as a macro, and every sentence starts on
  /// a new line.
  private static func escapedLine(_ text: String) -> String {
    var lines: [String] = [""]
    for word in escaped(text).split(separator: " ") {
      let isFresh = lines[lines.count - 1].isEmpty
      lines[lines.count - 1] += isFresh ? word : " " + word
      if word.hasSuffix(".") || word.hasSuffix("?") { lines.append("") }
    }
    if lines.count > 1, lines[lines.count - 1].isEmpty { lines.removeLast() }
    return lines.map { $0.hasPrefix(".") || $0.hasPrefix("'") ? "\\&" + $0 : $0 }
      .joined(separator: "\n")
  }
}
