extension ToolDescription {
  private static let width = 80

  /// The help page of the program.
  package var help: String {
    var text = "\(name) - \(summary)\n\nusage: \(name) COMMAND [OPTION]... [ARGUMENT]...\n"
    text += Self.paragraphs(discussion)
    if sections.isEmpty {
      text += Self.section("commands", commands.map { Note($0.name, $0.summary) })
    }
    let column = Self.column(commands.map(\.name))
    for section in sections {
      text += Self.section(
        section.title, commands(in: section).map { Note($0.name, $0.summary) }, column)
    }
    for (title, options) in [
      ("global options", sharedOptions.filter(\.isGlobal)),
      ("options of several commands", sharedOptions.filter { !$0.isGlobal }),
    ] {
      text += Self.section(
        title, options.map { Note(Self.heading(of: $0), Self.explanation(of: $0)) })
    }
    text += Self.section("exit status", exitStatuses)
    text += Self.section("environment", variables)
    return text + "\n\(name) help COMMAND explains one command.\n"
  }

  /// The commands of a part of the list.
  package func commands(in section: HelpSection) -> [CommandDescription] {
    section.names.flatMap { name in
      commands.filter { $0.name == name || ($0.words.count > 1 && $0.words[0] == name) }
    }
  }

  /// The options that several commands share, each once, and `--version`.
  private var sharedOptions: [ParameterDescription] {
    var shared: [ParameterDescription] = []
    for option in commands.flatMap(\.options) where option.isShared {
      if !shared.contains(where: { $0.name == option.name }) { shared.append(option) }
    }
    let version = ParameterDescription(
      kind: .flag, name: "version", short: nil, placeholder: "", summary: "print the version",
      isRequired: false, defaultText: nil, completion: .nothing, isGlobal: true)
    return shared + [version]
  }

  /// The page of a group: its commands.
  func help(forGroup group: String) -> String {
    let summary = groups.first { $0.name == group }?.text ?? ""
    let members = commands.filter { $0.words[0] == group }
    return "\(name) \(group) - \(summary)\n"
      + Self.section("commands", members.map { Note($0.name, $0.summary) })
      + "\n\(name) help \(group) COMMAND explains one of them.\n"
  }

  /// The help page of one command.
  package func help(for command: CommandDescription) -> String {
    var text = "\(name) \(command.name) - \(command.summary)\n\n"
    text += Self.wrap(
      "usage: " + synopsis(of: command), indent: 0, hanging: 7, keepingBrackets: true)
    text += Self.paragraphs(command.discussion)
    text += Self.section(
      "arguments", command.positionals.map { Note($0.placeholder, Self.explanation(of: $0)) })
    text += Self.section(
      "options",
      command.options.filter { !$0.isShared }.map {
        Note(Self.heading(of: $0), Self.explanation(of: $0))
      })
    if !command.examples.isEmpty {
      text += "\nexample:\n"
      for example in command.examples {
        text += "  \(example.name)\n"
        text += Self.wrap(example.text, indent: 6, hanging: 6)
      }
    }
    let members = commands.filter { $0.words.count > 1 && $0.words[0] == command.name }
    text += Self.section("subcommands", members.map { Note($0.name, $0.summary) })
    let shared = command.options.filter(\.isShared).map {
      "--\($0.name)" + ($0.kind == .flag ? "" : "\u{A0}\($0.placeholder)")
    }
    text += "\n"
    text += Self.wrap(
      "shared options (see \(name) help): " + shared.joined(separator: ", "),
      indent: 0, hanging: 2
    ).replacing("\u{A0}", with: " ")
    return text
  }

  /// The synopsis of a command.
  package func synopsis(of command: CommandDescription) -> String {
    let options = command.options.filter { !$0.isShared }.map { option in
      let value = option.kind == .flag ? "" : " " + option.placeholder
      let once = "--\(option.name)\(value)"
      let shown = option.isRequired ? once : "[\(once)]"
      return option.kind == .repeatable ? shown + "..." : shown
    }
    let arguments = command.positionals.map { argument in
      let shown = argument.isRequired ? argument.placeholder : "[\(argument.placeholder)]"
      return argument.kind == .arguments ? shown + "..." : shown
    }
    return ([name, command.name] + options + arguments).joined(separator: " ")
  }

  static func heading(of option: ParameterDescription) -> String {
    let short = option.short.map { "-\($0), " } ?? "    "
    return short + "--\(option.name)" + (option.kind == .flag ? "" : " \(option.placeholder)")
  }

  static func explanation(of parameter: ParameterDescription) -> String {
    var text = parameter.summary
    if case .words(let words) = parameter.completion {
      text += ": " + words.joined(separator: ", ")
    }
    if let value = parameter.defaultText, !value.isEmpty { text += " (default: \(value))" }
    if parameter.isRequired, !parameter.kind.isPositional { text += " (required)" }
    if parameter.kind == .repeatable { text += "; may be repeated" }
    return text
  }

  private static func paragraphs(_ text: String) -> String {
    guard !text.isEmpty else { return "" }
    return paragraphList(text).map {
      "\n" + wrap($0, indent: 0, hanging: 0)
    }.joined()
  }

  /// The paragraphs of a discussion, each on one line.
  static func paragraphList(_ text: String) -> [String] {
    var paragraphs: [[Substring]] = [[]]
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.allSatisfy({ $0 == " " }) {
        paragraphs.append([])
      } else {
        paragraphs[paragraphs.count - 1].append(line)
      }
    }
    return paragraphs.filter { !$0.isEmpty }.map { $0.joined(separator: " ") }
  }

  private static func column(_ names: [String]) -> Int {
    min(names.map(\.count).max() ?? 0, 26) + 4
  }

  private static func section(_ title: String, _ notes: [Note], _ given: Int? = nil) -> String {
    guard !notes.isEmpty else { return "" }
    let column = given ?? Self.column(notes.map(\.name))
    var text = "\n\(title):\n"
    for note in notes {
      let left = "  " + note.name
      let fits = left.count <= column - 2
      let first = fits ? left + String(repeating: " ", count: column - left.count) : ""
      if !fits { text += left + "\n" }
      let wrapped = wrap(note.text, indent: column, hanging: column)
      text += fits ? first + wrapped.dropFirst(column) : wrapped
    }
    return text
  }

  /// Wraps words at `width` characters, optionally without breaking inside brackets.
  private static func wrap(
    _ text: String, indent: Int, hanging: Int, keepingBrackets: Bool = false
  ) -> String {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var isFresh = true
    for word in pieces(text, keepingBrackets: keepingBrackets) {
      if !isFresh, line.count + 1 + word.count > width {
        lines.append(line)
        line = String(repeating: " ", count: hanging)
        isFresh = true
      }
      line += isFresh ? word : " " + word
      isFresh = false
    }
    lines.append(line)
    return lines.joined(separator: "\n") + "\n"
  }

  private static func pieces(_ text: String, keepingBrackets: Bool) -> [String] {
    var pieces: [String] = []
    var isOpen = false
    for word in text.split(separator: " ").map(String.init) {
      if isOpen {
        pieces[pieces.count - 1] += " " + word
      } else {
        pieces.append(word)
      }
      if keepingBrackets {
        isOpen = isOpen ? !word.contains("]") : word.first == "[" && !word.contains("]")
      }
    }
    return pieces
  }
}
