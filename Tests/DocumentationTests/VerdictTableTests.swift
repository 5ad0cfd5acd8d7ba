import Foundation
import Ledger
import Testing

@Suite struct VerdictTableTests {
  static let path = "docs/reports.md"

  static func table() -> String {
    let groups: [(state: String, verdicts: [Verdict])] = [
      ("resolved", Verdict.allCases.filter(\.isSettled)),
      ("open", Verdict.allCases.filter { !$0.isSettled && !$0.isWaiting }),
      ("open, retried", Verdict.allCases.filter { !$0.isSettled && $0.isWaiting }),
    ]
    let rows = groups.flatMap { group in
      group.verdicts.map { verdict in
        let kinds = kinds(of: verdict)
        let options = kinds.map { "`\($0.option)`" }.joined(separator: ", ")
        let cells = [
          "`\(verdict.rawValue)`", group.state, verdict.meaning,
          verdict.traits.advice(kinds).map { $0 + "." } ?? "–", options.isEmpty ? "–" : options,
        ]
        return "| " + cells.joined(separator: " | ") + " |\n"
      }
    }
    return """
      | verdict | the edit is | meaning | what to do | `attache decide` |
      |---|---|---|---|---|
      \(rows.joined())
      """
  }

  /// The decisions that an edit of this verdict allows: those for an update, then those that only a create allows.
  private static func kinds(of verdict: Verdict) -> [Decision.Kind] {
    let subjects = [
      DecisionRule.Subject(verdict: verdict, operation: .update, hasRecord: true),
      DecisionRule.Subject(verdict: verdict, operation: .create, hasRecord: false),
    ]
    return subjects.flatMap { DecisionRule.possible($0) }.reduce(into: []) {
      if !$0.contains($1) { $0.append($1) }
    }
  }

  @Test func `the table of verdicts is generated from the code`() throws {
    let page = try Page(Self.path).text
    let start = try #require(page.range(of: "<!-- verdicts -->\n"))
    let end = try #require(page.range(of: "<!-- end of verdicts -->"))
    let expected = page.replacingCharacters(
      in: start.upperBound..<end.lowerBound, with: Self.table())
    if ProcessInfo.processInfo.environment["ATTACHE_UPDATE_DOCS"] != nil {
      let file = Page.root.appending(path: Self.path)
      try expected.write(to: file, atomically: true, encoding: .utf8)
    } else {
      #expect(page == expected, "ATTACHE_UPDATE_DOCS=1 swift test --filter VerdictTableTests")
    }
  }

  @Test func `the table has each verdict once, and no other page has such a table`() throws {
    let names = Set(Verdict.allCases.map { "`\($0.rawValue)`" })
    func rows(_ page: Page) -> [String] {
      page.prose.split(separator: "\n").compactMap { line in
        guard line.hasPrefix("| ") else { return nil }
        return line.split(separator: "|").first?.trimmingCharacters(in: .whitespaces)
      }.filter(names.contains)
    }
    let found = rows(try Page(Self.path))
    #expect(found.count == names.count && Set(found) == names)
    for page in Page.all where page.path != Self.path {
      #expect(rows(page).count < 3, "\(page.path)")
    }
  }
}
