import TestSupport

/// Generates JSON texts like an unfriendly server: spaces, escapes, duplicates, deep nesting.
struct Generator {
  static let names = [
    "Id", "Name", "Account", "attributes", "type", "Own\\u0065r", "", "x.y", "LastModifiedDate",
    "Contacts__r",
  ]
  static let texts = [
    "", "a", "Ada Lovelace", "quote \\\" in", "back\\\\slash", "tab\\t", "\\u00e9",
    "\\ud83d\\ude00", "żółć", "日本語 text that is longer than eight bytes", "😀", "\\/", "\\u0000",
    "12345678", "1234567\\n",
  ]
  static let numbers = ["0", "-1", "12.50", "1e3", "9007199254740993", "-0.0", "1E-7"]
  var random: HistoryRandom

  mutating func space() -> String { random.pick(["", "", "", " ", "\n", "\t ", "\r\n"]) }

  mutating func value(_ depth: Int = 0) -> String {
    switch Int.random(in: 0..<(depth > 4 ? 5 : 8), using: &random) {
    case 0: return "null"
    case 1: return random.pick(["true", "false"])
    case 2: return random.pick(Self.numbers)
    case 3, 4: return "\"\(random.pick(Self.texts))\""
    case 5:
      let count = Int.random(in: 0..<4, using: &random)
      return "["
        + (0..<count).map { _ in space() + value(depth + 1) + space() }
        .joined(separator: ",") + space() + "]"
    default: return record(depth + 1)
    }
  }

  mutating func record(_ depth: Int = 0) -> String {
    let count = Int.random(in: 0..<7, using: &random)
    let members = (0..<count).map { _ in
      space() + "\"\(random.pick(Self.names))\"" + space() + ":" + space() + value(depth + 1)
        + space()
    }
    return "{" + space() + members.joined(separator: ",") + "}"
  }

  mutating func page() -> String {
    let count = Int.random(in: 0..<5, using: &random)
    let records = (0..<count).map { _ in
      space() + (Int.random(in: 0..<8, using: &random) == 0 ? "null" : record()) + space()
    }
    return "{\"done\":\(random.pick(["true", "false"])),\"records\"" + space() + ":" + space() + "["
      + records.joined(separator: ",") + "]" + ",\"more\":" + value() + "}" + space()
  }
}
