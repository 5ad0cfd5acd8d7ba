import JSON
import LocalOrg
import System
import TestSupport
import Testing

/// The libraries as a package outside the tree sees them: their public interface and nothing else.
@Suite struct LibraryTests {
  @Test func `the programs of the page are built by a package outside the tree and run`()
    async throws
  {
    // The build takes a while and must not hold up other tests.
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

  @Test func `the program that syncs does so with an org`() async throws {
    let directory = TemporaryDirectory("library-sync")
    let org = try Org(directory: directory.file("org"))
    let admin = try #require(org.user(named: "admin@example.com"))
    for number in 1...3 {
      let made = org.create("Account", ["Name": .string("Account \(number)")], as: admin)
      #expect(made.errors == [])
    }
    let server = try OrgServer(org: org)
    defer { server.stop() }
    let token = try server.token(for: "admin@example.com", app: "app")
    let thread = StoreThread(name: "library")
    try await thread.run { [url = server.url] in
      let package = try LibraryPackage.shared.get()
      let program = try #require(package.programs.first { $0.products.contains("MobileSync") })
      let ran = try package.run(program, [url, token, directory.file("stores")])
      #expect(ran.status == 0, "\(String(decoding: ran.error, as: UTF8.self))")
      #expect(String(decoding: ran.output, as: UTF8.self) == program.output)
    }
    let page = try org.query("SELECT Id FROM Account WHERE Name = 'Made here'", as: admin)
    #expect(try JSONValue(parsing: page.records).array?.count == 1)
  }
}
