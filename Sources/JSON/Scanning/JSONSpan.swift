/// The position of a value in a buffer.
package struct JSONSpan: Sendable, BitwiseCopyable, Equatable {
  /// The type of the value, and whether its text needs unescaping.
  package enum Kind: UInt8, Sendable, BitwiseCopyable {
    /// The record has no such member.
    case missing
    case null, `false`, `true`, number
    /// A string without a backslash: the bytes between the quotes are the value.
    case string
    /// A string with at least one backslash: `JSONText.unescape` returns the value.
    case escapedString
    case array, object
  }

  /// The offset of the first byte; for a string, of the byte after the opening quote.
  package var start: Int32
  /// The offset after the last byte; for a string, of the closing quote.
  package var end: Int32
  package var kind: Kind

  /// Creates a span in a buffer that is known to be smaller than 2 GiB.
  @inline(__always)
  package init(_ start: Int, _ end: Int, _ kind: Kind) {
    self.start = Int32(truncatingIfNeeded: start)
    self.end = Int32(truncatingIfNeeded: end)
    self.kind = kind
  }

  package static let missing = JSONSpan(0, 0, .missing)

  /// The offsets as a range of the buffer.
  @inlinable package var range: Range<Int> { Int(start)..<Int(end) }
}

extension JSONSpan {
  /// The text of a string; nil for anything else.
  package func text(in bytes: UnsafeRawBufferPointer) -> String? {
    let raw = UnsafeRawBufferPointer(rebasing: bytes[range])
    if kind == .string { return String(decoding: raw, as: UTF8.self) }
    return kind == .escapedString ? JSONText.unescaped(raw) : nil
  }

  /// The literal of a number; nil for anything else.
  package func number(in bytes: UnsafeRawBufferPointer) -> String? {
    guard kind == .number else { return nil }
    return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }
}
