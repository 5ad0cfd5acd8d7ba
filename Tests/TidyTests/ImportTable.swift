/// The imports that each target may have, from the lines of Package.swift.
///
/// `--explicit-target-dependency-import-check error` rejects an undeclared target, but not a module
/// that arrives through another one, so every import statement is read too.
enum ImportTable {
  /// The modules that any target may import.
  static let anywhere: Set<String> = ["Swift", "Synchronization", "FoundationEssentials"]

  /// The targets that may import Glibc and Dispatch.
  static let platform: Set<String> = ["System", "HTTP"]

  /// The table's line for a target.
  struct Row {
    let target: String
    let folder: String
    let modules: [String]
    /// The kind of line: `library`, `program`, `tests` or `benchmark`.
    let kind: String
  }

  /// The lines of Package.swift, from the bottom of the ladder to its top.
  static let rows: [Row] = {
    let manifest = SourceTree.root.appendingPathComponent("Package.swift")
    guard let text = try? String(contentsOf: manifest, encoding: .utf8),
      let start = text.range(of: "targets: [")
    else { return [] }
    return text[start.upperBound...].matches(
      of: /(library|program|tests|benchmark)\(\s*("[^)]*")\)/
    ).map {
      let names = $0.output.2.split(separator: "\"").enumerated()
        .filter { $0.offset % 2 == 0 }.map { String($0.element) }
      let kind = String($0.output.1)
      let target = names[0] + (kind == "tests" ? "Tests" : "")
      let folder = ["tests": "Tests", "benchmark": "Benchmarks"][kind] ?? "Sources"
      return Row(
        target: target, folder: folder + "/" + target,
        modules: Array(names.dropFirst()), kind: kind)
    }
  }()

  static let allowed: [String: Set<String>] = Dictionary(
    uniqueKeysWithValues: rows.map { ($0.target, Set($0.modules)) })

  /// The module that a line of Swift imports; nil if it imports none.
  ///
  /// Reads `import X`, `import struct X.Y`, with any attributes and access level before it.
  static func module(importedBy line: Substring) -> String? {
    let start = line.utf8.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    guard starts.contains(where: start.starts(with:)) else { return nil }
    var words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == ";" })
    while let word = words.first, word != "import" {
      guard word.hasPrefix("@") || levels.contains(String(word)) else { return nil }
      words.removeFirst()
    }
    guard words.first == "import" else { return nil }
    words.removeFirst()
    if let kind = words.first, kinds.contains(String(kind)), words.count > 1 { words.removeFirst() }
    guard let path = words.first else { return nil }
    return path.split(separator: ".").first.map(String.init)
  }

  private static let levels: Set<String> = [
    "public", "package", "internal", "fileprivate", "private",
  ]
  /// What a line with an import starts with, as few lines do.
  private static let starts = (levels + ["import", "@"]).map { Array($0.utf8) }
  private static let kinds: Set<String> = [
    "struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor", "macro",
  ]

  /// The imports of a file, each with its line, counted from 1.
  static func imports(of lines: [Substring]) -> [(line: Int, module: String)] {
    lines.enumerated().flatMap { index, line in
      line.utf8.split(separator: UInt8(ascii: ";")).compactMap { statement in
        module(importedBy: Substring(statement)).map { (index + 1, $0) }
      }
    }
  }

  /// The forbidden imports of a file in `target`.
  static func violations(
    in lines: [Substring], target: String
  ) -> [(line: Int, module: String)] {
    guard let own = allowed[target] else { return [(0, "the target \(target) has no row")] }
    return imports(of: lines).filter { _, module in
      !anywhere.contains(module) && !own.contains(module)
        && !(["Glibc", "Dispatch"].contains(module) && platform.contains(target))
    }
  }
}
