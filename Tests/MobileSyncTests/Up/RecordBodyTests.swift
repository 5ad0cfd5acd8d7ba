import JSON
import MobileSync
import Testing

@Suite struct RecordBodyTests {
  private func body(_ fields: [String], _ element: String) throws -> String {
    var writer = JSONWriter()
    writer.beginObject()
    try RecordBody(fields: fields).append(Array(element.utf8), to: &writer)
    writer.endObject()
    return String(decoding: writer.bytes, as: UTF8.self)
  }

  @Test func `values are sent as the element writes them`() throws {
    let element = #"{"A":1.50,"B":"\u00e4\/","C":true,"D":{"x":[1, 2]},"E":[ ]}"#
    #expect(
      try body(["A", "B", "C", "D", "E"], element)
        == #"{"A":1.50,"B":"\u00e4\/","C":true,"D":{"x":[1, 2]},"E":[ ]}"#)
  }

  @Test func `a missing member is omitted and null is sent`() throws {
    #expect(try body(["A", "B", "C"], #"{"A":null,"C":""}"#) == #"{"A":null,"C":""}"#)
  }

  @Test func `a dotted path is projected and sent under its path`() throws {
    let element = #"{"Owner":{"Name":"a"},"Items":[{"N":1},{},{"N":2}],"Gone":null}"#
    #expect(
      try body(["Owner.Name", "Items.N", "Gone.N"], element)
        == #"{"Owner.Name":"a","Items.N":[1,2]}"#)
  }

  @Test func `no fields make an empty body`() throws { #expect(try body([], #"{"A":1}"#) == "{}") }

  @Test func `an element that is not an object is refused`() {
    #expect(throws: JSONError.self) { try body(["A"], "[1]") }
  }

  @Test func `the tree has the same members`() throws {
    let object = try RecordBody.fields(["A", "B"], of: Array(#"{"B":1.0,"A":"x"}"#.utf8))
    #expect(object.names == ["A", "B"])
    #expect(object["B"] == .number("1.0"))
  }
}
