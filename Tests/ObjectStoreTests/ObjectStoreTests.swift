import Crypto
import ObjectStore
import System
import TestSupport
import Testing

/// What every store does, whatever its objects are kept in.
@Suite struct ObjectStoreTests {
  enum Kind: String, Sendable, CaseIterable {
    case directory, s3

    static let installed = allCases.filter { $0 == .directory || ForeignS3.isThere }
  }

  /// A store without objects.
  private struct Scene {
    let scratch = TemporaryDirectory()
    let store: any ObjectStore

    init(_ kind: Kind, _ change: (inout S3Store.Limits) -> Void = { _ in }) throws {
      guard kind == .s3 else {
        store = DirectoryStore(scratch.path + "/store")
        return
      }
      let s3 = try #require(ForeignS3.shared)
      var bucket = S3Location(
        endpoint: s3.url, region: ForeignS3.region, bucket: ForeignS3.bucket)
      bucket.prefix = "test ä+=/" + RandomBytes.uuid()
      var limits = S3Store.Limits()
      change(&limits)
      store = try S3Store(
        bucket, S3Credentials(accessKeyID: s3.accessKeyID, secret: Secret(s3.secret)),
        limits: limits)
    }

    func file(_ text: String) throws -> ObjectContent {
      let path = scratch.file(RandomBytes.uuid())
      try DurableFile.write(Array(text.utf8), to: path)
      return try ObjectContent(file: path)
    }

    func read(_ key: String) async throws -> String? {
      let path = scratch.file(RandomBytes.uuid())
      guard try await store.get(key, to: path, limit: 1 << 30) != nil else {
        #expect(!Files.exists(path))
        return nil
      }
      return String(decoding: try Files.read(path), as: UTF8.self)
    }

    func fails(
      _ kind: ObjectStoreError.Kind, _ action: () async throws -> Void
    ) async {
      do {
        try await action()
        Issue.record("nothing failed")
      } catch let error as ObjectStoreError {
        #expect(error.kind == kind, "\(error)")
      } catch {
        Issue.record(error)
      }
    }
  }

  private func text(_ text: String) -> ObjectContent { ObjectContent(Array(text.utf8)) }

  @Test(arguments: Kind.installed)
  func `a write to an absent key succeeds once, and its content is read back`(
    _ kind: Kind
  ) async throws {
    let scene = try Scene(kind)
    let key = "users/0/3/ios bundle+ä=%.zip"
    #expect(try await scene.store.head(key) == nil)
    #expect(try await scene.read(key) == nil)
    let content = try scene.file("one")
    let version = try await scene.store.put(key, content, if: .absent)
    let found = try #require(try await scene.store.head(key))
    #expect((found.key, found.size, found.version) == (key, 3, version))
    #expect(found.sha256 == content.sha256)
    #expect(abs(found.modified - Clock.wallMilliseconds()) < 60_000)
    await scene.fails(.conditionFailed) {
      try await scene.store.put(key, text("two"), if: .absent)
    }
    #expect(try await scene.read(key) == "one")
    try await scene.store.put("empty", text(""), if: .absent)
    #expect(try await scene.read("empty") == "")
  }

  @Test(arguments: Kind.installed)
  func `a version is replaced and removed only by who knows it`(_ kind: Kind) async throws {
    let scene = try Scene(kind)
    let store = scene.store
    let first = try await store.put("latest.json", text("one"), if: .absent)
    let second = try await store.put("latest.json", text("two"), if: .matching(first))
    #expect(second != first)
    await scene.fails(.conditionFailed) {
      try await store.put("latest.json", text("three"), if: .matching(first))
    }
    await scene.fails(.conditionFailed) {
      try await store.put("other.json", text("three"), if: .matching(first))
    }
    await scene.fails(.conditionFailed) {
      try await store.delete("latest.json", matching: first)
    }
    #expect(try await scene.read("latest.json") == "two")
    try await store.delete("latest.json", matching: second)
    #expect(try await store.head("latest.json") == nil)
    try await store.delete("latest.json", matching: second)
    #expect(try await scene.read("other.json") == nil)
  }

  @Test(arguments: Kind.installed)
  func `an object above the limit is not fetched`(_ kind: Kind) async throws {
    let scene = try Scene(kind) { $0.partBytes = 4 }
    try await scene.store.put("key", text("0123456789"), if: .absent)
    let path = scene.scratch.file("copy")
    await scene.fails(.tooLarge) { _ = try await scene.store.get("key", to: path, limit: 9) }
    #expect(!Files.exists(path))
    let found = try await scene.store.get("key", to: path, limit: 10)
    #expect(try Files.read(path) == Array("0123456789".utf8))
    #expect(found?.sha256 == text("0123456789").sha256)
  }

  @Test(arguments: Kind.installed)
  func `a list has all objects of a prefix in order, whatever the size of a page`(
    _ kind: Kind
  ) async throws {
    let scene = try Scene(kind) { $0.pageObjects = 2 }
    let keys = ["a/1", "a/b/é +%", "a/b&<c>", "a/z", "ab", "b"]
    for key in keys { try await scene.store.put(key, text(key), if: .absent) }
    let all = try await scene.store.list("")
    #expect(all.map(\.key) == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
    #expect(all.map(\.size) == all.map { Int64($0.key.utf8.count) })
    #expect(try await scene.store.list("a/b").map(\.key) == ["a/b&<c>", "a/b/é +%"])
    #expect(try await scene.store.list("a/").count == 4)
    #expect(try await scene.store.list("none/").isEmpty)
    // The version of a list is the one that a removal wants.
    for object in all { try await scene.store.delete(object.key, matching: object.version) }
    #expect(try await scene.store.list("").isEmpty)
  }

  @Test(arguments: Kind.installed)
  func `of eight writers of one key one succeeds, and its content stays`(
    _ kind: Kind
  ) async throws {
    let scene = try Scene(kind)
    let winners = try await withThrowingTaskGroup(of: Int?.self) { group in
      for number in 0..<8 {
        group.addTask {
          do {
            try await scene.store.put("key", text("\(number)"), if: .absent)
            return number
          } catch let error as ObjectStoreError where error.kind == .conditionFailed {
            return nil
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
    }
    #expect(winners.count == 1)
    #expect(try await scene.read("key") == winners.first.map(String.init))
  }

  @Test(arguments: Kind.installed)
  func `eight writers that replace a version lose no write of another`(
    _ kind: Kind
  ) async throws {
    let scene = try Scene(kind)
    try await scene.store.put("count", text("0"), if: .absent)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var left = 3
          while left > 0 {
            let path = scene.scratch.file(RandomBytes.uuid())
            do {
              guard let found = try await scene.store.get("count", to: path, limit: 99) else {
                continue
              }
              let count = Int(String(decoding: try Files.read(path), as: UTF8.self)) ?? 0
              try await scene.store.put(
                "count", text("\(count + 1)"), if: .matching(found.version))
              left -= 1
            } catch let error as ObjectStoreError where error.kind == .conditionFailed {}
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await scene.read("count") == "24")
  }

  @Test(arguments: Kind.installed)
  func `a store that honours conditions passes the probe and keeps nothing of it`(
    _ kind: Kind
  ) async throws {
    let scene = try Scene(kind)
    try await scene.store.checkConditions(below: "pipeline/")
    #expect(try await scene.store.list("").isEmpty)
  }

  // MARK: S3

  @Test(.enabled(if: ForeignS3.isThere, "moto is missing: make deps-test"))
  func `a large file is written in parts, once`() async throws {
    let scene = try Scene(.s3)
    let path = scene.scratch.file("large")
    let file = try Files.createNew(path)
    let size = 200_000_000
    try Array("end".utf8).withUnsafeBytes { try file.write($0, at: size - 3) }
    let content = try ObjectContent(file: path)
    try await scene.store.put("large.zip", content, if: .absent)
    let found = try #require(try await scene.store.head("large.zip"))
    #expect((found.size, found.sha256) == (Int64(size), content.sha256))
    // The version of an object in parts is not the digest of its content.
    #expect(found.version.text.hasSuffix("-12\""))
    await scene.fails(.conditionFailed) {
      try await scene.store.put("large.zip", content, if: .absent)
    }
    let copy = scene.scratch.file("copy")
    _ = try await scene.store.get("large.zip", to: copy, limit: .max)
    #expect(try Digest.sha256Hex(file: copy) == content.sha256)
  }

  /// The signature of an address is compared with AWS's example in `RequestSignerTests`.
  @Test(arguments: [
    (nil, "https://bundles.s3.eu-central-1.amazonaws.com/prod/a%20b.zip?X-Amz-Algorithm="),
    ("https://s3.example:443/", "https://s3.example/bundles/prod/a%20b.zip?X-Amz-Algorithm="),
    ("http://127.0.0.1:80", "http://127.0.0.1/bundles/prod/a%20b.zip?X-Amz-Algorithm="),
  ])
  func `a presigned address names the bucket as its service expects`(
    _ endpoint: String?, _ start: String
  ) throws {
    var bucket = S3Location(endpoint: endpoint, region: "eu-central-1", bucket: "bundles")
    bucket.prefix = "prod"
    let store = try S3Store(bucket, S3Credentials(accessKeyID: "A", secret: Secret("s")))
    let url = try #require(store.url("GET", "a b.zip", seconds: 60))
    #expect(url.hasPrefix(start))
    #expect(url.contains("&X-Amz-Expires=60&X-Amz-SignedHeaders=host&X-Amz-Signature="))
    #expect(DirectoryStore("/srv").url("GET", "a b.zip", seconds: 60) == nil)
  }

  @Test(.enabled(if: ForeignS3.isThere, "moto is missing: make deps-test"))
  func `a wrong secret is denied, and the message has no secret`() async throws {
    let s3 = try #require(ForeignS3.shared)
    let store = try S3Store(
      S3Location(endpoint: s3.url, region: ForeignS3.region, bucket: ForeignS3.bucket),
      S3Credentials(accessKeyID: s3.accessKeyID, secret: Secret("a-wrong-secret")))
    do {
      _ = try await store.list("")
      Issue.record("it was allowed")
    } catch {
      guard case .denied(let reason) = error.kind else { throw error }
      #expect(reason.hasPrefix("SignatureDoesNotMatch"))
      #expect(!error.description.contains("a-wrong-secret"))
      #expect(!error.description.contains(s3.accessKeyID))
    }
  }

  // MARK: a directory

  @Test func `a key that leaves the directory or is hidden is refused`() async throws {
    let scene = try Scene(.directory)
    for key in ["../x", "a/../b", "", "/a", "a//b", ".a", "a/.lock-b", "a\0b"] {
      do {
        try await scene.store.put(key, text("x"), if: .absent)
        Issue.record("\(key) was written")
      } catch {
        #expect(error.kind == .invalidKey)
      }
    }
  }

  @Test func `a lock that an ended process left is removed after a while`() async throws {
    let scratch = TemporaryDirectory()
    let store = DirectoryStore(scratch.path)
    let version = try await store.put("key", text("one"), if: .absent)
    try DurableFile.write([], to: scratch.file(".lock-key"))
    let past = Clock.wallMilliseconds() - 61_000
    try Files.setModificationTime(of: scratch.file(".lock-key"), nanoseconds: past * 1_000_000)
    try await store.put("key", text("two"), if: .matching(version))
    #expect(try Files.read(scratch.file("key")) == Array("two".utf8))
    #expect(try Files.list(scratch.path) == ["key"])
  }
}
