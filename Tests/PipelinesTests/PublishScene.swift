import Crypto
import JSON
import ObjectStore
import Pipelines
import System
import TestSupport
import Testing

/// A data directory with bundles of two users that a test wrote, and a store for them.
struct PublishScene {
  enum Kind: String, Sendable, CaseIterable {
    case directory, s3

    static let installed = allCases.filter { $0 == .directory || ForeignS3.isThere }
  }

  static let users = ["005000000000001AAA", "005000000000002AAA"]

  let scratch = TemporaryDirectory("published")
  let pipeline: Pipeline
  let store: any ObjectStore
  var root: String { scratch.file("data") }
  private var data: String { root + "/" + pipeline.name }
  /// The notes of the publisher, which a killed one leaves as they were.
  var notes: String { data + "/published.json" }

  /// A store without objects, unless another scene's store is given.
  init(_ kind: Kind, store other: (any ObjectStore)? = nil) throws {
    pipeline = try PipelineFile.read(
      path: BrokenConfigurationTests.fixtures.path + "/first/pipeline.json")
    store = try other ?? Self.store(kind, scratch.path).store
  }

  /// A new store, and what a pipeline file says of it.
  static func store(
    _ kind: Kind, _ directory: String, limits: S3Store.Limits = .init()
  ) throws -> (store: any ObjectStore, section: String) {
    let path = directory + "/store"
    guard kind == .s3 else {
      try Files.makeDirectory(path)
      return (DirectoryStore(path), #"{"directory": "\#(path)"}"#)
    }
    let s3 = try #require(ForeignS3.shared)
    let secret = directory + "/secret"
    try DurableFile.write(Array(s3.secret.utf8), to: secret)
    var bucket = S3Location(
      endpoint: s3.url, region: ForeignS3.region, bucket: ForeignS3.bucket)
    bucket.prefix = RandomBytes.uuid()
    let section = """
      {"s3": {"endpoint": "\(s3.url)", "region": "\(bucket.region)", "bucket": "\(bucket.bucket)",
       "prefix": "\(bucket.prefix)", "accessKeyId": "\(s3.accessKeyID)",
       "secretAccessKey": {"file": "\(secret)"}}}
      """
    let credentials = S3Credentials(accessKeyID: s3.accessKeyID, secret: Secret(s3.secret))
    return (try S3Store(bucket, credentials, limits: limits), section)
  }

  /// Lets the locks of a killed program count as old, so that no test waits for a minute.
  static func ageLocks(_ directory: String) throws {
    let store = directory + "/store"
    guard Files.isDirectory(store) else { return }
    for file in try Tree.files(store) where Files.name(of: file).hasPrefix(".lock-") {
      try Files.setModificationTime(of: store + "/" + file, nanoseconds: 1_000_000_000)
    }
  }

  /// Writes a generation of each user, a signed bundle with a delta, and the list of them.
  func write(_ generation: Int) throws {
    var entries: [JSONValue] = []
    func entry(_ path: String) throws -> JSONObject {
      let bytes = Array("\(path) of generation \(generation)".utf8)
      try Files.makeDirectory(Files.parent(of: data + "/" + path) ?? "")
      try DurableFile.write(bytes, to: data + "/" + path)
      return [
        "path": .string(path), "bytes": JSONValue(bytes.count),
        "sha256": .string(Digest.sha256Hex(bytes)),
      ]
    }
    for user in Self.users {
      let directory = "users/\(user)/\(generation)/"
      var bundle = try entry(directory + "ios.bundle.zip")
      _ = try entry(directory + "ios.bundle.zip.sig")
      bundle["platform"] = "ios"
      bundle["generation"] = JSONValue(generation)
      var delta = try entry(directory + "ios.delta.from-\(generation - 1).zip")
      delta["from"] = JSONValue(generation - 1)
      bundle["deltas"] = .array([.object(delta)])
      entries.append(.object(bundle))
    }
    let list: JSONValue = ["format": 1, "bundles": .array(entries)]
    try DurableFile.write(list.bytes, to: data + "/bundles.json")
  }

  /// Notes pruned generations of a user, and of one whose objects are not there.
  func notePruned(_ generations: [Int], of user: Int) throws {
    let text = String(decoding: try Files.read(notes), as: UTF8.self)
    let going = #""going": {"\#(Self.users[user])": \#(generations), "other": [1]}"#
    try DurableFile.write(Array(text.replacing(#/"going": \{\}/#, with: going).utf8), to: notes)
  }

  func key(_ user: Int, _ path: String) -> String {
    "\(pipeline.name)/users/\(Self.users[user])/\(path)"
  }

  func path(_ user: Int, _ path: String) -> String { "\(data)/users/\(Self.users[user])/\(path)" }

  @discardableResult
  func publish(
    isWhole: Bool = false, isDryRun: Bool = false, to other: (any ObjectStore)? = nil
  ) async throws -> PublishSummary {
    try await Publisher(pipeline, root: root, store: other ?? store)
      .publish(isWhole: isWhole, isDryRun: isDryRun)
  }

  /// Expects that every file that a user's `latest.json` names is there with its digest, and
  /// returns the generation of each user.
  func publishedGenerations() async throws -> [Int64?] {
    var generations: [Int64?] = []
    for user in Self.users.indices {
      let latest = try await read(key(user, "latest.json")).map { try JSONValue(parsing: $0) }
      generations.append(latest?["generation"]?.int)
      let bundles = latest?["bundles"]?.array ?? []
      let files = bundles.flatMap { bundle -> [JSONValue] in
        [bundle] + [bundle["signature"]].compactMap(\.self) + (bundle["deltas"]?.array ?? [])
      }
      #expect(latest == nil || files.count == 3)
      for file in files {
        let content = try await read(key(user, #require(file["path"]?.string)))
        #expect(content.map { Digest.sha256Hex($0) } == file["sha256"]?.string)
      }
    }
    return generations
  }

  private func read(_ key: String) async throws -> [UInt8]? {
    let copy = scratch.file(RandomBytes.uuid())
    guard try await store.get(key, to: copy, limit: 1 << 20) != nil else { return nil }
    return try Files.read(copy)
  }
}

extension ObjectStore {
  /// Expects that every bundle that a `latest.json` names is there with its digest, and returns the
  /// generation of each user.
  func publishedGenerations(_ scratch: TemporaryDirectory) async throws -> [String: Int64] {
    var generations: [String: Int64] = [:]
    for object in try await list("") where object.key.hasSuffix("/latest.json") {
      let file = scratch.file(RandomBytes.uuid())
      _ = try #require(try await get(object.key, to: file, limit: 1 << 20))
      let json = try JSONValue(parsing: Files.read(file))
      let place = try #require(Files.parent(of: object.key))
      for bundle in json["bundles"]?.array ?? [] {
        let key = try place + "/" + #require(bundle["path"]?.string)
        let found = try await get(key, to: scratch.file(RandomBytes.uuid()), limit: .max)
        #expect(found != nil && found?.sha256 == bundle["sha256"]?.string)
      }
      generations[Files.name(of: place)] = json["generation"]?.int
    }
    return generations
  }
}
