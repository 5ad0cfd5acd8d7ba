import Testing

@Suite struct TidyTests {
  @Test func `every target imports only what its row of the table allows`() {
    for file in SourceTree.programs {
      for violation in ImportTable.violations(in: file.lines, target: file.target) {
        Issue.record("\(file.path):\(violation.line): may not import \(violation.module)")
      }
    }
  }

  @Test func `the manifest is a ladder: a target names only targets above its line`() {
    #expect(ImportTable.rows.count > 30)
    #expect(ImportTable.allowed["LocalOrg"]?.contains("HTTP") == true)
    var seen: Set<String> = []
    for row in ImportTable.rows {
      #expect(Set(row.modules).count == row.modules.count, "\(row.target) names a module twice")
      for module in row.modules where !seen.contains(module) {
        // The system libraries and the kit have lines of another kind.
        if !module.hasPrefix("C") && module != "AttacheKit" || module == "CSV" {
          Issue.record("\(row.target) names \(module), which is below it")
        }
      }
      seen.insert(row.target)
    }
  }

  @Test func `tests use the package's shared code, and nothing is built only for tests`() throws {
    let word = "@test" + "able"
    for file in SourceTree.files(under: "Tests") where !file.path.hasPrefix("Tests/TidyTests/") {
      for (index, line) in file.lines.enumerated() where line.contains(word) {
        Issue.record("\(file.path):\(index + 1): \(word): declare `package` what the test needs")
      }
    }
    for path in ["Makefile", "Package.swift", ".ci/run", ".ci/suites"] {
      let text = try String(
        contentsOf: SourceTree.root.appendingPathComponent(path), encoding: .utf8)
      #expect(!text.contains("enable-" + "testing"), "\(path)")
    }
  }

  @Test func `every dependency in the manifest is imported by some file`() {
    for row in ImportTable.rows {
      let files = SourceTree.files(under: row.folder)
      #expect(!files.isEmpty, "\(row.folder) has no files")
      let imported = Set(files.flatMap { ImportTable.imports(of: $0.lines).map(\.module) })
      for module in row.modules where !imported.contains(module.replacing("-", with: "_")) {
        Issue.record("\(row.target) declares \(module), and no file imports it")
      }
    }
  }

  @Test func `the map of the code has the targets of the manifest, in order`() throws {
    let page = try #require(SourceTree.file("docs/dev/architecture.md")).text
    let listed = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.flatMap { line in
      line.split(separator: "|").dropFirst().first.map {
        $0.matches(of: /`([\w-]+)`/).map { String($0.output.1) }
      } ?? []
    }
    let targets = ImportTable.rows.filter { !["tests", "benchmark"].contains($0.kind) }
      .map(\.target)
    #expect(listed.filter(targets.contains) == targets)
  }

  @Test(arguments: [
    "import MobileSync", "@testable import MobileSync", "package import MobileSync",
    "public import MobileSync", "import struct MobileSync.SyncState",
    "@testable import class MobileSync.SyncManager",
    "  @preconcurrency package import struct MobileSync.SyncState",
    "import JSON; import MobileSync",
  ])
  func `a planted forbidden import is found`(statement: String) {
    let lines = SourceTree.lines(of: "import JSON\n\n" + statement + "\n")
    let found = ImportTable.violations(in: lines, target: "LocalOrg")
    #expect(found.map(\.module) == ["MobileSync"])
    #expect(found.map(\.line) == [3])
  }

  @Test func `allowed imports, and words that only look like one, are accepted`() {
    let source = SourceTree.lines(
      of: """
        import FoundationEssentials
        @testable import JSON
        // import MobileSync
        let important = 1
        func importRows() {}
        """)
    #expect(ImportTable.violations(in: source, target: "LocalOrg").isEmpty)
    #expect(ImportTable.violations(in: ["import Glibc"], target: "System").isEmpty)
    #expect(ImportTable.violations(in: ["import Glibc"], target: "JSON").count == 1)
    #expect(ImportTable.violations(in: ["import Foundation"], target: "JSON").count == 1)
    #expect(ImportTable.violations(in: [], target: "Helpers").count == 1)
  }

  @Test func `no source file is longer than 500 lines and no function longer than 70`() {
    for file in SourceTree.programs {
      let lines = file.lines
      if lines.count > Shape.fileLines { Issue.record("\(file.path): \(lines.count) lines") }
      for function in Shape.longFunctions(lines) {
        Issue.record("\(file.path):\(function.line): a function of \(function.length) lines")
      }
    }
  }

  @Test func `every public declaration and every shared type is documented`() {
    for file in SourceTree.programs {
      for line in Shape.undocumented(file.lines) {
        Issue.record("\(file.path):\(line): no documentation comment")
      }
    }
  }

  @Test func `a planted long function and an undocumented declaration are found`() {
    let body = Array(repeating: "    let x = 1", count: 80)
    let long = ["struct A {", "  func f() {"] + body + ["  }", "}"]
    #expect(Shape.longFunctions(long.map { $0[...] }).map(\.length) == [81])
    let bare = ["package struct B {", "  /// Says.", "  package var a = 1", "}"]
    #expect(Shape.undocumented(bare.map { $0[...] }) == [1])
    let members = [
      "/// A C.", "public struct C {", "  public var a = 1", "  package var b = 1",
      "  package func c() {}", "}", "package final class D {}",
    ]
    #expect(Shape.undocumented(members.map { $0[...] }) == [3, 7])
  }

  @Test func `nothing in the sources can trap on input or hide a race`() {
    let forbidden = ["try" + "!", "fatal" + "Error(", "nonisolated(un" + "safe)"]
    for file in SourceTree.programs {
      for (index, line) in file.lines.enumerated()
      where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for word in forbidden where line.contains(word) {
          Issue.record("\(file.path):\(index + 1): \(word)")
        }
        guard line.contains("@unchecked Sendable") else { continue }
        let above = index > 0 ? file.lines[max(0, index - 6)..<index] : []
        if !above.contains(where: { $0.contains("//") }) {
          Issue.record(
            "\(file.path):\(index + 1): @unchecked Sendable without a justification above it")
        }
      }
    }
  }

  @Test func `a source file is named after a type or an extension in it`() {
    for file in SourceTree.programs {
      let name = String(file.path.split(separator: "/").last?.dropLast(6) ?? "")
      guard name != "main" else { continue }
      let type = name.split(separator: "+").first.map(String.init) ?? name
      let pattern = #"\b(struct|class|enum|protocol|extension|typealias|actor) \#(type)\b"#
      if file.text.range(of: pattern, options: .regularExpression) == nil {
        Issue.record("\(file.path): has no type named \(type)")
      }
    }
  }

  @Test func `no two modules have a type of one name, except the protocol's two sides`() {
    var holders: [String: Set<String>] = [:]
    for file in SourceTree.programs {
      for type in Shape.types(file.lines) { holders[type, default: []].insert(file.target) }
    }
    #expect(holders["Org"] == ["Salesforce", "LocalOrg"])
    for (type, targets) in holders.sorted(by: { $0.key < $1.key })
    where targets.count > 1 && targets != ["Salesforce", "LocalOrg"] {
      Issue.record("\(type): \(targets.sorted().joined(separator: ", "))")
    }
  }

  @Test func `a planted type is found with any modifiers before it`() {
    let lines = [
      "@main", "enum A {", "  struct Inner {}", "@MainActor private final class B<T>: C {",
      "public indirect enum D: Error {", "package typealias E = Int", "extension F {",
      "// struct G", "protocol H: AnyObject {", "import struct I.J",
    ]
    #expect(Shape.types(lines.map { $0[...] }) == ["A", "B", "D", "E", "H"])
  }
}
