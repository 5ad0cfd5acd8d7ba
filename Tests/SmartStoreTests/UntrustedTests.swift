import Foundation
import JSON
import SQLite
import TestSupport
import Testing

@testable import SmartStore

/// Numbers that are the same in every run.
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

  /// A small store with pages of every kind, overflow pages too.
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

  @Test func `a schema that runs code is refused by name`() throws {
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
      #expect(error?.description.contains("is no SmartStore: \(name)") == true)
    }
  }
}
