import JSON
import TestSupport
import Testing

@Suite struct JSONNodeTests {
  @Test func `every value has its line, its column in characters and its path`() throws {
    let text = "\u{FEFF}{\r\n  \"é\": [1, {\"b c\": \"x\"}],\n\t\"żółć\": null, \"z\": true\n}\n"
    let node = try JSONNode.parse(Array(text.utf8))
    #expect((node.line, node.column, node.path) == (1, 1, ""))
    let first = try #require(node["é"]?.array?[1]["b c"])
    #expect((first.line, first.column, first.path) == (2, 20, "é[1][\"b c\"]"))
    let last = try #require(node.members?.last)
    #expect((last.nameLine, last.nameColumn) == (3, 16))
    #expect((last.value.line, last.value.column, last.value.path) == (3, 21, "z"))
    // A letter with a combining mark is one character.
    #expect(try JSONNode.parse(Array("{\"n\u{303}\": 1}".utf8)).members?.first?.value.column == 7)
  }

  @Test(arguments: [UInt64.random(in: 0...UInt64.max), 11])
  func `a text without faults is one that the strict parser accepts`(seed: UInt64) {
    var generator = Generator(random: HistoryRandom(seed))
    for round in 0..<800 {
      var text = Array(generator.value().utf8)
      if round % 2 == 1, !text.isEmpty {
        text[Int.random(in: 0..<text.count, using: &generator.random)] ^=
          1 << UInt8.random(in: 0..<8, using: &generator.random)
      }
      let strict = try? JSONValue(parsing: text)
      let read = JSONNode.read(text)
      let note: Comment = "seed \(seed): \(String(decoding: text, as: UTF8.self))"
      if strict == nil { #expect(!read.faults.isEmpty, note) }
      // Duplicate names are a fault in configuration, not in JSON.
      let others = read.faults.filter { !$0.message.hasSuffix("appears twice in one object") }
      if let strict, others.count == read.faults.count {
        #expect(others.isEmpty, note)
        #expect(read.node?.value == strict, note)
      }
    }
  }

  @Test func `a text that is not JSON at all gives a bounded list of faults`() {
    let prose = String(repeating: "It was a bright cold day in April; ", count: 2000)
    #expect((1...100).contains(JSONNode.read(Array(prose.utf8)).faults.count))
    let commas = "[" + String(repeating: "1 // x\n,", count: 5000) + "1]"
    #expect(JSONNode.read(Array(commas.utf8)).faults.count == 100)
  }

  @Test(arguments: [
    ("{“a”: “b”}", "{\"a\":\"b\"}"), ("{'a': 'b',}", "{\"a\":\"b\"}"),
    ("{a: b}", "{\"a\":\"b\"}"), ("{\"a\": \"x\n  y\"}", "{\"a\":\"x y\"}"),
    ("{\"a\": \"x,\n\"b\": 1}", "{\"a\":\"x\",\"b\":1}"), ("{“a: “b”}", "{\"a\":\"b\"}"),
    ("{\"a\": \"b”}", "{\"a\":\"b\"}"), ("{\"a\" = 1; \"b\": 2}", "{\"a\":1,\"b\":2}"),
    ("[1 /* one */, 2] # end", "[1,2]"), ("{\"a\": \"say “hi”\"}", "{\"a\":\"say “hi”\"}"),
    ("[None, TRUE, 01]", "[\"None\",true,0]"),
  ])
  func `common mistakes are read as they were meant`(text: String, meant: String) throws {
    #expect(try #require(JSONNode.read(Array(text.utf8)).node).value.text == meant)
  }
}
