import Foundation
import System

/// The programs of docs/library.md, as a package outside the tree that depends on this one.
///
/// Every `<!-- program NAME -->` of the page is an executable target, and depends on the library
/// products that it imports. The package is created and built once for all tests, in its own
/// directory; the compiled libraries are kept next to the build of the tests.
public struct LibraryPackage: Sendable {
  /// The package, or the reason it could not be built.
  public static let shared = Result { try LibraryPackage() }

  /// A program of the page.
  public struct Program: Sendable {
    /// The name, which follows `program` in the mark.
    public let name: String
    /// The expected output: the block `<!-- output NAME -->`.
    public let output: String
    /// The library products that it imports.
    public let products: [String]
    /// The source text.
    public let source: String
  }

  /// The programs, in the order of the page.
  public let programs: [Program]
  private let executables: String

  /// Runs a program.
  package func run(
    _ program: Program, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> ChildProcess.Result {
    try ChildProcess.run(
      executables + "/" + program.name, arguments,
      environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
      deadlineSeconds: 120)
  }

  /// A failed build, with the compiler's messages.
  public struct Failure: Error, CustomStringConvertible {
    /// The compiler's messages.
    public let description: String
  }

  // MARK: creation

  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private init() throws {
    let page = try String(contentsOf: Self.root.appending(path: "docs/library.md"), encoding: .utf8)
    let manifest = try String(
      contentsOf: Self.root.appending(path: "Package.swift"), encoding: .utf8)
    programs = try Self.programs(of: page, products: Self.products(of: manifest))
    let directory = TemporaryDirectory.untilExit("library")
    try Data(Self.manifest(programs).utf8).write(to: URL(filePath: directory.file("Package.swift")))
    for program in programs {
      let sources = URL(filePath: directory.file("Sources/\(program.name)"))
      try FileManager.default.createDirectory(at: sources, withIntermediateDirectories: true)
      try Data(program.source.utf8).write(to: sources.appending(path: "main.swift"))
    }
    let scratch = ForeignSQLCipher.scratch + "/library"
    // A separate scratch path has a separate lock from the build that runs the tests.
    let result = try ChildProcess.run(
      "/usr/bin/env",
      [
        "swift", "build", "--package-path", directory.path, "--scratch-path", scratch, "-Xswiftc",
        "-gnone",
      ], environment: ProcessInfo.processInfo.environment, deadlineSeconds: 900)
    guard result.status == 0 else {
      throw Failure(description: String(decoding: result.output + result.error, as: UTF8.self))
    }
    executables = scratch + "/debug"
  }

  /// The names of the library products.
  private static func products(of manifest: String) -> Set<String> {
    Set(manifest.matches(of: /\.library\(name: "(\w+)"/).map { String($0.1) })
  }

  private static func programs(of page: String, products: Set<String>) throws -> [Program] {
    try page.matches(of: /<!-- program (\w+) -->/).map { match in
      let name = String(match.1)
      let source = try block("program \(name)", of: page)
      let imports = source.matches(of: /(?m)^import (\w+)/).map { String($0.1) }
      return Program(
        name: name, output: try block("output \(name)", of: page),
        products: imports.filter(products.contains), source: source)
    }
  }

  /// The block of the page that follows a mark.
  private static func block(_ mark: String, of page: String) throws -> String {
    guard let start = page.range(of: "<!-- \(mark) -->\n```"),
      let line = page[start.upperBound...].firstIndex(of: "\n"),
      let end = page[line...].range(of: "\n```")
    else { throw Failure(description: "docs/library.md has no block \"\(mark)\"") }
    return String(page[page.index(after: line)..<end.lowerBound]) + "\n"
  }

  private static func manifest(_ programs: [Program]) -> String {
    let targets = programs.map { program in
      let products = program.products.map { ".product(name: \"\($0)\", package: \"attache\")" }
      return """
            .executableTarget(
              name: "\(program.name)", dependencies: [\(products.joined(separator: ", "))],
              swiftSettings: [.treatAllWarnings(as: .error)])
        """
    }
    // The last component of a path names a package, and a clone may have any name, so the name is
    // given explicitly.
    return """
      // swift-tools-version: 6.2
      import PackageDescription

      let package = Package(
        name: "outside",
        dependencies: [.package(name: "attache", path: "\(root.path)")],
        targets: [
      \(targets.joined(separator: ",\n"))
        ]
      )
      """
  }
}
