import Bundles
import Crypto
import JSON
import SmartStore
import Testing

@Suite struct ManifestTests {
  @Test(arguments: Platform.allCases)
  func `a manifest is read as written, and written the same again`(platform: Platform) throws {
    let manifest = try Issued(platform).manifest
    let read = try Manifest(parsing: manifest.bytes, path: "a.zip")
    #expect(read == manifest)
    #expect(read.bytes == manifest.bytes)
    #expect(read.counts == ["accounts": 20, "cases": 0])
  }

  @Test func `a manifest has the members that an app needs`() throws {
    let json = try JSONValue(parsing: Issued(.ios).manifest.bytes)
    #expect(json["format"]?.int == 1)
    #expect(json["created"]?.string == "2024-01-31T12:34:56.000Z")
    #expect(json["expires"]?.string == "2024-02-01T12:34:56.000Z")
    #expect(json["includes"]?[0]?["stampId"]?.string == "ab")
    #expect(json["includes"]?[0]?["install"]?.string == "i")
    #expect(json["includes"]?[0]?["handback"]?.int == 2)
    #expect(
      json["stores"]?[0]?["path"]?.string
        == "00D000000000001EAA/005000000000001AAA/internal/stores/defaultStore/store.sqlite")
  }

  private func manifest(_ name: String, _ value: JSONValue?) throws -> [UInt8] {
    var object = try #require(JSONValue(parsing: Issued(.ios).manifest.bytes).object)
    object["digest"] = nil
    object[name] = value
    object["digest"] = .string(
      Digest.sha256Hex(JSONValue.object(object).bytes(pretty: false, sortedKeys: true)))
    return JSONValue.object(object).bytes
  }

  @Test(arguments: [
    "format", "org", "user", "pipeline", "generation", "platform", "stampId", "configHash",
    "created", "stores", "syncStates", "includes",
  ])
  func `a manifest that lacks a member is rejected with its name`(name: String) throws {
    for value in [nil, JSONValue.object(["no": "such"])] {
      let error = #expect(throws: BundleError.self) {
        try Manifest(parsing: manifest(name, value), path: "a.zip")
      }
      let words = try #require(error?.description)
      #expect(words.contains("manifest.json lacks \(name)"), "\(words)")
    }
  }

  @Test func `a manifest may be reformatted, but not changed`() throws {
    #expect(try Manifest(parsing: manifest("warnings", ["w"]), path: "a.zip").warnings == ["w"])
    var object = try #require(JSONValue(parsing: Issued(.ios).manifest.bytes).object)
    let sorted = JSONValue.object(object).bytes(pretty: false, sortedKeys: true)
    #expect(try Manifest(parsing: sorted, path: "a.zip") == Issued(.ios).manifest)
    object["generation"] = 4
    let error = #expect(throws: BundleError.self) {
      try Manifest(parsing: JSONValue.object(object).bytes, path: "a.zip")
    }
    #expect(error?.isDamage == true)
  }

  @Test func `a newer format is reported as newer`() throws {
    let error = #expect(throws: BundleError.self) {
      try Manifest(parsing: Array(#"{"format":2}"#.utf8), path: "a.zip")
    }
    #expect(
      error?.description
        == "a.zip has format 2, which is newer than this version of attache; use a newer one")
  }

  // SDK: testGetHelperForAccountNullCommunityId (Android)
  // SDK: testGetHelperForNullAccountNullCommunityId (Android)
  // SDK: testGetHelperUsesDefaultDatabaseName (Android)
  @Test(arguments: [
    (Platform.ios, StoreScope.user, "default", "ORG/USR/internal/stores/defaultStore/store.sqlite"),
    (.ios, .user, "a:b", "ORG/USR/internal/stores/a_b/store.sqlite"),
    (.ios, .global, "default", "stores/defaultStore/store.sqlite"),
    (.android, .user, "default", "databases/smartstore_ORG_USR_internal.db"),
    (.android, .user, "field", "databases/field_ORG_USR_internal.db"),
    (.android, .global, "default", "databases/smartstore.db"),
  ])
  func `a store has the path where the app looks for it`(
    platform: Platform, scope: StoreScope, name: String, path: String
  ) {
    #expect(
      StoreLocation(
        platform, storeName: name,
        user: scope == .user ? .init(organizationID: "ORG", userID: "USR") : nil
      ).path == path)
  }
}
