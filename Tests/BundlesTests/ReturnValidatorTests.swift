import Crypto
import Returns
import SQLite
import SmartStore
import System
import TestSupport
import Testing

@Suite struct ReturnValidatorTests {
  private let issued: Issued
  init() throws { issued = try Issued(.ios) }

  private typealias IssuedStore = ReturnValidator.IssuedStore
  private let directory = TemporaryDirectory()

  private func validate(
    _ path: String, _ change: (inout ReturnValidator.Expectation) -> Void = { _ in }
  ) throws -> ValidatedReturn {
    var expectation = Issued.expectation()
    change(&expectation)
    return try Issued.validate(path, expectation, in: directory)
  }

  /// A copy of an issued store with an edit, in the file or only in its log.
  private func edited(_ issued: Issued, inLog: Bool) throws -> String {
    let device = try Connection(issued.storePath)
    if inLog { try device.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") }
    try device.execute(
      "UPDATE TABLE_1 SET soup = json_set(soup, '$.Name', 'from the device') WHERE id = 1")
    let copy = directory.file("edited.db")
    try Files.copy(issued.storePath, to: copy)
    if inLog { try Files.copy(issued.storePath + "-wal", to: copy + "-wal") }
    device.close()
    return copy
  }

  @Test func `a store in a bundle with an edit is not untouched`() throws {
    let file = try edited(issued, inLog: false)
    let validated = try validate(try issued.returned(in: directory, [(issued.entry.path, file)]))
    #expect(!validated.stores[0].isUntouched)
  }

  @Test func `an unchanged store with a log is not untouched`() throws {
    var issued = try Issued(.ios)
    let file = try edited(issued, inLog: true)
    let bytes = try Files.read(file)
    issued.manifest.stores[0].bytes = Int64(bytes.count)
    issued.manifest.stores[0].sha256 = Digest.sha256Hex(bytes)
    let path = issued.entry.path
    let validated = try validate(
      try issued.returned(in: directory, [(path, file), (path + "-wal", file + "-wal")]))
    #expect(!validated.stores[0].isUntouched)
  }

  @Test func `a manifest whose stamp differs from its store's is rejected`() throws {
    var issued = try Issued(.ios)
    let other = Issued.stamp(.ios, generation: 4).stampID
    issued.manifest.stampID = other
    issued.manifest.stores[0].stampID = other
    let path = try issued.returned(in: directory, [(issued.entry.path, issued.storePath)])
    let refusal = #expect(throws: Refusal.self) { _ = try validate(path) }
    #expect(refusal?.code == .contradiction)
  }

  @Test func `a bare store is assigned to the store that shares most soups with it`() throws {
    let most = IssuedStore(scope: .user, storeName: "most", soups: Issued.soups)
    let some = IssuedStore(scope: .user, storeName: "some", soups: [Issued.soups[0]])
    let none = IssuedStore(
      scope: .user, storeName: "none", soups: [.init(soupName: "other", indexes: [])])
    for stores in [[some, none, most], [most, some, none], [none, most, some]] {
      try Files.remove(directory.file("root"))
      let validated = try validate(issued.storePath) { $0.stores = stores }
      #expect(validated.stores.map(\.storeName) == ["most"])
    }
    try Files.remove(directory.file("root"))
    let refusal = #expect(throws: Refusal.self) {
      _ = try validate(issued.storePath) { $0.stores = [none] }
    }
    #expect(refusal?.code == .contradiction)
  }

  @Test func `of stores with more soups, a bare store is the one of which it lacks none`() throws {
    let more = IssuedStore(
      scope: .user, storeName: "more",
      soups: Issued.soups + [.init(soupName: "other", indexes: [])])
    let whole = IssuedStore(scope: .user, storeName: "whole", soups: [Issued.soups[0]])
    let validated = try validate(issued.storePath) { $0.stores = [more, whole] }
    #expect(validated.stores.map(\.storeName) == ["whole"])
  }

  @Test func `an ambiguous bare store is rejected`() throws {
    let stores = ["one", "two"].map {
      IssuedStore(scope: .user, storeName: $0, soups: Issued.soups)
    }
    let refusal = #expect(throws: Refusal.self) {
      _ = try validate(issued.storePath) { $0.stores = stores }
    }
    #expect(refusal?.code == .contradiction)
    #expect(refusal?.sentence.contains("one, two") == true)
  }

  @Test func `a bare store larger than the pipeline accepts is rejected`() throws {
    let bytes = try Files.size(of: issued.storePath)
    #expect(try validate(issued.storePath) { $0.fileBytes = bytes }.stores.count == 1)
    try Files.remove(directory.file("root"))
    let refusal = #expect(throws: Refusal.self) {
      _ = try validate(issued.storePath) { $0.fileBytes = bytes - 1 }
    }
    #expect(refusal?.code == .tooLarge)
  }

  @Test func `a bundle larger than two stores is rejected, regardless of its content`() throws {
    var issued = try Issued(.ios)
    let path = issued.entry.path
    let other = StoreLocation(.ios, storeName: "other", user: Issued.owner).path
    issued.manifest.stores.append(issued.entry)
    (issued.manifest.stores[1].path, issued.manifest.stores[1].storeName) = (other, "other")
    // Ignored: as large as a store may be, with bytes that do not compress.
    let companion = directory.file("companion")
    var draw: UInt64 = 7
    let bytes = (0..<issued.entry.bytes).map { _ in
      draw = draw &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: draw >> 33)
    }
    try DurableFile.write(bytes, to: companion)
    let archive = try issued.returned(
      in: directory, [path, other].flatMap { [($0, issued.storePath), ($0 + "-shm", companion)] })
    func stores(_ fileBytes: Int64) throws -> Int {
      try Files.remove(directory.file("root"))
      return try validate(archive) { $0.fileBytes = fileBytes }.stores.count
    }
    #expect(try stores((Files.size(of: archive) + 1) / 2) == 2)
    let refusal = #expect(throws: Refusal.self) { _ = try stores(issued.entry.bytes) }
    #expect(refusal?.code == .tooLarge)
  }

  @Test(arguments: [false, true])
  func `the taken file is kept, and read in place if there is no log`(hasLog: Bool) throws {
    let issued = try Issued(.android)
    let file = try edited(issued, inLog: hasLog)
    let validated = try validate(file)
    let taken = try #require(
      TakenReturn(directory: directory.file("root/processing/\(validated.sha256)")))
    let own = try Files.status(taken.path)
    #expect(try (Files.status(validated.stores[0].path).inode == own.inode) == !hasLog)
    let store = try Store(untrusted: validated.stores[0].path, proof: validated.stores[0].proof)
    #expect(store.proof == validated.stores[0].proof && store.proof != nil)
    #expect(try store.retrieve([1], from: "accounts").first?.contains("from the device") == true)
    try store.close()
    for suffix in hasLog ? ["", "-wal"] : [""] {
      #expect(try Files.read(taken.path + suffix) == Files.read(file + suffix))
    }
    #expect(try Files.list(taken.directory).count == (hasLog ? 3 : 2))
    try Files.remove(taken.directory + "-work")
    #expect(try Files.status(taken.path).modifiedNanoseconds == own.modifiedNanoseconds)
  }

  @Test(arguments: [".hidden", ".return.json", String(repeating: "n", count: 255)])
  func `a store with an unusual name is read like any other`(name: String) throws {
    let file = try edited(issued, inLog: name.hasPrefix("."))
    let path = directory.file(name)
    for suffix in ["", "-wal"] where Files.exists(file + suffix) {
      try Files.rename(file + suffix, to: path + suffix)
    }
    let validated = try validate(path)
    #expect(validated.sourceName == name)
    let store = try Store(untrusted: validated.stores[0].path)
    #expect(try store.retrieve([1], from: "accounts").first?.contains("from the device") == true)
    try store.close()
  }
}
