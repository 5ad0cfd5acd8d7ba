import Archive
import Bundles
import Crypto
import Returns
import SmartStore
import Snapshots
import System
import TestSupport

/// A small issue for tests: one user's store on one platform.
struct Issued {
  static let org = "00D000000000001EAA"
  static let user = "005000000000001AAA"
  static let pipeline = "field-service"
  static let key = [UInt8](repeating: 7, count: 32)
  static let now: Int64 = 1_706_704_496_000
  static let soups = [
    StoreConfig.Soup(
      soupName: "accounts",
      indexes: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .fullText),
        IndexSpec(path: "__local__", type: .string),
      ]), StoreConfig.Soup(soupName: "cases", indexes: [IndexSpec(path: "Id", type: .string)]),
  ]

  let directory: TemporaryDirectory
  let platform: Platform
  var entry: StoreEntry
  var manifest: Manifest
  var storePath: String { directory.file("stores/\(entry.path)") }

  /// A returned bundle with these files, each with its name.
  func returned(in directory: TemporaryDirectory, _ files: [(String, String)]) throws -> String {
    let path = directory.file("returned.zip")
    let writer = try ArchiveWriter(path: path, format: .zip, modified: 0)
    try writer.add(name: "manifest.json", bytes: manifest.bytes)
    for (name, file) in files { try writer.add(name: name, file: file) }
    try writer.close()
    return path
  }

  static func stamp(_ platform: Platform, generation: Int = 3, user: String = user) -> Provenance {
    Provenance(
      org: org, user: user, pipeline: pipeline, generation: generation, platform: platform,
      key: key)
  }

  static let owner = StoreLocation.User(organizationID: org, userID: user)
  init(_ platform: Platform, in directory: TemporaryDirectory = TemporaryDirectory()) throws {
    self.directory = directory
    self.platform = platform
    let path = StoreLocation(platform, user: Issued.owner).path
    let file = directory.file("stores/\(path)")
    try Files.makeDirectory(Files.parent(of: file) ?? "/")
    let store = try Store(creating: file, platform: platform)
    store.clock = { Issued.now }
    for soup in Issued.soups { try store.registerSoup(soup.soupName, indexSpecs: soup.indexes) }
    for number in 0..<20 {
      let id = "00100000000000\(number < 10 ? "0" : "")\(number)AA"
      let text = """
        {"Id":"\(id)","Name":"Account \\u00e9 \(number)","Amount":1.50,"attributes":\
        {"type":"Account"},"LastModifiedDate":"2024-01-31T12:34:\(10 + number).000+0000",\
        "__local__":false,"__locally_created__":false,"__locally_updated__":false,\
        "__locally_deleted__":false}
        """
      try store.upsert([text], into: "accounts")
    }
    try Issued.stamp(platform).write(into: store)
    try store.close()
    entry = try SnapshotDirectory.measure(
      file, scope: .user, storeName: "default", path: path, stamp: Issued.stamp(platform),
      counts: ["accounts": 20, "cases": 0])
    manifest = Manifest(
      org: Issued.org, user: Issued.user, usernameDigest: Digest.sha256Hex([1]),
      pipeline: Issued.pipeline, generation: 3, platform: platform,
      stampID: Issued.stamp(platform).stampID, configHash: Digest.sha256Hex([2]), stores: [entry],
      syncStates: [
        .init(
          scope: .user, storeName: "default", syncName: "accounts", type: "syncDown",
          status: "DONE", maxTimeStamp: Issued.now)
      ], created: Issued.now, expires: Issued.now + 86_400_000,
      includes: [.init(stampID: "ab", install: "i", handback: 2)])
  }

  static func expectation(accepts: Set<TakenReturn.Kind> = [.bundle, .store])
    -> ReturnValidator.Expectation
  {
    ReturnValidator.Expectation(
      org: org, pipeline: pipeline, key: key, users: [user, Provenance.globalUser],
      stores: [.init(scope: .user, storeName: "default", soups: soups)], accepts: accepts)
  }

  struct Lost: Error {}

  static func validate(
    _ path: String, _ expectation: ReturnValidator.Expectation = expectation(),
    in directory: TemporaryDirectory
  ) throws -> ValidatedReturn {
    let inbox = Inbox(
      directory: directory.file("inbox"), root: directory.file("root"), settleSeconds: 60)
    guard let candidate = try inbox.candidate(named: path),
      case .taken(let taken) = try inbox.take(candidate, now: now, keepsOriginal: true)
    else { throw Lost() }
    return try ReturnValidator(expectation).validate(taken, in: taken.directory + "-work")
  }
}
