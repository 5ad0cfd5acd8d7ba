import Foundation

/// A test of attache with an `// SDK:` comment that lists the SDKs' cases it ports.
struct ConformancePort {
  /// A case in a comment: `testReSync`, `SyncManagerTest.testReSync (6)`, and
  /// `testSyncUpLocallyUpdatedChild (159-196)` for a table of cases.
  struct Name {
    /// The case without its class.
    let name: String
    /// The case's numbers in the list of Mobile Sync.
    let rows: ClosedRange<Int>?
  }

  let file: String
  let test: String
  /// Whether the test is enabled; a disabled one does not count.
  let isEnabled: Bool
  let names: [Name]

  static func all(in folders: [String]) throws -> [ConformancePort] {
    var ports: [ConformancePort] = []
    for folder in folders {
      let directory = Page.root.appending(path: "Tests/" + folder)
      let files = FileManager.default.enumerator(atPath: directory.path)?.allObjects ?? []
      for file in files.compactMap({ $0 as? String }).sorted() where file.hasSuffix(".swift") {
        let text = try String(contentsOf: directory.appending(path: file), encoding: .utf8)
        if text.contains("// SDK:") { ports += read(text, "Tests/\(folder)/\(file)") }
      }
    }
    return ports
  }

  /// The tests of a file: a comment belongs to the test that contains it, otherwise to the next
  /// one.
  static func read(_ text: String, _ file: String) -> [ConformancePort] {
    var ports: [ConformancePort] = []
    var (waiting, isEnabled) = ([Name](), true)
    var current: (test: String, isEnabled: Bool, depth: Int)?
    for line in text.split(separator: "\n") {
      let depth = line.prefix { $0 == " " }.count
      let code = line.dropFirst(depth)
      if let comment = code.firstMatch(of: /^\/\/ SDK: (.*)/)?.output.1 {
        let names = names(in: comment)
        if let current, depth > current.depth {
          ports.append(
            ConformancePort(
              file: file, test: current.test, isEnabled: current.isEnabled, names: names))
        } else {
          waiting += names
        }
      }
      if code.contains(".disabled(") { isEnabled = false }
      guard !code.hasPrefix("//"), let test = code.firstMatch(of: /func `([^`]+)`/)?.output.1
      else { continue }
      current = (String(test), isEnabled, depth)
      if !waiting.isEmpty {
        ports.append(
          ConformancePort(file: file, test: String(test), isEnabled: isEnabled, names: waiting))
      }
      (waiting, isEnabled) = ([], true)
    }
    return ports
  }

  private static func names(in comment: Substring) -> [Name] {
    comment.matches(of: /(?:\w+\.)?(test\w*)(?:\s*\((\d+)(?:[-–](\d+))?\))?/).map { match in
      let first = match.output.2.flatMap { Int($0) }
      let last = match.output.3.flatMap { $0 }.flatMap { Int($0) } ?? first
      return Name(name: String(match.output.1), rows: first.map { $0...max($0, last ?? $0) })
    }
  }
}
