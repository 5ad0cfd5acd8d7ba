import Testing

struct BrokenConfiguration: CustomTestStringConvertible {
  enum File: String, CaseIterable {
    case pipeline = "pipeline.json"
    case store = "store.json"
    case syncs = "syncs.json"
  }

  enum Change {
    /// Every occurrence of the first text is replaced by the second.
    case edit(File, String, String)

    static func pipeline(_ old: String, _ new: String) -> Change { .edit(.pipeline, old, new) }
    static func store(_ old: String, _ new: String) -> Change { .edit(.store, old, new) }
    static func syncs(_ old: String, _ new: String) -> Change { .edit(.syncs, old, new) }

    case whole(File, String)
    case bytes(File, [UInt8])
    case sample(File, String)

    /// Reads a change in a table; `\n` is a line break.
    init?(_ line: Substring) {
      let file = File.allCases.first {
        line.hasPrefix($0.rawValue.dropLast(5)) && !line.hasPrefix($0.rawValue)
      }
      guard let file else { return nil }
      let rest = line.dropFirst(file.rawValue.count - 5)
      let text = rest.dropFirst(rest.hasPrefix(":") ? 2 : 3).replacing("\\n", with: "\n")
      switch rest.prefix(2) {
      case " -": self = .edit(file, String(text), "")
      case " +": self = .edit(file, #""limits""#, text + ",\n  \"limits\"")
      case " =": self = .whole(file, String(text))
      case " <": self = .sample(file, String(text))
      default:
        let sides = text.split(separator: " => ", maxSplits: 1).map(String.init)
        self = .edit(file, sides[0], sides[1])
      }
    }
  }

  let what: String
  private(set) var changes: [Change]
  /// One problem per line, as the command line prints it.
  private(set) var expected: String
  init(_ what: String, _ expected: String = "", _ changes: Change...) {
    self.what = what
    self.changes = changes
    self.expected = expected
  }

  /// The cases of `Tests/Fixtures/broken-configurations.txt`, and one that is not a text.
  static let all = {
    let file = BrokenConfigurationTests.fixtures.appending(path: "broken-configurations.txt")
    let binary = BrokenConfiguration(
      "a file that is not UTF-8",
      "pipeline.json:1:2: the file is not UTF-8 from here on; save it as UTF-8",
      .bytes(.pipeline, [0x7B, 0xFF]))
    return ((try? String(contentsOf: file, encoding: .utf8)).map(cases) ?? []) + [binary]
  }()

  /// Reads a table: the name of each case, and indented its messages and its changes.
  ///
  /// A change of a file is `FILE: OLD => NEW`, `FILE - OLD` for a removal, `FILE + SETTING` for a
  /// setting before the pipeline's limits, `FILE = TEXT` for all of it, or `FILE < SAMPLE`.
  private static func cases(_ table: String) -> [BrokenConfiguration] {
    var cases: [BrokenConfiguration] = []
    for line in table.split(separator: "\n") where !line.hasPrefix("#") {
      let text = line.drop { $0 == " " }
      if text.count == line.count {
        cases.append(.init(String(line)))
        continue
      }
      var last = cases.removeLast()
      if let change = Change(text) {
        last.changes.append(change)
      } else {
        last.expected += (last.expected.isEmpty ? "" : "\n") + text
      }
      cases.append(last)
    }
    return cases
  }

  var testDescription: String { what }

  /// The valid configuration in `Tests/Fixtures/first`.
  static let good: [File: String] = File.allCases.reduce(into: [:]) { files, file in
    let path = BrokenConfigurationTests.fixtures.appending(path: "first/" + file.rawValue)
    files[file] = try? String(contentsOf: path, encoding: .utf8)
  }
}
