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

  enum Region: CaseIterable { case header, schema, pages, json, cut }

  func damage(_ bytes: [UInt8], _ region: Region, _ random: inout SplitMix) -> [UInt8] {
    var bytes = bytes
    let range: Range<Int>
    switch region {
    case .header: range = 16..<100
    case .schema: range = 100..<4096
    case .pages: range = 4096..<bytes.count
    case .cut:
      bytes.removeLast(Int.random(in: 1..<bytes.count, using: &random))
      return bytes
    case .json:
      let braces = bytes.indices.filter { bytes[$0] == UInt8(ascii: "\"") }
      guard let place = braces.randomElement(using: &random) else { return bytes }
      bytes[place] = UInt8.random(in: 0...255, using: &random)
      return bytes
    }
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      bytes[Int.random(in: range, using: &random)] = UInt8.random(in: 0...255, using: &random)
    }
    return bytes
  }

  /// Reads all that ingesting reads.
  func readAll(_ path: String) throws {
    let store = try Store(untrusted: path, heapLimitMiB: 64, deadlineSeconds: 5)
    for soup in try store.soupNames() {
      try store.forEachElement(in: soup, paths: ["Id", "n"], .dirty) { _ = $0.text(0) }
      try store.forEachElement(in: soup, paths: ["t"]) { _ = $0.text(0) }
      _ = try store.values(of: "Id", in: soup)
      _ = try store.query(
        QuerySpec(smartSQL: "select {s:_soup} from {s} where {s:j} > 3", pageSize: 100))
    }
  }

  @Test(arguments: Region.allCases)
  func `a damaged file answers or is refused`(_ region: Region) throws {
    let seed: UInt64 = 20_240_601
    var random = SplitMix(state: seed)
    let test = try sound(region == .json ? .ios : .android)
    let original = try read(test.store.path)
    let path = test.directory.file("fuzzed.sqlite")
    var refused = 0
    for _ in 0..<60 {
      let bytes = damage(original, region, &random)
      try Data(bytes).write(to: URL(filePath: path))
      do {
        try readAll(path)
      } catch let error as StoreError {
        refused += 1
        #expect(!error.description.isEmpty)
      }
      do throws(StoreError) { _ = try StoreCheck().violations(at: path) } catch {}
      #expect(try read(path) == bytes, "the file was written")
      #expect(try FileManager.default.contentsOfDirectory(atPath: test.directory.path).count == 2)
    }
    #expect(refused > 0, "seed \(seed)")
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
