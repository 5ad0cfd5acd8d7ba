/// The command lines in a shell text, as far as documentation uses them.
enum ShellWords {
  /// The words of each call of `program`, without comments, redirections and the commands after a
  /// pipe.
  static func calls(of program: String, in text: String) -> [[String]] {
    let joined = text.replacing("\\\n", with: " ")
    return joined.split(separator: "\n").flatMap { line in
      commands(String(line)).compactMap { words in
        guard let place = words.firstIndex(of: program) else { return nil }
        // A crontab names the account before the program, and both may have the same name.
        let start = words[place...].dropFirst().first == program ? place + 1 : place
        let isCall = start == 0 || words[..<start].allSatisfy { isBefore($0) }
        return isCall ? Array(words[(start + 1)...]) : nil
      }
    }
  }

  /// Whether a word may precede a command: a prompt, an assignment, a field of a crontab.
  private static func isBefore(_ word: String) -> Bool {
    word == "$" || word == "*" || word == "attache" || word.contains("=")
      || word.allSatisfy { $0.isNumber } || word.hasPrefix("ExecStart") || word == "sudo"
  }

  private static func commands(_ line: String) -> [[String]] {
    var commands: [[String]] = [[]]
    var word: String?
    var quote: Character?
    var skipsNext = false
    var substitutions = 0
    func end() {
      defer { word = nil }
      guard let done = word else { return }
      if skipsNext { skipsNext = false } else { commands[commands.count - 1].append(done) }
    }
    for character in line {
      if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
        continue
      }
      switch character {
      case "'", "\"":
        quote = character
        word = word ?? ""
      case " ", "\t": end()
      case "#" where word == nil: return commands.filter { !$0.isEmpty }
      case "|", ";", "&":
        if word?.hasSuffix(">") == true || word == "2>" { continue }
        end()
        commands.append([])
      case "(" where skipsNext && word == nil:
        // `<(command)` is a separate command.
        skipsNext = false
        substitutions += 1
        commands.append([])
      case ")" where substitutions > 0:
        end()
        substitutions -= 1
      case ">", "<":
        // `2>` is a redirection, not an argument.
        if word == "2" { word = nil }
        end()
        skipsNext = true
      default: word = (word ?? "") + String(character)
      }
    }
    end()
    return commands.filter { !$0.isEmpty }
  }
}
