import JSON
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

@Suite struct ProvenanceTests {
  let directory = TemporaryDirectory()

  @Test func `the stamp ID is the keyed digest of the stamp`() {
    // python3: hmac.new(bytes([7])*32, b'["attache-stamp-1","00D000000000001EAA",
    // "005000000000001AAA","field-service",3,"ios"]', 'sha256')
    #expect(
      IssuedStore.stamp(.ios).stampID
        == "135931a9d15aa076cb489e3e767e373015893f060e4f09cba5bc413442cb1201")
    #expect(IssuedStore.stamp(.ios) == IssuedStore.stamp(.ios))
    let others = [
      IssuedStore.stamp(.android), IssuedStore.stamp(.ios, generation: 4),
      IssuedStore.stamp(.ios, user: "global"),
    ]
    for other in others { #expect(other.stampID != IssuedStore.stamp(.ios).stampID) }
    #expect(IssuedStore.stamp(.ios).isGenuine(key: IssuedStore.key))
    #expect(!IssuedStore.stamp(.ios).isGenuine(key: [1]))
  }

  @Test func `a stamp moved to another generation is not genuine`() throws {
    var json = try #require(IssuedStore.stamp(.ios).json.object)
    json["generation"] = 4
    #expect(try !#require(Provenance(json: .object(json))).isGenuine(key: IssuedStore.key))
  }

  @Test func `the app's members are read and are not part of the ID`() throws {
    var json = try #require(IssuedStore.stamp(.ios).json.object)
    json["install"] = "6f1c"
    json["handback"] = 2
    json["_soupEntryId"] = 1
    json["theAppsOwn"] = "x"
    let stamp = try #require(Provenance(json: .object(json)))
    #expect(stamp.install == "6f1c" && stamp.handback == 2)
    #expect(stamp.isGenuine(key: IssuedStore.key))
  }

  @Test(arguments: [JSONValue.number("-1"), .number("1.5"), "2", true, .null])
  func `an invalid return counter is ignored`(_ handback: JSONValue) throws {
    var json = try #require(IssuedStore.stamp(.ios).json.object)
    json["handback"] = handback
    #expect(try #require(Provenance(json: .object(json))).handback == nil)
  }

  @Test func `a text that is too long is not a stamp`() throws {
    let long = JSONValue.string(String(repeating: "x", count: 257))
    var json = try #require(IssuedStore.stamp(.ios).json.object)
    json["install"] = long
    #expect(try #require(Provenance(json: .object(json))).install == nil)
    json["user"] = long
    #expect(Provenance(json: .object(json)) == nil)
  }

  @Test(arguments: ["org", "user", "pipeline", "generation", "platform", "stampId"])
  func `an element that lacks a member is not a stamp`(name: String) throws {
    var json = try #require(IssuedStore.stamp(.ios).json.object)
    json[name] = nil
    #expect(Provenance(json: .object(json)) == nil)
    json[name] = true
    #expect(Provenance(json: .object(json)) == nil)
  }

  @Test(arguments: Platform.allCases)
  func `a store has one stamp, whatever it had before`(platform: Platform) throws {
    let store = try Store(creating: directory.file("a"), platform: platform)
    #expect(try Provenance.read(from: store) == .none)
    try IssuedStore.stamp(platform).write(into: store)
    #expect(try Provenance.read(from: store) == .stamp(IssuedStore.stamp(platform)))
    #expect(
      try store.indexSpecs(of: "attache_stamp") == [IndexSpec(path: "stampId", type: .string)])
    // A copied store of the next generation, with the members that the app wrote into the old one.
    var used = IssuedStore.stamp(platform)
    used.install = "x"
    try used.write(into: store)
    try IssuedStore.stamp(platform, generation: 4).write(into: store)
    #expect(try Provenance.read(from: store) == .stamp(IssuedStore.stamp(platform, generation: 4)))
    #expect(try store.count(of: "attache_stamp") == 1)
    try store.upsert(["{}"], into: "attache_stamp")
    guard case .unreadable = try Provenance.read(from: store) else {
      Testing.Issue.record("two stamps were read")
      return
    }
    try IssuedStore.stamp(platform).write(into: store)
    #expect(try store.count(of: "attache_stamp") == 1)
    try store.close()
  }

  @Test func `writing the same stamp again changes no byte`() throws {
    let path = directory.file("a")
    let store = try Store(creating: path, platform: .ios)
    try IssuedStore.stamp(.ios).write(into: store)
    try store.close()
    let before = try Files.read(path)
    let again = try Store(opening: path)
    try IssuedStore.stamp(.ios).write(into: again)
    try again.close()
    #expect(try Files.read(path) == before)
  }
}
