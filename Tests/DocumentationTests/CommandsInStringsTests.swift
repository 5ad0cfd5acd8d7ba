import Foundation
import Testing
import attache

@Suite struct CommandsInStringsTests {
  /// The verbs that may follow the program's name in a sentence.
  static let verbs: Set<String> = [
    "from", "if", "has", "writes", "notes", "cannot", "local", "read", "write", "and", "does",
    "supports", "records",
  ]

  /// Options of other programs.
  static let foreign: Set<String> = ["no-prompt", "check"]

  struct Line: Sendable {
    let place: String
    let text: String
  }

  static let lines: [Line] = {
    let sources = Page.root.appending(path: "Sources")
    let names = try? FileManager.default.subpathsOfDirectory(atPath: sources.path)
    return (names ?? []).filter { $0.hasSuffix(".swift") }.flatMap { name -> [Line] in
      guard let text = try? String(contentsOf: sources.appending(path: name), encoding: .utf8)
      else { return [] }
      // A string that continues on the next line counts as one.
      return text.replacing("\\\n", with: "").split(separator: "\n").enumerated().filter {
        !$0.element.drop(while: { $0 == " " }).hasPrefix("//")
      }.map { Line(place: "\(name):\($0.offset + 1)", text: String($0.element)) }
    }
  }()

  /// The words after the program's name, at any position in a text.
  static func calls(in text: String) -> [[String]] {
    guard text.contains("attache ") else { return [] }
    return text.matches(of: /\battache ([a-z][^"`()|;]*)/.wordBoundaryKind(.simple)).map { match in
      match.output.1.split(whereSeparator: { " \\\n,.:".contains($0) }).map(String.init)
    }
  }

  /// The reason that words are not a valid call; nil if they are, or if they are the predicate of a
  /// sentence.
  static func fault(_ words: [String]) -> String? {
    guard let first = words.first, !verbs.contains(first) else { return nil }
    let description = AttacheTool.tool.description
    let names = [words.prefix(2).joined(separator: " "), first]
    guard let command = names.lazy.compactMap({ description.command(named: $0) }).first else {
      return description.groups.contains { $0.name == first } && words.count == 1
        ? nil : "there is no command \(names[0])"
    }
    let options = Set(command.parameters.map(\.name) + ["help"])
    let unknown = words.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
      .first { !options.contains($0) }
    return unknown.map { "\(command.name) has no option --\($0)" }
  }

  @Test func `every command in a string of the program exists, with its options`() {
    var count = 0
    for line in Self.lines {
      for words in Self.calls(in: line.text) {
        count += 1
        if let fault = Self.fault(words) { Issue.record("\(line.place): \(fault)") }
      }
    }
    #expect(count > 40)
  }

  @Test func `every option in a string of the program is one of some command`() {
    let options = Set(AttacheTool.tool.description.commands.flatMap(\.parameters).map(\.name))
      .union(["help", "version"]).union(Self.foreign)
    for line in Self.lines where line.text.contains("--") && !line.place.contains("+Style") {
      for match in line.text.matches(of: /[\s"(\[]--([a-z][a-z-]+)/)
      where !options.contains(String(match.output.1)) {
        Issue.record("\(line.place): no command has --\(match.output.1)")
      }
    }
  }

  @Test(arguments: Page.all) func `every option on a page is one of some command`(_ page: Page) {
    let options = Set(AttacheTool.tool.description.commands.flatMap(\.parameters).map(\.name))
      .union(["help", "version"])
    // Those of `swift test`, `tar`, `zstd` and the benchmarks.
    let others: Set<String> = [
      "filter", "zstd", "check", "live", "rounds", "records", "base", "users", "returns", "edits",
      "latency", "large",
    ]
    for code in page.inlineCode {
      for match in code.matches(of: /(?:^|\s)--([a-z][a-z-]+)/)
      where !options.contains(String(match.output.1)) && !others.contains(String(match.output.1)) {
        Issue.record("\(page.path): no command has --\(match.output.1)")
      }
    }
  }

  @Test func `a planted command and option that do not exist are found`() {
    for text in [
      "run attache restore first", "`attache run --shard 1/4`",
      "\"attache org\" + x.attache bundle diff",
    ] { #expect(Self.calls(in: text).contains { Self.fault($0) != nil }, "\(text)") }
    for text in [
      "attache status first lists the last runs", "say it: attache ingest --generation A/1 FILE",
      "what attache has not", "attache org check",
    ] { #expect(Self.calls(in: text).allSatisfy { Self.fault($0) == nil }, "\(text)") }
  }
}
