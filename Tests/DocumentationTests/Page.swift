import Foundation
import Testing

struct Page: Sendable, CustomTestStringConvertible {
  let path: String
  let text: String
  var testDescription: String { path }
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  init(_ path: String) throws {
    self.path = path
    text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  /// The pages for readers: in the root, below `docs/`, and next to the examples.
  static let all: [Page] = {
    var paths = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pipelines/samples/README.md"]
    let docs = try? FileManager.default.subpathsOfDirectory(
      atPath: root.appending(path: "docs").path)
    paths += (docs ?? []).filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
    return paths.compactMap { try? Page($0) }
  }()

  struct Block {
    let language: String
    let text: String
  }

  var blocks: [Block] {
    var blocks: [Block] = []
    var open: (language: String, lines: [Substring])?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let trimmed = line.drop { $0 == " " }
      if trimmed.hasPrefix("```") {
        if let done = open {
          blocks.append(Block(language: done.language, text: done.lines.joined(separator: "\n")))
          open = nil
        } else {
          open = (String(trimmed.dropFirst(3)), [])
        }
      } else {
        open?.lines.append(line)
      }
    }
    return blocks
  }

  var prose: String {
    var isCode = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      if line.drop(while: { $0 == " " }).hasPrefix("```") {
        isCode.toggle()
        return false
      }
      return !isCode
    }.joined(separator: "\n")
  }

  var inlineCode: [String] { prose.matches(of: /`([^`\n]+)`/).map { String($0.output.1) } }

  var links: [String] { prose.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) } }

  var anchors: Set<String> {
    Set(
      prose.split(separator: "\n").filter { $0.hasPrefix("#") }.map { line in
        let title = line.drop { $0 == "#" || $0 == " " }.lowercased()
        return title.filter { $0.isLetter || $0.isNumber || $0 == " " || $0 == "-" || $0 == "_" }
          .replacing(" ", with: "-")
      })
  }
}
