import Ledger

/// One step of a row of `DecisionTable`: an action, and the verdicts of the row's edits after the
/// run that follows.
///
/// `#` stands for the number of the row, `@` for the ID of its record, and `LONG` for a text too
/// long for any field.
struct DecisionStep: Sendable {
  /// A user's phone; `copy` is a copy of cleo's.
  enum Phone: String, Sendable, CaseIterable { case ada, ben, cleo, copy }

  let text: String
  let words: [String]
  let edit: Int
  /// The verdicts after the run; nil for no run, empty if they are not checked.
  let verdicts: [Verdict]?

  /// Parses `ACTION`, `ACTION > VERDICTS` or `> VERDICTS`.
  init(_ step: Substring) {
    let parts = step.split(separator: ">", omittingEmptySubsequences: false)
    var words = parts[0].split(separator: " ").map(String.init)
    text = words.joined(separator: " ")
    edit = words.first == "second" ? 1 : 0
    if edit == 1 { words.removeFirst() }
    self.words = words
    verdicts =
      parts.count < 2
      ? nil
      : parts[1].split(separator: ",").compactMap {
        Verdict(rawValue: $0.split(separator: " ").joined(separator: " "))
      }
  }

  var phone: Phone? {
    let verbs = ["edits", "deletes", "cleans", "creates"]
    guard words.count > 1, verbs.contains(words[1]) else { return nil }
    return Phone(rawValue: words[0])
  }
  var decision: Decision.Kind? { words.first.flatMap(Decision.Kind.init(rawValue:)) }

  var fields: [String: String] {
    words.reduce(into: [:]) { fields, word in
      let sides = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard sides.count == 2 else { return }
      let long = String(repeating: "x", count: 300)
      fields[String(sides[0])] = sides[1] == "LONG" ? long : String(sides[1])
    }
  }
}
