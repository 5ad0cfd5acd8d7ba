/// Edits of an object's bytes that leave the other bytes unchanged.
package enum JSONSplice {
  /// Other bytes in place of a range.
  package struct Edit: Sendable {
    package var range: Range<Int>
    package var bytes: ArraySlice<UInt8>

    package init(_ range: Range<Int>, _ bytes: ArraySlice<UInt8> = []) {
      (self.range, self.bytes) = (range, bytes)
    }
  }

  /// Appends a range of `bytes` to `output`, with edits that do not overlap, in any order.
  package static func append(
    _ range: Range<Int>, of bytes: UnsafeRawBufferPointer, _ edits: inout [Edit],
    to output: inout [UInt8]
  ) {
    edits.sort { $0.range.lowerBound < $1.range.lowerBound }
    var start = range.lowerBound
    for edit in edits {
      output.append(contentsOf: bytes[start..<edit.range.lowerBound])
      output.append(contentsOf: edit.bytes)
      start = edit.range.upperBound
    }
    output.append(contentsOf: bytes[start..<range.upperBound])
  }

  /// The range of a value, including the quotes that a string's span excludes.
  package static func whole(_ value: JSONSpan) -> Range<Int> {
    switch value.kind {
    case .string, .escapedString: Int(value.start) - 1..<Int(value.end) + 1
    default: value.range
    }
  }

  /// The bytes to remove so that an object loses a member: its name, its value and one comma.
  ///
  /// `value` is the position of the member's value, as found by a scan of `bytes`.
  package static func member(
    of value: JSONSpan, in bytes: UnsafeRawBufferPointer
  ) -> Range<Int> {
    let whole = whole(value)
    var start = before(whole.lowerBound, in: bytes)  // the colon
    start = before(start, in: bytes) - 1  // inside the name, before its closing quote
    while start >= 0, !isOpeningQuote(start, in: bytes) { start -= 1 }
    let previous = before(start, in: bytes)
    var next = whole.upperBound
    while next < bytes.count, isSpace(bytes[next]) { next += 1 }
    if next < bytes.count, bytes[next] == UInt8(ascii: ",") { return start..<next + 1 }
    if bytes[previous] == UInt8(ascii: ",") { return previous..<whole.upperBound }
    return start..<whole.upperBound
  }

  /// The index of the last byte before `index` that is not white space.
  private static func before(_ index: Int, in bytes: UnsafeRawBufferPointer) -> Int {
    var place = index - 1
    while place > 0, isSpace(bytes[place]) { place -= 1 }
    return place
  }

  /// Whether a quote opens a name.
  ///
  /// A quote inside a name has an odd number of backslashes before it.
  private static func isOpeningQuote(_ index: Int, in bytes: UnsafeRawBufferPointer) -> Bool {
    guard bytes[index] == 0x22 else { return false }
    var slashes = 0
    while index - slashes > 0, bytes[index - slashes - 1] == 0x5C { slashes += 1 }
    return slashes % 2 == 0
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }
}
