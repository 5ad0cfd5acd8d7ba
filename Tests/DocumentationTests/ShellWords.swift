/// The command lines of a shell text, as far as documentation has them.
enum ShellWords {
  /// The words of each call of `program`: comments, redirections and what follows a pipe left out.
  static func calls(of program: String, in text: String) -> [[String]] {
    let joined = text.replacing("\\\n", with: " ")
    return joined.split(separator: "\n").flatMap { line in
      commands(String(line)).compactMap { words in
        guard let place = words.firstIndex(of: program) else { return nil }
        // A crontab names the account before the program, and both may have one name.
        let start = words[place...].dropFirst().first == program ? place + 1 : place
        let isCall = start == 0 || words[..<start].allSatisfy { isBefore($0) }
        return isCall ? Array(words[(start + 1)...]) : nil
      }
    }
  }

  /// A prompt, an assignment, a field of a crontab: what may stand before a command.
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
      if skipsNext {
        skipsNext = false
      } else {
        commands[commands.count - 1].append(done)
      }
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
        // `<(command)` is a command of its own.
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
