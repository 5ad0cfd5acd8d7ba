import Bundles
import Crypto
import JSON
import SmartStore
import System
import Testing

@Suite struct BundleIndexTests {
  let world: World
  init() throws { world = try World() }

  private func index() throws -> [JSONValue] {
    let list = try JSONValue(parsing: Files.read(world.data.path + "/bundles.json"))
    #expect(list["format"] == 1 && list["pipeline"] == "demo")
    return list["bundles"]?.array ?? []
  }

  @Test func `each user has a link to the newest bundle, and the list names it`() async throws {
    try await world.run()
    let entries = try index()
    try expectNewest(entries)
    try change()
    try await world.run()
    #expect(try index() != entries)
    try expectNewest(try index())
  }

  private func change() throws {
    let device = try world.device("ada")
    let account = try world.ids("accounts", on: device)[0]
    let done = world.org.update("Account", id: account, ["Phone": "1"], as: try world.user("admin"))
    #expect(done.errors == [])
    try world.org.moveClock(by: 60_000)
  }

  /// Checks that each entry describes its user's newest bundle, and that a link leads to it.
  private func expectNewest(_ entries: [JSONValue]) throws {
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
  }

  @Test(arguments: ["a copy of each bundle", "a copy of each directory", "nothing"])
  func `links are recreated in a copied data directory`(_ place: String) async throws {
    try await world.run()
    let copy = world.root + "/copy"
    // As in an object store: no links, and no empty directories.
    let script = """
      set -e
      cp -rL "$1" "$2"
      find "$2" -type d -empty -delete
      rm -r "$1"
      mv "$2" "$1"
      """
    #expect(
      try ChildProcess.run("/bin/sh", ["-c", script, "sh", world.data.path, copy]).status == 0)
    let latest = try world.snapshot("ada") + "/latest"
    for name in try Files.list(latest) {
      #expect(!Files.isSymbolicLink("\(latest)/\(name)"))
      if place != "a copy of each bundle" { try Files.remove("\(latest)/\(name)") }
      if place == "a copy of each directory" { try Files.makeDirectory("\(latest)/\(name)/deep") }
    }
    try DurableFile.write([1], to: latest + "/ios.zip")
    try change()
    try await world.run()
    try expectNewest(try index())
    #expect(try Files.list(latest) == ["android.tar.zst", "ios.tar.zst"])
  }

  @Test func `a format removed from the pipeline leaves no link`() async throws {
    try await world.run()
    try world.rewrite(#""tar.zst""#, #""zip""#)
    _ = try await world.runAsWritten([.pack])
    let latest = try world.snapshot("ada") + "/latest"
    #expect(try Files.list(latest) == ["android.zip", "ios.zip"])
    #expect(try index().allSatisfy { $0["path"]?.string?.hasSuffix(".zip") == true })
  }
}

extension World {
  fileprivate func bundle(of user: String, _ platform: Platform) throws -> String {
    let name = try #require(
      ["ada", "ben", "cleo", "dan"].first { (try? self.user($0).id) == user } ?? nil)
    return try bundle(name, platform)
  }
}
