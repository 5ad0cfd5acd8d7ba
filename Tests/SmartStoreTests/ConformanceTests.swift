import Foundation
import Testing

/// The table of `docs/conformance.md`: the SDKs' own cases and the tests that hold them.
///
/// `Tests/Fixtures/sdk-smartstore-cases.tsv` lists the cases of both SDKs: class, case, platform, and
/// why it is not ported, if it is not. A test names the cases that it ports in `// SDK:` comments.
@Suite struct ConformanceTests {
  struct Case {
    let suite: String
    let name: String
    let platforms: String
    let reason: String
  }

  /// A test that ports a case.
  struct Port {
    let file: String
    let test: String
    /// A disabled test passes nothing.
    let isEnabled: Bool
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  static let page = root.appending(path: "docs/conformance.md")

  static func cases() throws -> [Case] {
    let text = try String(
      contentsOf: root.appending(path: "Tests/Fixtures/sdk-smartstore-cases.tsv"), encoding: .utf8)
    return text.split(separator: "\n").map { line in
      let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      return Case(
        suite: cells[0], name: cells[1], platforms: cells[2] == "both" ? "iOS, Android" : cells[2],
        reason: cells.count > 3 ? cells[3] : "")
    }
  }

  /// The cases that the tests name, each with the test that follows or surrounds the comment.
  static func ports() throws -> [String: Port] {
    var ports: [String: Port] = [:]
    for folder in ["SmartStoreTests", "BundlesTests"] {
      let directory = root.appending(path: "Tests/\(folder)")
      for file in try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
      where file.hasSuffix(".swift") {
        let text = try String(contentsOf: directory.appending(path: file), encoding: .utf8)
        read(text, "Tests/\(folder)/\(file)", &ports)
      }
    }
    return ports
  }

  static func read(_ text: String, _ file: String, _ ports: inout [String: Port]) {
    var waiting: [String] = []
    var isEnabled = true
    for line in text.split(separator: "\n").map({ $0.trimmingCharacters(in: .whitespaces) }) {
      if line.hasPrefix("// SDK: ") {
        waiting += line.dropFirst("// SDK: ".count).split(separator: ",").compactMap {
          $0.split(separator: " ").first.map(String.init)
        }
      }
      if line.contains(".disabled(") { isEnabled = false }
      guard let start = line.range(of: "func `"),
        line.hasSuffix("{") || line.hasSuffix("(")
          || line.hasSuffix(")")
      else { continue }
      let rest = line[start.upperBound...]
      let name = String(rest[..<(rest.firstIndex(of: "`") ?? rest.endIndex)])
      for waited in waiting { ports[waited] = Port(file: file, test: name, isEnabled: isEnabled) }
      waiting = []
      isEnabled = true
    }
  }

  static func rendered() throws -> (page: String, missing: [String]) {
    let ports = try ports()
    var ported: [String] = []
    var others: [String] = []
    var missing: [String] = []
    let cases = try cases()
    for item in cases {
      if let port = ports[item.name] {
        ported.append(
          "| \(item.suite) | `\(item.name)` | \(item.platforms) | \(port.isEnabled ? "yes" : "no") "
            + "| \(port.test) |")
        if !port.isEnabled { missing.append(item.name) }
      } else if !item.reason.isEmpty {
        others.append("| \(item.suite) | `\(item.name)` | \(item.platforms) | \(item.reason) |")
      } else {
        missing.append(item.name)
      }
    }
    missing += Set(ports.keys).subtracting(cases.map(\.name)).sorted().map { "\($0): no such case" }
    let page = """
      # Conformance with the Mobile SDK's SmartStore

      The SDKs' own test cases for SmartStore, and the test of attache that holds each. The page is made
      from the `// SDK:` comments of `Tests/SmartStoreTests` and `Tests/BundlesTests`, and compared with
      them in every run of the tests; `UPDATE_CONFORMANCE=1 swift test --filter ConformanceTests` writes
      it anew. A case passes when its test does, and a page with a case that fails is not merged: CI runs
      all of them.

      \(ported.count) cases pass; \(others.count) are not ported, with the reason below.

      | SDK's class | case | platform | passes | test |
      |---|---|---|---|---|
      \(ported.joined(separator: "\n"))

      ## Not ported

      Beside these: speed and load tests, key-value stores, the inspector's and the SDK manager's own
      tests.

      | SDK's class | case | platform | why |
      |---|---|---|---|
      \(others.joined(separator: "\n"))

      """
    return (page, missing)
  }

  @Test func `every case of the SDKs is ported or has a reason, and the page says so`() throws {
    let (page, missing) = try Self.rendered()
    #expect(missing == [])
    if ProcessInfo.processInfo.environment["UPDATE_CONFORMANCE"] != nil {
      try page.write(to: Self.page, atomically: true, encoding: .utf8)
    }
    let committed = try String(contentsOf: Self.page, encoding: .utf8)
    #expect(committed == page, "run it with UPDATE_CONFORMANCE=1")
  }
}
