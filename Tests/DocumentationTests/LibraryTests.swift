import Foundation
import JSON
import LocalOrg
import System
import TestSupport
import Testing

/// The libraries as a package outside the tree sees them: only their public interface.
///
/// A test that compiles that package runs only in `make test-library`, as it takes as long as a
/// suite.
@Suite struct LibraryTests {
  private static let isAsked = ProcessInfo.processInfo.environment["ATTACHE_LIBRARY"] != nil

  @Test(.enabled(if: isAsked, "make test-library runs it"))
  func `the programs of the page are built by a package outside the tree and run`() async throws {
    // The build takes a while and must not delay other tests.
    let thread = StoreThread(name: "library")
    try await thread.run {
      let package = try LibraryPackage.shared.get()
      #expect(package.programs.contains { $0.products == ["SmartStore"] })
      for program in package.programs where program.products == ["SmartStore"] {
        let directory = TemporaryDirectory(program.name)
        let ran = try package.run(program, [directory.file("store.db")])
        #expect(ran.status == 0, "\(String(decoding: ran.error, as: UTF8.self))")
        #expect(String(decoding: ran.output, as: UTF8.self) == program.output)
      }
    }
  }

  @Test(.enabled(if: isAsked, "make test-library runs it"))
  func `each program that uses an org runs with its own org`() async throws {
    let thread = StoreThread(name: "library")
    let programs = try await thread.run { try LibraryPackage.shared.get().programs }
      .filter { $0.products.contains("Salesforce") }
    #expect(programs.map(\.name).sorted() == ["own", "requests", "sync"])
    for program in programs {
      let directory = TemporaryDirectory("library-\(program.name)")
      let org = try Org(directory: directory.file("org"))
      let admin = try #require(org.user(named: "admin@example.com"))
      for number in 1...3 {
        let made = org.create("Account", ["Name": .string("Account \(number)")], as: admin)
        #expect(made.errors == [])
      }
      let server = try OrgServer(org: org)
      defer { server.stop() }
      let token = try server.token(for: "admin@example.com", app: "app")
      let stores = directory.file("stores")
      try Files.makeDirectory(stores)
      let ran = try await thread.run { [url = server.url] in
        try LibraryPackage.shared.get().run(program, [url, token, stores])
      }
      #expect(ran.status == 0, "\(String(decoding: ran.error, as: UTF8.self))")
      #expect(String(decoding: ran.output, as: UTF8.self) == program.output)
      let page = try org.query("SELECT Id FROM Account WHERE Name = 'Made here'", as: admin)
      #expect(try JSONValue(parsing: page.records).array?.count == (program.name == "sync" ? 1 : 0))
    }
  }

  private static let entryPoints = [
    "SmartStore/Store": "public final class Store ",
    "SmartStore/StoreQueue": "public actor StoreQueue ",
    "SmartStore/QuerySpec": "public struct QuerySpec:",
    "SmartStore/StoreConfig": "public struct StoreConfig:",
    "SmartStore/StoreCheck": "public struct StoreCheck:",
    "MobileSync/Manager/SyncManager": "public actor SyncManager ",
    "MobileSync/Manager/SyncManagers": "public actor SyncManagers ",
    "MobileSync/Manager/SyncRun": "public struct SyncRun:",
    "MobileSync/SyncsConfig": "public struct SyncsConfig:",
    "MobileSync/SyncTarget": "public struct SyncTarget:",
    "MobileSync/Custom/CustomTargets": "public struct CustomTargets:",
    "Salesforce/Org": "public final class Org:", "Salesforce/Org+Send": "public func send(",
  ]

  @Test func `the documentation of each entry point has an example that runs`() throws {
    let page = try Self.words(Self.text("docs/library.md"))
    for (file, declaration) in Self.entryPoints {
      let source = try Self.text("Sources/\(file).swift")
      let head = try #require(source.range(of: declaration), "\(file)")
      let lines = source[..<head.lowerBound].split(
        separator: "\n", omittingEmptySubsequences: false
      ).map { $0.drop { $0 == " " } }
      let comment = Array(lines.dropLast().reversed().prefix { $0.hasPrefix("///") }.reversed())
      #expect(comment.contains("/// ```swift"), "\(declaration) has no example")
    }
    for product in ["SmartStore", "MobileSync", "Salesforce"] {
      for (name, source) in try Self.sources(of: product) {
        for block in source.split(separator: "/// ```swift").dropFirst() {
          let lines = block.split(separator: "\n").map { $0.drop { $0 == " " } }
            .prefix { $0.hasPrefix("///") && $0 != "/// ```" }.map { $0.dropFirst(3) }
          let example = Self.words(lines.joined(separator: "\n"))
          #expect(page.contains(example), "\(name): no program of the page contains the example")
        }
      }
    }
  }

  private static func words(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: Page.root.appending(path: path), encoding: .utf8)
  }

  private static func sources(of product: String) throws -> [(String, String)] {
    let root = Page.root.appending(path: "Sources/" + product).path
    let names = try #require(FileManager.default.subpaths(atPath: root))
    return try names.filter { $0.hasSuffix(".swift") }.map {
      ($0, try text("Sources/\(product)/\($0)"))
    }
  }
}
