import Foundation
import JSON
import Ledger
import Reconciliation
import System
import Testing
import attache

@Suite struct PagesTests {
  @Test func `the pages are found`() {
    #expect(Page.all.count > 10)
    #expect(Page.all.contains { !$0.links.isEmpty })
  }

  @Test(arguments: Page.all) func `every link has a target`(_ page: Page) throws {
    let directory = Page.root.appending(path: page.path).deletingLastPathComponent()
    for link in page.links where !link.hasPrefix("http") {
      let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
      let path = parts[0].isEmpty ? page.path : String(parts[0])
      let target =
        parts[0].isEmpty ? Page.root.appending(path: path) : directory.appending(path: path)
      #expect(FileManager.default.fileExists(atPath: target.path), "\(link)")
      guard parts.count == 2, path.hasSuffix(".md") else { continue }
      let full = target.standardizedFileURL.path
      let relative = String(full.dropFirst(Page.root.standardizedFileURL.path.count + 1))
      #expect(try Page(relative).anchors.contains(String(parts[1])), "\(link)")
    }
  }

  @Test(arguments: Page.all) func `every command line is accepted by the program`(_ page: Page) {
    for block in page.blocks where ["", "sh", "bash", "console", "cron"].contains(block.language) {
      for words in ShellWords.calls(of: "attache", in: block.text) {
        #expect(throws: Never.self, "attache \(words.joined(separator: " "))") {
          try AttacheTool.tool.parse(words)
        }
      }
    }
  }

  @Test(arguments: Page.all) func `every command in the text exists in the program`(_ page: Page) {
    let names = Set(AttacheTool.tool.description.commands.map(\.name))
    let groups = Set(AttacheTool.tool.description.groups.map(\.name))
    for code in page.inlineCode where code.hasPrefix("attache ") {
      for call in ShellWords.calls(of: "attache", in: code) {
        // `attache help COMMAND` means any of them.
        let words = call.filter { $0 != "COMMAND" }
        let isName = names.contains(words.joined(separator: " "))
        let isGroup = groups.contains(words.joined(separator: " "))
        if isName || isGroup { continue }
        #expect(throws: Never.self, "\(code)") { try AttacheTool.tool.parse(words) }
      }
    }
  }

  @Test(arguments: Page.all) func `every JSON block is valid JSON`(_ page: Page) {
    for block in page.blocks where ["json", "jsonl"].contains(block.language) {
      let documents =
        block.language == "jsonl"
        ? block.text.split(separator: "\n").map(String.init) : [block.text]
      for document in documents {
        #expect(throws: Never.self, "\(document)") {
          _ = try JSONValue(parsing: Array(document.utf8))
        }
      }
    }
  }

  @Test func `every verdict is explained`() throws {
    let page = try Page("docs/reports.md")
    for verdict in Verdict.allCases {
      #expect(page.text.contains("`\(verdict.rawValue)`"), "\(verdict.rawValue)")
    }
  }

  @Test func `the README lists every exit status`() throws {
    let rows = try Page("README.md").prose.split(separator: "\n").filter { $0.hasPrefix("| ") }
    let listed = rows.compactMap { $0.split(separator: "|").first }.flatMap { cell in
      cell.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let statuses = ExitStatus.meanings.flatMap { note in
      note.status.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    for status in statuses { #expect(listed.contains(status), "\(status)") }
  }
}
