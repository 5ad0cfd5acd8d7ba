import JSON
import Testing

@Suite struct JSONValueTests {
  @Test(arguments: [
    "null", "true", "false", "0", "-0", "1.50", "1E+400", "12345678901234567890", #""""#,
    #""a\"b\\c""#,
    "[]", "[1,[2,[3]]]", "{}", #"{"b":1,"a":{"c":[null,true]}}"#, "\"żółć 😀\"", #""\u0000\u001f""#,
  ])
  func `a compact text is written back unchanged`(text: String) throws {
    #expect(try JSONValue(parsing: text).text == text)
  }

  @Test(arguments: [
    "", " ", "nul", "tru", "True", "01", "1.", ".5", "-", "1e", "+1", "NaN", #"""#, #""a"#,
    #""\u12"#, #""\u12g4""#,
    #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800x""#, "\"\n\"", "[", "[1", "[1,",
    "[1,]", "[,1]", "{", #"{"a""#,
    #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"{"a":1,}"#, "{a:1}", "{'a':1}", "1 2", "[] []",
    "\u{FEFF}1", "[1 2]", #"{"a" 1}"#,
    "// c\n1",
  ])
  func `invalid JSON is rejected`(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
  }

  @Test(
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xC3, 0x22],
      [0x22, 0xED, 0xA0, 0x80, 0x22],
      [0x22, 0xE0, 0x80, 0x80, 0x22], [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xF8, 0x22],
      [0x22, 0xE2, 0x82, 0x22],
    ] as [[UInt8]])
  func `invalid UTF-8 is rejected`(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
  }

  @Test func `escapes are decoded`() throws {
    let value = try JSONValue(parsing: #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#)
    #expect(value == "\"\\/\u{8}\u{c}\n\r\té😀")
  }

  @Test func `sixty-four levels are the limit`() throws {
    let fits = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
    #expect(try JSONValue(parsing: fits).array?.count == 1)
    let error = #expect(throws: JSONError.self) { try JSONValue(parsing: "[" + fits + "]") }
    #expect(error?.message == "values are nested deeper than 64 levels")
    #expect(throws: JSONError.self) {
      try JSONValue(parsing: String(repeating: "[", count: 1_000_000))
    }
  }

  @Test func `for equal names the last value is kept at the first position`() throws {
    #expect(try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#).text == #"{"a":3,"b":2}"#)
  }

  @Test func `numbers keep their literal and convert to integers and doubles`() {
    #expect(JSONValue.number("1e3").int == 1000)
    #expect(JSONValue.number("9007199254740993").int == 9_007_199_254_740_993)
    #expect(JSONValue.number("1.5").int == nil)
    #expect(JSONValue.number("1.5").double == 1.5)
    #expect(JSONValue("1").int == nil)
  }

  @Test func `nil never means null`() {
    #expect((JSONValue.self as Any.Type) as? any ExpressibleByNilLiteral.Type == nil)
  }

  @Test func `equality ignores the order of members`() {
    let left: JSONValue = ["a": 1, "b": [true, .null]]
    let right: JSONValue = ["b": [true, .null], "a": 1]
    #expect(left == right)
    #expect(left.hashValue == right.hashValue)
    #expect(left != ["a": 1, "c": [true, .null]])
  }

  @Test func `a large object finds, replaces and removes its members`() {
    var object = JSONObject()
    for number in 0..<100 { object["n\(number)"] = JSONValue(number) }
    object["n50"] = "changed"
    object["n10"] = nil
    #expect(object.count == 99)
    #expect(object["n10"] == nil)
    #expect(object["n50"] == "changed")
    #expect(object["n99"] == 99)
    #expect(object.names[10] == "n11")
    object["n10"] = "back"
    #expect(object.names.last == "n10")
    #expect(object["n10"] == "back")
  }

  @Test func `a pretty text is indented and may be sorted`() {
    let value: JSONValue = ["b": [1, ["c": []]], "a": [:]]
    let text = String(decoding: value.bytes(pretty: true, sortedKeys: true), as: UTF8.self)
    #expect(
      text == """
        {
          "a": {},
          "b": [
            1,
            {
              "c": []
            }
          ]
        }

        """)
  }

  @Test(arguments: ["text\n", "", 1, [], ["a": "\n\n"]] as [JSONValue])
  func `a file ends with one line break`(_ value: JSONValue) throws {
    let bytes = value.fileBytes
    #expect(bytes.last == 0x0A && bytes.dropLast().last != 0x0A)
    #expect(try JSONValue(parsing: bytes) == value)
  }

  @Test func `the writer inserts the commas`() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name("a")
    writer.beginArray()
    writer.number(1)
    writer.beginObject()
    writer.endObject()
    writer.null()
    writer.endArray()
    writer.name("b\n")
    writer.raw(Array("[1]".utf8))
    writer.name("c")
    writer.number(1.5)
    writer.name("d")
    writer.number(.infinity)
    writer.endObject()
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == #"{"a":[1,{},null],"b\n":[1],"c":1.5,"d":null}"#)
  }
}
