import Foundation
import Testing
import attache

/// `docs/commands.md` matches the program's output.
@Suite struct CommandsPageTests {
  static let path = "docs/commands.md"

  static func text() throws -> String {
    func help(_ words: [String]) throws -> String {
      guard case .answer(let text) = try AttacheTool.tool.parse(words) else { return "" }
      return text.trimmingCharacters(in: .newlines)
    }
    var text = """
      # Commands

      The output of `attache help` and `attache help COMMAND`. A test generates this page:
      `ATTACHE_UPDATE_DOCS=1 swift test --filter CommandsPageTests` writes it again.

      ```text
      \(try help([]))
      ```

      """
    for command in AttacheTool.tool.description.commands {
      let page = try help(command.words + ["--help"])
      text += "\n## attache \(command.name)\n\n```text\n\(page)\n```\n"
    }
    return text
  }

  @Test func `the page of commands is what the program prints`() throws {
    let file = Page.root.appending(path: Self.path)
    let expected = try Self.text()
    if ProcessInfo.processInfo.environment["ATTACHE_UPDATE_DOCS"] != nil {
      try expected.write(to: file, atomically: true, encoding: .utf8)
    }
    let found = try String(contentsOf: file, encoding: .utf8)
    #expect(found == expected, "ATTACHE_UPDATE_DOCS=1 swift test --filter CommandsPageTests")
  }
}
