/// A fault in a JSON text, with its position.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The offset of the byte where the fault was detected, from the start of the text.
  package let offset: Int
  /// The line of that byte, counted from 1.
  package let line: Int
  /// The column, counted in characters from 1.
  package let column: Int
  /// The fault, in a few words.
  package let message: String
  /// The correction; empty if the message needs none.
  package let fix: String

  /// Creates an error whose position is known.
  package init(offset: Int, line: Int, column: Int, message: String, fix: String = "") {
    self.offset = offset
    self.line = line
    self.column = column
    self.message = message
    self.fix = fix
  }

  /// Creates an error at `offset` of `text` and computes its line and column.
  init(offset: Int, in text: UnsafeRawBufferPointer, message: String, fix: String = "") {
    let end = min(max(offset, 0), text.count)
    var line = 1
    var lineStart = 0
    for index in 0..<end where text[index] == UInt8(ascii: "\n") {
      line += 1
      lineStart = index + 1
    }
    let before = UnsafeRawBufferPointer(rebasing: text[lineStart..<end])
    self.init(
      offset: offset, line: line, column: String(decoding: before, as: UTF8.self).count + 1,
      message: message, fix: fix)
  }

  /// Line, column, fault and correction.
  package var description: String {
    let place = "line \(line), column \(column): \(message)"
    return fix.isEmpty ? place : "\(place); \(fix)"
  }
}

/// A fault inside the parsers.
///
/// It has only two words, so throwing it costs the hot path nothing.
struct JSONFault: Error, BitwiseCopyable {
  /// The faults of bytes that should be JSON.
  enum Reason: UInt8 {
    case end, value, name, colon, comma, control, utf8, escape, surrogate, number, literal, depth
    case trailing, tooLarge, notObject, notArray, notRecord, memberMissing, memberTwice
  }

  let reason: Reason
  let offset: Int

  var message: String {
    switch reason {
    case .end: "the text ends in the middle of a value"
    case .value: "a value is expected here"
    case .name: "a member name in double quotes is expected here"
    case .colon: "a colon is expected here"
    case .comma: "a comma or the closing bracket is expected here"
    case .control: "a control character inside a string must be escaped"
    case .utf8: "the bytes are not valid UTF-8"
    case .escape: "this escape sequence does not exist in JSON"
    case .surrogate: "unpaired surrogate"
    case .number: "not a JSON number"
    case .literal: "only true, false and null are allowed without quotes"
    case .depth: "values are nested deeper than \(JSONCursor.depthLimit) levels"
    case .trailing: "data follows the end of the value"
    case .tooLarge: "the page is larger than 2 GiB"
    case .notObject: "an object is expected here"
    case .notArray: "an array is expected here"
    case .notRecord: "a record (an object) or null is expected here"
    case .memberMissing: "the member with the records is missing"
    case .memberTwice: "the member with the records appears twice"
    }
  }

  func error(in text: UnsafeRawBufferPointer) -> JSONError {
    JSONError(offset: offset, in: text, message: message)
  }
}
