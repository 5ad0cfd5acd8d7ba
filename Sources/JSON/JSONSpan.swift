/// A value's place in a buffer.
package struct JSONSpan: Sendable, BitwiseCopyable, Equatable {
  /// What stands at the place.
  package enum Kind: UInt8, Sendable, BitwiseCopyable {
    /// The record has no such member.
    case missing
    case null, `false`, `true`, number
    /// Text without a backslash: the bytes between the quotes are the value.
    case string
    /// Text with at least one backslash: `JSONText.unescape` makes the value.
    case escapedString
    case array, object
  }

  /// The first byte; for a string the one after the opening quote.
  package var start: Int32
  /// The byte after the last; for a string its closing quote.
  package var end: Int32
  /// What stands there.
  package var kind: Kind

  /// A place in a buffer that is known to be smaller than 2 GiB.
  @inline(__always)
  package init(_ start: Int, _ end: Int, _ kind: Kind) {
    self.start = Int32(truncatingIfNeeded: start)
    self.end = Int32(truncatingIfNeeded: end)
    self.kind = kind
  }

  /// No value.
  package static let missing = JSONSpan(0, 0, .missing)

  /// The offsets as a range of the buffer.
  @inlinable package var range: Range<Int> { Int(start)..<Int(end) }
}

extension JSONSpan {
  /// The text that stands at the place; nil where none does.
  package func text(in bytes: UnsafeRawBufferPointer) -> String? {
    let raw = UnsafeRawBufferPointer(rebasing: bytes[range])
    if kind == .string { return String(decoding: raw, as: UTF8.self) }
    return kind == .escapedString ? JSONText.unescaped(raw) : nil
  }

  /// The number that stands at the place, as it is written; nil where none does.
  package func number(in bytes: UnsafeRawBufferPointer) -> String? {
    guard kind == .number else { return nil }
    return String(decoding: UnsafeRawBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }
}
