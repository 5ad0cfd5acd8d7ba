import Foundation
import Testing

@Suite struct DifferencesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private func names() throws -> Set<Substring> {
    let tests = Self.root.appending(path: "Tests")
    let files = try #require(FileManager.default.enumerator(atPath: tests.path))
    var names: Set<Substring> = []
    for case let file as String in files where file.hasSuffix(".swift") {
      let text = try String(contentsOf: tests.appending(path: file), encoding: .utf8)
      for line in text.split(separator: "\n") {
        let parts = line.split(separator: "`", maxSplits: 2)
        if parts.count > 1, parts[0].hasSuffix("func ") { names.insert(parts[1]) }
      }
    }
    return names
  }

  @Test func `each difference has four cells, and the last names an existing test`() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "docs/differences.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter {
      $0.hasPrefix("|") && !$0.hasPrefix("|---") && !$0.hasPrefix("| the SDK |")
    }
    #expect(rows.count > 20)
    let names = try names()
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(cells.count == 4, "\(row)")
      let name = try #require(cells.last).trimmingCharacters(in: ["`"])
      #expect(names.contains(name[...]), "no test is named \(name)")
    }
  }
}
