import CSV
import Testing

@Suite struct CSVTests {
  func read(_ text: String, piece: Int = .max) throws -> [[String]] {
    var reader = CSVReader()
    var rows: [[String]] = []
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let next = Array(bytes.prefix(piece))
      bytes = bytes.dropFirst(piece)
      try next.withUnsafeBytes { try reader.feed($0) { rows.append($0) } }
    }
    try reader.finish { rows.append($0) }
    return rows
  }

  @Test(
    arguments: [
      ("", []), ("a,b\n1,2\n", [["a", "b"], ["1", "2"]]),
      ("a,b\r\n1,2", [["a", "b"], ["1", "2"]]), ("a\rb\r", [["a"], ["b"]]),
      ("\u{FEFF}a\n", [["a"]]), (",\n", [["", ""]]), ("\"\"\n", [[""]]), ("\n\na\n\n", [["a"]]),
      ("\"a,\"\"b\"\"\nc\",d\n", [["a,\"b\"\nc", "d"]]), ("a\"b\n", [["a\"b"]]),
      ("ż,😀\n", [["ż", "😀"]]), ("a,\"\"\n", [["a", ""]]),
    ] as [(String, [[String]])])
  func `rows are parsed as in RFC 4180, in any pieces`(text: String, expected: [[String]]) throws {
    for piece in [1, 2, 3, .max] { #expect(try read(text, piece: piece) == expected) }
  }

  @Test(arguments: [
    ("a\n\"b\nc", "line 2: the quote opened here is never closed"),
    ("\"a\"b\n", "line 1: data follows the closing quote of a field"),
  ])
  func `an invalid row is an error with its line`(text: String, expected: String) {
    let error = #expect(throws: CSVError.self) { try read(text) }
    #expect(error?.description == expected)
  }

  @Test(
    arguments: [
      ("a,b\n1;2,3\n", [["a", "b"], ["1;2", "3"]]), ("a;b\r\n1,2;3", [["a", "b"], ["1,2", "3"]]),
      ("\u{FEFF}a\tb\n1\t2\n", [["a", "b"], ["1", "2"]]), ("a\n1;2\n", [["a"], ["1;2"]]), ("", []),
    ] as [(String, [[String]])])
  func `a table's header determines the delimiter`(text: String, expected: [[String]]) throws {
    #expect(try CSVReader.table(Array(text.utf8)) == expected)
  }

  @Test func `each cell of a table has its position`() throws {
    let text = "\u{FEFF}ż,b\r\n\n\"1\n😀\",\"2\",3\n,x"
    let cells = try CSVReader.cells(Array(text.utf8))
    let found = cells.map { row in row.map { "\($0.line):\($0.column)" } }
    #expect(found == [["1:1", "1:3"], ["3:1", "4:4", "4:8"], ["5:1", "5:2"]])
    #expect(cells.map { $0.map(\.text) } == [["ż", "b"], ["1\n😀", "2", "3"], ["", "x"]])
  }

  @Test func `invalid UTF-8 is an error`() {
    var reader = CSVReader()
    #expect(throws: CSVError.self) {
      try [0x61, 0xFF, 0x0A].withUnsafeBytes { try reader.feed($0) { _ in } }
    }
  }

  @Test func `written rows are read back`() throws {
    let rows = [
      ["Id", "Name"], ["1", "a,b"], ["2", "say \"hi\""], ["3", "two\nlines"], ["", ""], [""],
      [" x "], ["=1+1"],
    ]
    for ending in [CSVWriter.LineEnding.lf, .crlf] {
      var writer = CSVWriter(lineEnding: ending)
      for row in rows { writer.row(row) }
      #expect(try read(String(decoding: writer.bytes, as: UTF8.self)) == rows)
    }
  }

  @Test func `a job may have another delimiter, with all fields in quotes`() {
    var writer = CSVWriter(delimiter: UInt8(ascii: ";"))
    writer.row(["a;b", "a,b"])
    #expect(String(decoding: writer.bytes, as: UTF8.self) == "\"a;b\";a,b\n")
    writer = CSVWriter(lineEnding: .crlf, quotesAll: true)
    writer.row(["plain", ""])
    Array("say \"hi\"".utf8).withUnsafeBytes { writer.field($0) }
    writer.field(UnsafeRawBufferPointer(start: nil, count: 0))
    writer.endRow()
    #expect(
      String(decoding: writer.bytes, as: UTF8.self)
        == "\"plain\",\"\"\r\n\"say \"\"hi\"\"\",\"\"\r\n")
  }

  @Test func `a spreadsheet does not execute the content of a record`() {
    var writer = CSVWriter(lineEnding: .crlf, guardsFormulas: true)
    writer.row(["=1+1", "+a", "-2", "@x", "plain", "=\"a\""])
    #expect(
      String(decoding: writer.bytes, as: UTF8.self) == "'=1+1,'+a,'-2,'@x,plain,\"'=\"\"a\"\"\"\r\n"
    )
  }
}
