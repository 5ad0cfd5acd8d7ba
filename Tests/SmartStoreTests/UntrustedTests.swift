import Foundation
import SQLite
import SmartStore
import System
import Testing

struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}

@Suite struct UntrustedTests {
  let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "n", type: .integer),
    IndexSpec(path: "t", type: .fullText), IndexSpec(path: "j", type: .json1),
    IndexSpec(path: "__local__", type: .string),
  ]

  /// A small store with pages of every type, including overflow pages.
  func sound(_ platform: Platform) throws -> TestStore {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: specs)
    let elements = (0..<60).map { index in
      let long = String(repeating: "long ", count: index % 20 == 0 ? 3000 : 20)
      return "{\"Id\":\"a\(index)\",\"n\":\(index),\"t\":\"word\(index) \(long)\",\"j\":\(index),"
        + "\"__local__\":\(index % 7 == 0)}"
    }
    try test.store.upsert(elements, into: "s")
    try test.store.close()
    return test
  }

  @Test func `a schema that executes code is rejected by name`() throws {
    for (sql, name) in [
      ("CREATE VIEW v AS SELECT 1", "v"),
      ("CREATE TRIGGER g AFTER INSERT ON TABLE_1 BEGIN SELECT 1; END", "g"),
      ("CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "r"),
      ("CREATE TABLE c (a CHECK (abs(a) > 0))", "c"),
    ] {
      let test = try sound(.ios)
      let connection = try Connection(test.store.path)
      try connection.execute(sql)
      connection.close()
      let error = #expect(throws: StoreError.self) { try Store(untrusted: test.store.path) }
      #expect(error?.description.contains("is not a SmartStore: \(name)") == true)
    }
  }

  @Test func `a file that was found sound is not checked again unless it has changed`() throws {
    let test = try sound(.ios)
    let path = test.store.path
    let first = try Store(untrusted: path)
    let proof = try #require(first.proof)
    try first.close()
    let again = try Store(untrusted: path, proof: proof)
    #expect(again.proof == proof)
    try again.close()
    // The page of an index is overwritten with the same number of bytes and the same time.
    let connection = try Connection(path)
    let page = try connection.integer(
      "SELECT rootpage FROM sqlite_schema WHERE name = 'TABLE_1_0_idx'")
    connection.close()
    let file = try FileDescriptorHandle.updating(path)
    try [UInt8](repeating: 0, count: 16).withUnsafeBytes {
      try file.write($0, at: (Int(try #require(page)) - 1) * 4096)
    }
    try Files.setModificationTime(of: path, nanoseconds: proof.modifiedNanoseconds)
    let error = #expect(throws: StoreError.self) { try Store(untrusted: path, proof: proof) }
    #expect(error?.description.contains("damaged") == true)
    #expect(throws: StoreError.self) { try Store(untrusted: path) }
    // It is not checked again if the proof is that of the same file.
    try Store(untrusted: test.store.path, proof: Files.status(path)).close()
  }
}
