/// The shells with a completion script.
package enum Shell: String, ArgumentValue, CaseIterable {
  /// GNU bash.
  case bash
  /// Z shell.
  case zsh
  /// Friendly interactive shell.
  case fish
}

/// Completion scripts, generated from the declarations of the commands.
extension ToolDescription {
  /// Returns the completion script of a shell.
  package func completion(for shell: Shell) -> String {
    switch shell {
    case .bash: bash
    case .zsh: zsh
    case .fish: fish
    }
  }

  /// The words that may come first: commands, and names of groups.
  private var firstWords: [(name: String, summary: String)] {
    var seen: Set<String> = []
    return commands.compactMap { command in
      let first = command.words[0]
      guard seen.insert(first).inserted else { return nil }
      let group = groups.first { $0.name == first }?.text
      return (first, group ?? command.summary)
    }
  }

  private func members(of group: String) -> [CommandDescription] {
    commands.filter { $0.words.count > 1 && $0.words[0] == group }
  }

  private var groupNames: [String] { firstWords.map(\.name).filter { !members(of: $0).isEmpty } }

  private var function: String { "_" + name.map { $0 == "-" ? "_" : String($0) }.joined() }

  private var bash: String {
    var text = """
      # bash completion for \(name)
      \(function)() {
        local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= i
        COMPREPLY=()
        # bash splits --name=value at the sign
        [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD-2]}
        [[ $cur == = ]] && prev=${COMP_WORDS[COMP_CWORD-1]} cur=
        for ((i = 1; i < COMP_CWORD && i < 3; i++)); do
          case "$command ${COMP_WORDS[i]}" in

      """
    for word in firstWords { text += "      ' \(word.name)') command='\(word.name)' ;;\n" }
    for command in commands where command.words.count > 1 {
      text += "      '\(command.name)') command='\(command.name)' ;;\n"
    }
    text += """
          esac
        done
        case "$command $prev" in

      """
    for command in commands {
      for option in command.options where option.kind != .flag {
        let spellings = ["--" + option.name] + (option.short.map { ["-\($0)"] } ?? [])
        let pattern = spellings.map { "'\(command.name) \($0)'" }.joined(separator: "|")
        text += "    \(pattern)) \(bashReply(option.completion)); return ;;\n"
      }
    }
    text += "  esac\n  case \"$command\" in\n"
    text += "    '') COMPREPLY=($(compgen -W '\(firstWords.map(\.name).joined(separator: " "))'"
    text += " -- \"$cur\")) ;;\n"
    for group in groupNames where command(named: group) == nil {
      text += "    '\(group)') COMPREPLY=($(compgen -W '"
      text += members(of: group).map { $0.words[1] }.joined(separator: " ")
      text += "' -- \"$cur\")) ;;\n"
    }
    for command in commands { text += bashCase(command) }
    return text + "  esac\n}\ncomplete -F \(function) \(name)\n"
  }

  private func bashCase(_ command: CommandDescription) -> String {
    let options = command.options.map { "--" + $0.name }.joined(separator: " ")
    var text = "    '\(command.name)')\n      if [[ $cur == -* ]]; then\n"
    text += "        COMPREPLY=($(compgen -W '\(options)' -- \"$cur\"))\n      else\n"
    text += "        \(bashReply(command.positionals.first?.completion ?? .nothing))\n"
    let below = members(of: command.name).map { $0.words[1] }.joined(separator: " ")
    if !below.isEmpty { text += "        COMPREPLY+=($(compgen -W '\(below)' -- \"$cur\"))\n" }
    return text + "      fi ;;\n"
  }

  private func bashReply(_ completion: ValueCompletion) -> String {
    switch completion {
    case .nothing: "COMPREPLY=()"
    case .files: "COMPREPLY=($(compgen -f -- \"$cur\"))"
    case .directories: "COMPREPLY=($(compgen -d -- \"$cur\"))"
    case .words(let words):
      "COMPREPLY=($(compgen -W '\(words.joined(separator: " "))' -- \"$cur\"))"
    case .asked(let kind, let orFiles):
      "COMPREPLY=($(compgen -W \"$(\(name) complete \(kind) -- \"${COMP_WORDS[@]:1}\" 2>/dev/null)\" -- \"$cur\")"
        + (orFiles ? " $(compgen -f -- \"$cur\"))" : ")")
    }
  }

  private var zsh: String {
    var text = "#compdef \(name)\n\(function)_asked() {\n"
    text += "  local -a names=(${(f)\"$(\(name) complete $1 -- \"${(@)words}\" 2>/dev/null)\"})\n"
    text += "  compadd -a names\n}\n\(function)() {\n  local command=\"${words[2]}\"\n"
    text += "  if (( CURRENT == 2 )); then\n    local -a names=(\n"
    for word in firstWords { text += "      \(Self.quoted("\(word.name):\(word.summary)"))\n" }
    text += "    )\n    _describe command names\n    return\n  fi\n"
    for group in groupNames {
      let names = members(of: group).map { Self.quoted("\($0.words[1]):\($0.summary)") }
      text += "  if [[ $command == \(group) ]]; then\n    if (( CURRENT == 3 )); then\n"
      text += "      local -a names=(\(names.joined(separator: " ")))\n"
      text += "      _describe command names\n"
      text += command(named: group) == nil ? "      return\n    fi\n" : "    fi\n"
      let known = members(of: group).map { $0.words[1] }.joined(separator: "|")
      text += "    case \"${words[3]}\" in \(known)) command=\"$command ${words[3]}\";"
      text += " shift words; (( CURRENT-- )) ;; esac\n  fi\n"
    }
    text += "  shift words; (( CURRENT-- ))\n  case \"$command\" in\n"
    for command in commands {
      text += "    '\(command.name)') _arguments -s \\\n"
      for parameter in command.parameters { text += "      \(zshArgument(parameter)) \\\n" }
      text += "      && return ;;\n"
    }
    return text + "  esac\n}\n\(function) \"$@\"\n"
  }

  private func zshArgument(_ parameter: ParameterDescription) -> String {
    let action =
      switch parameter.completion {
      case .nothing: " "
      case .files: "_files"
      case .directories: "_files -/"
      case .words(let words): "(\(words.joined(separator: " ")))"
      case .asked(let kind, let orFiles):
        "{\(function)_asked \(kind)" + (orFiles ? "; _files}" : "}")
      }
    let summary = parameter.summary.filter { $0 != "[" && $0 != "]" && $0 != ":" }
    let value = ":\(parameter.placeholder):\(action)"
    let star = parameter.kind == .repeatable ? "*" : ""
    return switch parameter.kind {
    case .argument: Self.quoted((parameter.isRequired ? "" : ":") + value)
    case .arguments: Self.quoted("*" + value)
    case .flag: Self.quoted("--\(parameter.name)[\(summary)]")
    case .option, .repeatable: Self.quoted("\(star)--\(parameter.name)=[\(summary)]\(value)")
    }
  }

  private var fish: String {
    let groups = groupNames.joined(separator: " ")
    var text = """
      # fish completion for \(name)
      function _\(function)_command
        set -l words (commandline -opc)
        set -e words[1]
        test (count $words) -eq 0; and return
        if contains -- $words[1] \(groups.isEmpty ? "''" : groups); and test (count $words) -gt 1
          echo $words[1] $words[2]
        else
          echo $words[1]
        end
      end
      complete -c \(name) -f

      """
    let current = "$(_\(function)_command)"
    for word in firstWords {
      text += "complete -c \(name) -n 'test -z \"\(current)\"' -a \(word.name)"
      text += " -d \(Self.quoted(word.summary))\n"
    }
    for command in commands {
      if command.words.count > 1 {
        text += "complete -c \(name) -n 'test \"\(current)\" = \"\(command.words[0])\"'"
        text += " -a \(command.words[1]) -d \(Self.quoted(command.summary))\n"
      }
      let condition = "-n 'test \"\(current)\" = \"\(command.name)\"'"
      for parameter in command.parameters {
        text += "complete -c \(name) \(condition)\(fishArgument(parameter))\n"
      }
    }
    return text
  }

  private func fishArgument(_ parameter: ParameterDescription) -> String {
    var text = ""
    let takesFiles =
      switch parameter.completion {
      case .files, .asked(_, orFiles: true): true
      default: false
      }
    if !parameter.kind.isPositional {
      text += " -l \(parameter.name)" + (parameter.short.map { " -s \($0)" } ?? "")
      if parameter.kind != .flag { text += takesFiles ? " -r" : " -x" }
    }
    switch parameter.completion {
    case .nothing: break
    case .files: text += " -F"
    case .directories: text += " -a '(__fish_complete_directories)'"
    case .words(let words): text += " -a '\(words.joined(separator: " "))'"
    case .asked(let kind, _):
      text += takesFiles ? " -F" : ""
      text += " -a '(\(name) complete \(kind) -- (commandline -opc)[2..] 2>/dev/null)'"
    }
    return text + " -d " + Self.quoted(parameter.summary)
  }

  /// Quotes a word in single quotes, for all three shells.
  private static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "’" : String($0) }.joined() + "'"
  }
}
