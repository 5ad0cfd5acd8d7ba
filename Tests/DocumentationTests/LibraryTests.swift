import Foundation
import System
import TestSupport
import Testing

/// The library as a program outside the package sees it: its public interface and nothing else.
@Suite struct LibraryTests {
  static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  /// The block of the page that follows a mark.
  static func block(_ mark: String, of page: String) throws -> String {
    let start = try #require(page.range(of: "<!-- \(mark) -->\n```"))
    let rest = page[start.upperBound...]
    let body = rest[(try #require(rest.firstIndex(of: "\n")))...].dropFirst()
    return String(body[..<(try #require(body.range(of: "```"))).lowerBound])
  }

  /// Where this program was built: the modules and the objects are beside it.
  static func buildDirectory() throws -> URL {
    var url = URL(filePath: CommandLine.arguments[0]).standardizedFileURL
    if !FileManager.default.fileExists(atPath: url.path) {
      url = URL(
        filePath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
    }
    while url.path.count > 1 {
      url = url.deletingLastPathComponent()
      let modules = url.appending(path: "Modules/SmartStore.swiftmodule")
      if FileManager.default.fileExists(atPath: modules.path) { return url }
    }
    throw CocoaError(.fileNoSuchFile)
  }

  static func run(_ path: String, _ arguments: [String]) throws -> ChildProcess.Result {
    try ChildProcess.run(
      path, arguments, environment: ProcessInfo.processInfo.environment)
  }

  /// The names of a module's source files.
  private static func sources(of module: String) throws -> Set<String> {
    let folder = Self.root.appending(path: "Sources/\(module)").path
    let files = try #require(FileManager.default.enumerator(atPath: folder))
    return Set(files.compactMap { ($0 as? String).map { URL(filePath: $0).lastPathComponent } })
  }

  @Test func `the program of the documentation is compiled outside the package and runs`() throws {
    let page = try String(
      contentsOf: Self.root.appending(path: "docs/library.md"), encoding: .utf8)
    let directory = TemporaryDirectory()
    let source = directory.file("main.swift")
    try Data(Self.block("program", of: page).utf8).write(to: URL(filePath: source))
    let build = try Self.buildDirectory()
    var objects: [String] = []
    for module in ["SmartStore", "SQLite", "JSON", "Crypto", "System", "CSystem"] {
      let folder = build.appending(path: "\(module).build")
      let files = try #require(FileManager.default.enumerator(atPath: folder.path))
      let sources = try Self.sources(of: module)
      // An object of a source that is gone stays in the build directory and is no part of the module.
      for case let file as String in files where file.hasSuffix(".o") {
        let source = URL(filePath: file).deletingPathExtension().lastPathComponent
        if sources.contains(source) { objects.append(folder.appending(path: file).path) }
      }
    }
    let sources = Self.root.appending(path: "Sources").path
    var arguments = ["swiftc", "-swift-version", "6", source, "-o", directory.file("program")]
    arguments += ["-I", build.appending(path: "Modules").path, "-I", "\(sources)/CSystem/include"]
    let map = build.appending(path: "CSystem.build/module.modulemap").path
    arguments += ["-Xcc", "-fmodule-map-file=\(map)"]
    for module in ["CSQLite", "CCrypto"] { arguments += ["-I", "\(sources)/\(module)"] }
    arguments += objects.sorted() + ["-lsqlite3", "-lcrypto"]
    var compiled = try Self.run("/usr/bin/env", arguments)
    // The objects may have been made for a sanitizer or for coverage.
    for (symbol, flag) in [
      ("__tsan_", "-sanitize=thread"), ("__asan_", "-sanitize=address"),
      ("__llvm_profile", "-profile-generate"),
    ] where String(decoding: compiled.error, as: UTF8.self).contains(symbol) {
      compiled = try Self.run("/usr/bin/env", arguments + [flag])
    }
    #expect(compiled.status == 0, "\(String(decoding: compiled.error, as: UTF8.self))")
    let ran = try Self.run(directory.file("program"), [directory.file("store.db")])
    #expect(ran.status == 0, "\(String(decoding: ran.error, as: UTF8.self))")
    #expect(String(decoding: ran.output, as: UTF8.self) == (try Self.block("output", of: page)))
  }
}
