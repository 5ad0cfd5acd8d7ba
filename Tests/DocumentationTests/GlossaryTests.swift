import Foundation
import Testing

/// The glossary's statements about files, and texts that several files share, are correct.
@Suite struct GlossaryTests {
  /// The rows of the section about the location of each rule: the rule, and the file.
  private func rows() throws -> [(rule: String, file: String)] {
    let page = try Page("docs/glossary.md").prose
    let start = try #require(page.range(of: "## Where each rule stands"))
    return page[start.upperBound...].split(separator: "\n").compactMap { line in
      line.wholeMatch(of: /\| (.+) \| `([^`|]+)` \|/).map {
        (String($0.output.1), String($0.output.2))
      }
    }
  }

  /// The files of `Sources/` by module and name, as in the rows.
  private func sources() throws -> [String: Int] {
    let place = Page.root.appending(path: "Sources")
    let walker = try #require(FileManager.default.enumerator(atPath: place.path))
    var counts: [String: Int] = [:]
    for case let path as String in walker {
      let parts = path.split(separator: "/")
      if parts.count > 1 { counts["\(parts[0])/\(parts[parts.count - 1])", default: 0] += 1 }
    }
    return counts
  }

  @Test func `every file named for a rule exists, and is a single one`() throws {
    let (rows, sources) = (try rows(), try sources())
    #expect(rows.count > 100)
    #expect(Set(rows.map(\.rule)).count == rows.count, "a rule has two rows")
    for (rule, file) in rows {
      let isElsewhere = FileManager.default.fileExists(atPath: Page.root.appending(path: file).path)
      #expect(sources[file] == 1 || isElsewhere, "\(rule): \(file)")
    }
  }

  @Test func `every row of the section is read`() throws {
    let page = try Page("docs/glossary.md").prose
    let start = try #require(page.range(of: "## Where each rule stands"))
    let lines = page[start.upperBound...].split(separator: "\n").filter {
      $0.hasPrefix("| ") && $0 != "| the rule | file |"
    }
    #expect(try rows().count == lines.count)
  }

  @Test(arguments: [("packaging/cron/attache", 2), ("packaging/cron/crontab", 1)])
  func `the cron lines match those of the package`(_ file: String, _ copies: Int) throws {
    let text = try String(contentsOf: Page.root.appending(path: file), encoding: .utf8)
    let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("17 2 ") })
    // The pages name the program without its path.
    let plain = line.replacing("@BINDIR@/", with: "")
    let pages = ["README.md", "docs/how-to/schedule.md"]
    let found = try pages.map { try Page($0).text.split(separator: "\n").count { $0 == plain } }
    #expect(found.reduce(0, +) == copies)
  }
}
