import Bundles
import Crypto
import JSON
import Pipelines
import SmartStore
import System
import Testing

/// The newest bundles for whoever serves them.
@Suite struct BundleIndexTests {
  let world: World

  init() throws { world = try World() }

  private func index() throws -> [JSONValue] {
    let list = try JSONValue(parsing: Files.read(world.data.path + "/bundles.json"))
    #expect(list["format"] == 1 && list["pipeline"] == "demo")
    return list["bundles"]?.array ?? []
  }

  @Test func `each user has a link to the newest bundle, and the list says what it is`()
    async throws
  {
    try await world.run()
    for round in 1...2 {
      let entries = try index()
      #expect(entries.count == 2 * (try world.data.snapshots().count - 1))
      for entry in entries {
        let latest = world.data.path + "/" + (try #require(entry["latest"]?.string))
        let path = world.data.path + "/" + (try #require(entry["path"]?.string))
        #expect(try Files.isSymbolicLink(latest) && Files.resolved(latest) == Files.resolved(path))
        #expect(try entry["sha256"]?.string == Digest.sha256Hex(file: path))
        #expect(try entry["bytes"]?.int == Files.size(of: path))
        let manifest = try BundleReader.verify(path)
        #expect(entry["user"]?.string == manifest.user)
        #expect(entry["expires"]?.string == manifest.expires.map(Dates.utc))
        #expect(try path == world.bundle(of: manifest.user, manifest.platform))
      }
      if round == 2 { break }
      let device = try world.device("ada")
      let account = try world.ids("accounts", on: device)[0]
      let done = world.org.update(
        "Account", id: account, ["Phone": "1"], as: try world.user("admin"))
      #expect(done.errors == [])
      try world.org.moveClock(by: 60_000)
      try await world.run()
      #expect(try index() != entries)
    }
  }

  @Test func `a format that the pipeline has no more leaves no link`() async throws {
    try await world.run()
    try world.rewrite(#""tar.zst""#, #""zip""#)
    _ = try await world.runAsWritten([.pack])
    let latest = try world.snapshot("ada") + "/latest"
    #expect(try Files.list(latest) == ["android.zip", "ios.zip"])
    #expect(try index().allSatisfy { $0["path"]?.string?.hasSuffix(".zip") == true })
  }
}

extension World {
  /// The newest bundle of a user.
  fileprivate func bundle(of user: String, _ platform: Platform) throws -> String {
    let name = try #require(
      ["ada", "ben", "cleo", "dan"].first { (try? self.user($0).id) == user } ?? nil)
    return try bundle(name, platform)
  }
}
