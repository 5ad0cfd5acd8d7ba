/// The table of docs/architecture.md: what each target under `Sources/` may import.
///
/// `--explicit-target-dependency-import-check error` refuses an undeclared sibling; it does not
/// see a module that arrives through another one, so every import statement is read as well.
enum ImportTable {
  /// What may stand in any target.
  static let anywhere: Set<String> = ["Swift", "Synchronization", "FoundationEssentials"]

  /// Where Glibc and Dispatch may stand.
  static let platform: Set<String> = ["System", "HTTP"]

  /// Target → the modules of this package that it may import.
  static let allowed: [String: Set<String>] = [
    "JSON": [],
    "CSV": [],
    "System": ["CSystem"],
    "SQLite": ["CSQLite"],
    "HTTP": ["CCurl", "CMicrohttpd", "System"],
    "Archive": ["CArchive"],
    "Crypto": ["CCrypto"],
    "Arguments": [],
    "SmartStore": ["SQLite", "JSON", "Crypto", "System"],
    "Salesforce": ["HTTP", "JSON", "CSV", "Crypto", "System"],
    "MobileSync": ["SmartStore", "Salesforce", "JSON", "System"],
    "Bundles": ["SmartStore", "SQLite", "Archive", "Crypto", "JSON", "System"],
    "Reconciliation": [
      "MobileSync", "Bundles", "SmartStore", "Salesforce", "SQLite", "JSON", "CSV", "Crypto",
      "System",
    ],
    "LocalOrg": ["HTTP", "SQLite", "JSON", "CSV", "Archive", "Crypto", "System"],
    "Pipelines": [
      "Reconciliation", "MobileSync", "Bundles", "SmartStore", "Salesforce", "SQLite", "JSON",
      "CSV", "Crypto", "System",
    ],
    "Rehearsal": [
      "Pipelines", "LocalOrg", "Reconciliation", "MobileSync", "Bundles", "SmartStore",
      "Salesforce", "JSON", "Crypto", "System",
    ],
    "attache": programs.union(["Arguments"]),
    "attache-bench": programs,
  ]

  private static let programs: Set<String> = [
    "Rehearsal", "Pipelines", "LocalOrg", "Reconciliation", "MobileSync", "Bundles", "SmartStore",
    "Salesforce", "SQLite", "HTTP", "Archive", "JSON", "CSV", "Crypto", "System",
  ]

  /// The modules that the line of Swift imports: none, or one.
  ///
  /// Reads `import X`, `import struct X.Y`, with any attributes and access level before it.
  static func module(importedBy line: Substring) -> String? {
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
  private static let kinds: Set<String> = [
    "struct", "class", "enum", "protocol", "func", "var", "let", "typealias", "actor", "macro",
  ]

  /// The imports of `source` that `target` may not have, each with its 1-based line.
  static func violations(in source: String, target: String) -> [(line: Int, module: String)] {
    guard let own = allowed[target] else { return [(0, "the target \(target) has no row")] }
    var found: [(Int, String)] = []
    for (number, line) in source.split(separator: "\n", omittingEmptySubsequences: false)
      .enumerated()
    {
      for statement in line.split(separator: ";") {
        guard let module = module(importedBy: statement) else { continue }
        let permitted =
          anywhere.contains(module) || own.contains(module)
          || (["Glibc", "Dispatch"].contains(module) && platform.contains(target))
        if !permitted { found.append((number + 1, module)) }
      }
    }
    return found
  }
}
