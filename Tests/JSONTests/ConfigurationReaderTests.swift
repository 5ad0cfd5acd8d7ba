import JSON
import Testing

@Suite struct ConfigurationReaderTests {
  enum Colour: String, CaseIterable { case red, green }

  private func read<T>(
    _ text: String, isLenient: Bool = false, _ body: (ConfigurationObject) -> T
  ) throws -> (value: T?, said: [String]) {
    let reader = ConfigurationReader(file: "f", isLenient: isLenient)
    let node = try #require(reader.parse(Array(text.utf8)))
    let object = reader.object(node, known: ["count", "name", "names", "on", "colour"], what: "it")
    let value = object.map(body)
    return (value, reader.sorted.map(\.description))
  }

  @Test func `values of the right type are read, and absent ones get their defaults`() throws {
    let (value, said) = try read(#"{"count": 3, "name": "x", "on": false, "colour": "green"}"#) {
      [
        "\($0.int("count", default: 1))", $0.text("name") ?? "-", "\($0.bool("on", default: true))",
        "\($0.word("colour", "a colour", default: Colour.red))",
        "\($0.strings("names") ?? ["none"])",
      ]
    }
    #expect(value == ["3", "x", "false", "green", #"["none"]"#])
    #expect(said == [])
  }

  @Test func `an explicit null is absent`() throws {
    let (value, said) = try read(#"{"count": null, "name": null}"#) {
      ($0.int("count", default: 7), $0.text("name"), $0.required("name", "\"x\"") == nil)
    }
    #expect(value?.0 == 7)
    #expect(value?.1 == nil)
    #expect(said == [#"f:1:25: name: it needs "name"; add "name": "x""#])
  }

  @Test(arguments: [
    #"{"count": "3"}"#:
      "1:11: count: this must be a whole number, not a string; write 3 without quotes",
    #"{"count": true}"#:
      "1:11: count: this must be a whole number, not true or false; write a number without quotes, such as 60",
    #"{"count": 2.5}"#:
      "1:11: count: 2.5 is out of range; write a whole number of at least 1 and at most 9",
    #"{"count": 10}"#:
      "1:11: count: 10 is out of range; write a whole number of at least 1 and at most 9",
    #"{"count": 1e400}"#:
      "1:11: count: 1e400 is out of range; write a whole number of at least 1 and at most 9",
    #"{"name": 5}"#: "1:10: name: this must be a string, not a number; write it in quotes: \"5\"",
    #"{"name": ""}"#: "1:10: name: it needs a \"name\" that is not empty; write \"name\": \"…\"",
    #"{"name": []}"#: "1:10: name: this must be a string, not an array; write a text in quotes",
    #"{"names": "a, b"}"#:
      "1:11: names: this must be an array of strings, not a string; write [\"a\",\"b\"]",
    #"{"names": [1]}"#:
      "1:12: names[0]: this must be a string, not a number; write it in quotes: \"1\"",
    #"{"on": "TRUE"}"#:
      "1:8: on: this must be true or false, not a string; write true without quotes",
    #"{"on": 1}"#: "1:8: on: this must be true or false, not a number; write true or false",
    #"{"colour": "gren"}"#:
      "1:12: colour: \"gren\" is not a colour; did you mean \"green\"? It is one of \"red\", \"green\"",
    #"{"colour": "blue"}"#:
      "1:12: colour: \"blue\" is not a colour; write one of \"red\", \"green\"",
  ])
  func `a wrong value is reported with place, type and fix`(text: String, expected: String) throws {
    let (_, said) = try read(text) { object in
      _ = object.int("count", default: 1, in: 1...9)
      _ = object.text("name")
      _ = object.strings("names")
      _ = object.bool("on", default: true)
      _ = object.word("colour", "a colour", default: Colour.red)
    }
    #expect(said == ["f:" + expected])
  }

  @Test func `a misspelled key is reported, and its value is validated too`() throws {
    let (value, said) = try read(#"{"cuont": "x"}"#) { $0.int("count", default: 1) }
    #expect(value == 1)
    #expect(
      said == [
        #"f:1:2: cuont: it has no key "cuont"; did you mean "count"?"#,
        "f:1:11: cuont: this must be a whole number, not a string; write a number without quotes, such as 60",
      ])
  }

  @Test func `a lenient reader ignores unknown keys`() throws {
    let (value, said) = try read(#"{"zzz": 1, "count": 2}"#, isLenient: true) {
      $0.int("count", default: 1)
    }
    #expect(value == 2)
    #expect(said == [])
  }

  @Test(
    arguments: [
      (#"{"names": {"a": 1}}"#, 1), (#"{"names": {}}"#, nil),
      (#"{"names": {"b": {"a": 1}, "c": {}}}"#, nil),
    ] as [(String, Int?)])
  func `a single element without brackets is reported, and read anyway`(
    _ text: String, _ count: Int?
  ) throws {
    let (value, said) = try read(text) { $0.elements("names")?.count }
    #expect(value == count)
    #expect(
      said == ["f:1:11: names: this must be an array, not an object; put it in brackets: [ … ]"])
  }

  @Test func `a value that is not an object is reported, with problems in file order`() throws {
    let reader = ConfigurationReader(file: "f")
    let node = try #require(reader.parse(Array("[\n 1]".utf8)))
    #expect(reader.object(node, known: [], what: "a file") == nil)
    reader.add(3, 1, "b", "later", "x")
    reader.add(1, 2, "a", "before", "y")
    reader.report("the whole", "z")
    let said = reader.sorted.map(\.description)
    #expect(said.first == "f: the whole; z")
    #expect(said.last == "f:3:1: b: later; x")
    #expect(throws: Problems.self) { try reader.finish() }
  }

  @Test(arguments: [
    ("a", #"{"b":{"c":1,"d":2}}"#), ("b", #"{"a":0}"#), ("b.c", #"{"a":0,"b":{"d":2}}"#),
    ("b.x", #"{"a":0,"b":{"c":1,"d":2}}"#), ("a.x", #"{"a":0,"b":{"c":1,"d":2}}"#),
    ("x.y", #"{"a":0,"b":{"c":1,"d":2}}"#),
  ])
  func `a member is removed at any depth, and the others keep their positions`(
    path: String, expected: String
  ) throws {
    let reader = ConfigurationReader(file: "f")
    let node = try #require(reader.parse(Array(#"{"a": 0, "b": {"c": 1, "d": 2}}"#.utf8)))
    let parts = path.split(separator: ".").map(String.init)
    let rest = node.removing(parts[...])
    #expect(rest.value.text == expected)
    if let left = rest["b"]?["d"] { #expect((left.line, left.column) == (1, 29)) }
  }
}
