import JSON
import TestSupport
import Testing

@Suite struct RecordScannerTests {
  static let paths = [
    "Id", "Name", "Account.Name", "Account.Account.Id", "attributes.type", "Owner", "Owner.Name",
    "", "LastModifiedDate", "Contacts__r.Name", "Name.Name", "Missing", "Id",
  ]

  /// The value of a span, as a caller on the hot path would read it.
  static func value(
    _ span: JSONSpan, _ path: String, _ text: [UInt8], record: Range<Int>
  ) throws -> JSONValue? {
    try text.withUnsafeBytes { bytes -> JSONValue? in
      let raw = UnsafeRawBufferPointer(rebasing: bytes[span.range])
      switch span.kind {
      case .missing: return nil
      case .string: return .string(String(decoding: raw, as: UTF8.self))
      case .escapedString:
        var plain: [UInt8] = []
        try JSONText.unescape(raw, into: &plain)
        return .string(String(decoding: plain, as: UTF8.self))
      case .array:
        let whole = try JSONValue(parsing: Array(text[record]))
        return JSONProjection.project(path, from: whole)
      case .null, .false, .true, .number, .object: return try JSONValue(parsing: Array(raw))
      }
    }
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 1, 2, 3])
  func `the scanner agrees with the tree on generated pages`(seed: UInt64) throws {
    var generator = Generator(random: HistoryRandom(seed))
    let scanner = RecordScanner(paths: Self.paths)
    for _ in 0..<400 {
      let text = Array(generator.page().utf8)
      let tree = try JSONValue(parsing: text)
      let records = try #require(tree["records"]?.array)
      let expected = records.filter { !$0.isNull }
      var seen = 0
      let page = try text.withUnsafeBytes { bytes in
        try scanner.scan(bytes, in: .member("records")) { index, range, fields in
          #expect(index == seen)
          seen += 1
          #expect(try JSONValue(parsing: Array(text[range])) == expected[index])
          for (path, span) in zip(Self.paths, fields) {
            let found = try Self.value(span, path, text, record: range)
            #expect(
              found == JSONProjection.project(path, from: expected[index]),
              "seed \(seed): \(path) in \(String(decoding: text[range], as: UTF8.self))")
          }
        }
      }
      #expect(page.records == expected.count)
      #expect(page.nulls == records.count - expected.count)
      #expect(page.end <= text.count)
    }
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 4])
  func `a page cut anywhere is an error with a position, never read beyond its end`(seed: UInt64) {
    var generator = Generator(random: HistoryRandom(seed))
    let scanner = RecordScanner(paths: Self.paths)
    for _ in 0..<20 {
      let text = Array(generator.page().utf8)
      let last = (text.lastIndex(of: UInt8(ascii: "}")) ?? 0) + 1
      for length in 0..<last {
        // A separate buffer of exactly this length, so that the sanitizer detects an over-read.
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 1)
        defer { piece.deallocate() }
        piece.copyBytes(from: text[0..<length])
        let bytes = UnsafeRawBufferPointer(piece)
        #expect(throws: JSONError.self, "seed \(seed), cut at \(length)") {
          try scanner.scan(bytes, in: .member("records")) { _, _, _ in }
        }
        #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
      }
    }
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 5])
  func `with flipped bits, the scanner and the tree reject the same pages`(seed: UInt64) {
    var generator = Generator(random: HistoryRandom(seed))
    let scanner = RecordScanner(paths: Self.paths)
    for _ in 0..<1500 {
      var text = Array(generator.page().utf8)
      for _ in 0..<Int.random(in: 1...2, using: &generator.random) {
        text[Int.random(in: 0..<text.count, using: &generator.random)] ^=
          1 << UInt8.random(in: 0..<8, using: &generator.random)
      }
      let tree = try? JSONValue(parsing: text)
      let accepted = text.withUnsafeBytes { bytes in
        (try? scanner.scan(bytes, in: .member("records")) { _, _, _ in }) != nil
      }
      // The scanner also requires records there, so it may reject valid JSON that is not a page.
      let isPage =
        tree?["records"]?.array.map { $0.allSatisfy { $0.isNull || $0.object != nil } } ?? false
      let text1 = String(decoding: text, as: UTF8.self)
      if accepted { #expect(tree != nil, "seed \(seed): \(text1)") }
      if isPage, !text1.contains("\"records\":[{\"records\"") {
        #expect(accepted, "seed \(seed): \(text1)")
      }
    }
  }

  func spans(_ paths: [String], _ record: String) throws -> [String?] {
    let text = Array(record.utf8)
    var spans = [JSONSpan](repeating: .missing, count: paths.count)
    try text.withUnsafeBytes { bytes in
      try spans.withUnsafeMutableBufferPointer {
        try RecordScanner(paths: paths).scan(record: bytes, into: $0)
      }
    }
    return spans.map { $0.kind == .missing ? nil : String(decoding: text[$0.range], as: UTF8.self) }
  }

  @Test func `nested objects may have members with the same names`() throws {
    let found = try spans(
      ["Id", "Owner.Id", "Owner.Owner.Id"], #"{"Owner":{"Id":"2","Owner":{"Id":"3"}},"Id":"1"}"#)
    #expect(found == ["1", "2", "3"])
  }

  @Test func `for repeated members the last one counts with everything below it`() throws {
    let found = try spans(
      ["Id", "Owner.Id", "Owner"], #"{"Id":1,"Owner":{"Id":"2"},"Id":3,"Owner":null}"#)
    #expect(found == ["3", nil, "null"])
  }

  @Test func `a collection retrieve counts unreadable rows`() throws {
    let text = Array(#"[null,{"Id":"1"}, null ,{}]"#.utf8)
    var ids: [Int] = []
    let page = try text.withUnsafeBytes {
      try RecordScanner(paths: ["Id"]).scan($0, in: .array) { index, _, _ in ids.append(index) }
    }
    #expect(page.records == 2)
    #expect(page.nulls == 2)
    #expect(page.end == text.count)
    #expect(ids == [0, 1])
  }

  struct Stop: Error {}

  @Test func `an error of the caller is rethrown unchanged`() {
    let text = Array(#"{"records":[{}]}"#.utf8)
    #expect(throws: Stop.self) {
      try text.withUnsafeBytes {
        try RecordScanner(paths: []).scan($0, in: .member("records")) { _, _, _ in throw Stop() }
      }
    }
  }

  @Test(arguments: [
    "": "line 1, column 1: the text ends in the middle of a value",
    "[]": "line 1, column 1: an object is expected here",
    "{}": "line 1, column 2: the member with the records is missing",
    #"{"a":1}"#: "line 1, column 8: the member with the records is missing",
    #"{"records":{}}"#: "line 1, column 12: an array is expected here",
    "{\"records\":[\n 1]}": "line 2, column 2: a record (an object) or null is expected here",
    #"{"records":[],"records":[]}"#: "line 1, column 15: the member with the records appears twice",
    #"{"records":[]} x"#: "line 1, column 16: data follows the end of the value",
    #"{"records":[{"a":"\x"}]}"#: "line 1, column 19: this escape sequence does not exist in JSON",
  ])
  func `an invalid page is rejected with its position`(text: String, expected: String) {
    let error = #expect(throws: JSONError.self) {
      try Array(text.utf8).withUnsafeBytes {
        try RecordScanner(paths: ["a"]).scan($0, in: .member("records")) { _, _, _ in }
      }
    }
    #expect(error?.description == expected)
  }
}
