import JSON
import Testing

@Suite struct JSONSpliceTests {
  private func cut(_ text: String, _ path: String = "b") throws -> String {
    let bytes = Array(text.utf8)
    let scanner = RecordScanner(paths: [path])
    var spans = [JSONSpan.missing]
    try bytes.withUnsafeBytes { bytes in
      try spans.withUnsafeMutableBufferPointer { try scanner.scan(record: bytes, into: $0) }
    }
    return try bytes.withUnsafeBytes { bytes in
      var rest = Array(bytes)
      rest.removeSubrange(JSONSplice.member(of: try #require(spans.first), in: bytes))
      return String(decoding: rest, as: UTF8.self)
    }
  }

  @Test(arguments: [
    (#"{"a":1,"b":2,"c":3}"#, #"{"a":1,"c":3}"#), (#"{"b":{"x":[1,2]},"c":3}"#, #"{"c":3}"#),
    (#"{"a":1,"b":null}"#, #"{"a":1}"#), (#"{"b":"text"}"#, #"{}"#),
    (#"{ "a" : 1 , "b" : "te\"xt" }"#, #"{ "a" : 1  }"#),
    (#"{ "a" : 1 , "b" : true , "c":"" }"#, #"{ "a" : 1 ,  "c":"" }"#),
  ])
  func `a member is removed from its object with one comma`(text: String, rest: String) throws {
    let result = try cut(text)
    #expect(result == rest)
    #expect(throws: Never.self) { try JSONValue(parsing: result) }
  }

  @Test func `an escaped quote in a name is part of the name`() throws {
    #expect(try cut(#"{"a":1,"q\"b":[2]}"#, #"q"b"#) == #"{"a":1}"#)
  }

  @Test func `the whole range of a string includes its quotes`() throws {
    #expect(JSONSplice.whole(JSONSpan(3, 5, .string)) == 2..<6)
    #expect(JSONSplice.whole(JSONSpan(3, 5, .number)) == 3..<5)
  }
}
