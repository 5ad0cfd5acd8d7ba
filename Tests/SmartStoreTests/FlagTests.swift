import JSON
import SmartStore
import Testing

@Suite struct FlagTests {
  static let spellings: [(flag: String, ios: Bool, android: Bool)] = [
    ("true", true, true), ("false", false, false), ("null", false, false), (#""true""#, true, true),
    (#""TRUE""#, true, true), (#""True""#, true, true), (#""tru""#, true, false),
    (#""true ""#, true, false), (#"" true""#, true, false), (#""false""#, false, false),
    (#""""#, false, false), (#""t\u0072ue""#, true, true), ("1", true, false), ("0", false, false),
    ("-1", true, false), ("2", true, false), ("0.5", true, false), ("0.0", false, false),
    ("-0", false, false), ("1e0", true, false), (#""1""#, true, false), (#""0""#, false, false),
    (#""001""#, true, false), (#""+1""#, true, false), (#""-7""#, true, false),
    (#""--7""#, false, false), (#""0.5""#, false, false), (#""YES""#, true, false),
    (#""yes""#, true, false), (#""Y""#, true, false), (#""NO""#, false, false),
    (#""0Y""#, false, false), (#""\t 9 lives""#, true, false), (#""on""#, false, false),
    ("[true]", false, false), (#"{"a":true}"#, false, false),
  ]

  @Test(arguments: spellings) func `a flag is set if the platform's SDK considers it set`(
    _ flag: String, _ ios: Bool, _ android: Bool
  ) throws {
    let element = Array(#"{"__local__":\#(flag)}"#.utf8)
    let value = try JSONValue(parsing: element)[SyncField.local]
    for (platform, expected) in [(Platform.ios, ios), (.android, android)] {
      #expect(platform.isSet(value) == expected)
      var spans = [JSONSpan.missing]
      try element.withUnsafeBytes { bytes in
        try spans.withUnsafeMutableBufferPointer {
          try RecordScanner(paths: [SyncField.local]).scan(record: bytes, into: $0)
        }
        #expect(platform.isSet(spans[0], in: bytes) == expected)
      }
    }
  }

  @Test(arguments: Platform.allCases, [IndexType.string, .json1, nil])
  func `the changed rows are those with a set flag, whatever its index`(
    _ platform: Platform, _ type: IndexType?
  ) throws {
    let test = try TestStore(platform)
    let store = test.store
    var specs = [IndexSpec(path: "Id", type: .string)]
    if let type { specs.append(IndexSpec(path: SyncField.local, type: type)) }
    try store.registerSoup("s", indexSpecs: specs)
    for (number, one) in Self.spellings.enumerated() {
      try store.upsert([#"{"Id":"\#(number)","__local__":\#(one.flag)}"#], into: "s")
    }
    try store.upsert([#"{"Id":"none"}"#], into: "s")
    let expected = Self.spellings.indices.filter {
      platform == .ios ? Self.spellings[$0].ios : Self.spellings[$0].android
    }
    #expect(try Set(store.values(of: "Id", in: "s", .dirty)) == Set(expected.map(String.init)))
    #expect(try store.count(of: "s", .dirty) == expected.count)
    // An element that is removed as a ghost is certainly clean.
    let clean = try store.values(of: "Id", in: "s", .clean()).compactMap { Int($0) }
    #expect(!clean.isEmpty && Set(clean).isDisjoint(with: expected))
    guard type == .string else { return }
    // An alterSoup that does not index the elements again leaves the column empty.
    try store.connection.execute("UPDATE TABLE_1 SET TABLE_1_1 = NULL WHERE id % 2 = 0")
    #expect(try Set(store.values(of: "Id", in: "s", .dirty)) == Set(expected.map(String.init)))
  }
}
