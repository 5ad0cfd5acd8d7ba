import Foundation

/// The Swift files of this checkout.
enum SourceTree {
  struct File {
    /// The path relative to the package, such as `Sources/JSON/JSONValue.swift`.
    let path: String
    let text: String
    let lines: [Substring]
    var target: String { String(path.split(separator: "/")[1]) }

    init(path: String, text: String) {
      (self.path, self.text, lines) = (path, text, SourceTree.lines(of: text))
    }
  }

  /// The lines of a text, by its bytes: by its characters takes ten times as long.
  static func lines(of text: String) -> [Substring] {
    text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .map(Substring.init)
  }

  static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  static let programs = files(under: "Sources") + files(under: "Benchmarks")

  static func files(under folder: String) -> [File] {
    let base = root.appendingPathComponent(folder)
    let walker = FileManager.default.enumerator(atPath: base.path)
    var files: [File] = []
    while let name = walker?.nextObject() as? String {
      guard name.hasSuffix(".swift"),
        let text = try? String(contentsOf: base.appendingPathComponent(name), encoding: .utf8)
      else { continue }
      files.append(File(path: folder + "/" + name, text: text))
    }
    return files.sorted { $0.path < $1.path }
  }

  /// One file of any kind; nil if it does not exist.
  static func file(_ path: String) -> File? {
    let text = try? String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    return text.map { File(path: path, text: $0) }
  }

  /// The Markdown pages: at the root, below `docs/`, and next to code.
  static let pages: [File] = {
    let others = ["Benchmarks", "Tests", "packaging", "pipelines", "docs"].flatMap { folder in
      let base = root.appendingPathComponent(folder).path
      let names = (try? FileManager.default.subpathsOfDirectory(atPath: base)) ?? []
      return names.filter { $0.hasSuffix(".md") }.sorted().map { folder + "/" + $0 }
    }
    return (["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] + others).compactMap { file($0) }
  }()
}
