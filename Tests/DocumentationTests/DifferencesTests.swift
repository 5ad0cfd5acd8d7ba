import Foundation
import Testing

@Suite struct DifferencesTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The text of every test source.
  private func sources() throws -> String {
    let tests = Self.root.appending(path: "Tests")
    let files = try #require(FileManager.default.enumerator(atPath: tests.path))
    var text = ""
    for case let file as String in files where file.hasSuffix(".swift") {
      text += try String(contentsOf: tests.appending(path: file), encoding: .utf8)
    }
    return text
  }

  @Test func `each difference has four cells, and the last names a present test`() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "docs/differences.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter {
      $0.hasPrefix("|") && !$0.hasPrefix("|---") && !$0.hasPrefix("| the SDK |")
    }
    #expect(rows.count > 20)
    let sources = try sources()
    for row in rows {
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      #expect(cells.count == 4, "\(row)")
      let name = try #require(cells.last)
      #expect(sources.contains("func \(name)("), "no test is called \(name)")
    }
  }
}
