import Foundation
import Testing

@Suite struct TidyTests {
  @Test func `every target imports only what its row of the table allows`() {
    for file in SourceTree.files(under: "Sources") {
      for violation in ImportTable.violations(in: file.text, target: file.target) {
        Issue.record("\(file.path):\(violation.line): may not import \(violation.module)")
      }
    }
  }

  @Test func `the manifest declares the dependencies of the table`() throws {
    let manifest = try String(
      contentsOf: SourceTree.root.appendingPathComponent("Package.swift"), encoding: .utf8)
    for (target, modules) in ImportTable.allowed {
      let declaration = try #require(
        manifest.range(
          of: #"(library|program)\(\s*"\#(target)"[^)]*\)"#, options: .regularExpression),
        "Package.swift has no target \(target)")
      let declared = Set(
        manifest[declaration].split(separator: "\"").enumerated().filter { $0.offset % 2 == 1 }
          .map { String($0.element) }
      ).subtracting([target])
      #expect(declared == modules, "target \(target)")
    }
  }

  @Test(arguments: [
    "import MobileSync",
    "@testable import MobileSync",
    "package import MobileSync",
    "public import MobileSync",
    "import struct MobileSync.SyncState",
    "@testable import class MobileSync.SyncManager",
    "  @preconcurrency package import struct MobileSync.SyncState",
    "import JSON; import MobileSync",
  ])
  func `a planted import that the table forbids is found`(statement: String) {
    let source = "import JSON\n\n" + statement + "\n"
    let found = ImportTable.violations(in: source, target: "LocalOrg")
    #expect(found.map(\.module) == ["MobileSync"])
    #expect(found.map(\.line) == [3])
  }

  @Test func `imports that the table allows, and words that only look like one, pass`() {
    let source = """
      import FoundationEssentials
      @testable import JSON
      // import MobileSync
      let important = 1
      func importRows() {}
      """
    #expect(ImportTable.violations(in: source, target: "LocalOrg").isEmpty)
    #expect(ImportTable.violations(in: "import Glibc", target: "System").isEmpty)
    #expect(ImportTable.violations(in: "import Glibc", target: "JSON").count == 1)
    #expect(ImportTable.violations(in: "import Foundation", target: "JSON").count == 1)
    #expect(ImportTable.violations(in: "", target: "Helpers").count == 1)
  }

  @Test func `no source file is longer than 500 lines and no function longer than 70`() {
    for file in SourceTree.files(under: "Sources") {
      let lines = file.lines
      if lines.count > Shape.fileLines { Issue.record("\(file.path): \(lines.count) lines") }
      for function in Shape.longFunctions(lines) {
        Issue.record("\(file.path):\(function.line): a function of \(function.length) lines")
      }
    }
  }

  @Test func `every public and package declaration is documented`() {
    for file in SourceTree.files(under: "Sources") {
      for line in Shape.undocumented(file.lines) {
        Issue.record("\(file.path):\(line): no documentation comment")
      }
    }
  }

  @Test func `a planted long function and a bare declaration are found`() {
    let body = Array(repeating: "    let x = 1", count: 80)
    let long = ["struct A {", "  func f() {"] + body + ["  }", "}"]
    #expect(Shape.longFunctions(long.map { $0[...] }).map(\.length) == [81])
    let bare = ["package struct B {", "  /// Says.", "  package var a = 1", "}"]
    #expect(Shape.undocumented(bare.map { $0[...] }) == [1])
  }

  @Test func `nothing in the sources can trap on input or race unseen`() {
    let forbidden = ["try" + "!", "fatal" + "Error(", "nonisolated(un" + "safe)"]
    for file in SourceTree.files(under: "Sources") {
      for (index, line) in file.lines.enumerated()
      where !line.drop(while: { $0 == " " }).hasPrefix("//") {
        for word in forbidden where line.contains(word) {
          Issue.record("\(file.path):\(index + 1): \(word)")
        }
        guard line.contains("@unchecked Sendable") else { continue }
        let above = index > 0 ? file.lines[max(0, index - 6)..<index] : []
        if !above.contains(where: { $0.contains("//") }) {
          Issue.record("\(file.path):\(index + 1): @unchecked Sendable without a proof above it")
        }
      }
    }
  }

  @Test func `a source file is named after a type or an extension that it holds`() {
    for file in SourceTree.files(under: "Sources") {
      let name = String(file.path.split(separator: "/").last?.dropLast(6) ?? "")
      guard name != "main" else { continue }
      let type = name.split(separator: "+").first.map(String.init) ?? name
      let pattern = #"\b(struct|class|enum|protocol|extension|typealias|actor) \#(type)\b"#
      if file.text.range(of: pattern, options: .regularExpression) == nil {
        Issue.record("\(file.path): holds no type named \(type)")
      }
    }
  }
}
