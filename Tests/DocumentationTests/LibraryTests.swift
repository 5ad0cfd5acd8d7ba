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
}
