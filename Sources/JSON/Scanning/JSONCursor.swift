/// The lexer over JSON bytes that `JSONValue` and `RecordScanner` share.
///
/// It validates everything it passes (grammar, UTF-8, escapes, depth) and never reads a byte
/// outside the buffer. Strings are skipped eight bytes at a time.
struct JSONCursor {
  static let depthLimit = 64

  let base: UnsafeRawPointer
  let count: Int
  var offset = 0

  /// The caller must ensure that the buffer is not empty.
  init(_ base: UnsafeRawPointer, count: Int) {
    self.base = base
    self.count = count
  }

  @inline(__always)
  func byte(_ index: Int) -> UInt8 {
    base.load(fromByteOffset: index, as: UInt8.self)
  }

  /// The next byte that is not white space; it is not consumed.
  @inline(__always)
  mutating func peek() throws(JSONFault) -> UInt8 {
    while offset < count {
      let next = byte(offset)
      if next > 0x20 { return next }
      guard next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 else {
        throw JSONFault(reason: .value, offset: offset)
      }
      offset &+= 1
    }
    throw JSONFault(reason: .end, offset: offset)
  }

  /// Throws unless only white space follows.
  mutating func finish() throws(JSONFault) {
    while offset < count {
      let next = byte(offset)
      guard next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 else {
        throw JSONFault(reason: .trailing, offset: offset)
      }
      offset &+= 1
    }
  }

  /// Consumes `expected` or throws `reason`.
  @inline(__always)
  mutating func take(_ expected: UInt8, _ reason: JSONFault.Reason) throws(JSONFault) {
    guard try peek() == expected else { throw JSONFault(reason: reason, offset: offset) }
    offset &+= 1
  }

  /// Consumes a string whose opening quote is at `offset`; returns whether it contains an escape.
  ///
  /// The contents are `start..<offset - 1`, where `start` is the offset before the call plus one.
  @inline(__always)
  mutating func skipString() throws(JSONFault) -> Bool {
    var index = offset &+ 1
    var escaped = false
    while true {
      // Skip eight bytes at a time while none is a quote, a backslash, a control character or
      // beyond ASCII.
      while index &+ 8 <= count {
        let word = UInt64(
          littleEndian: base.loadUnaligned(fromByteOffset: index, as: UInt64.self))
        let special = Self.special(word)
        if special != 0 {
          index &+= special.trailingZeroBitCount &>> 3
          break
        }
        index &+= 8
      }
      guard index < count else { throw JSONFault(reason: .end, offset: count) }
      let next = byte(index)
      if next == 0x22 {
        offset = index &+ 1
        return escaped
      } else if next == 0x5C {
        escaped = true
        index = try skipEscape(index)
      } else if next >= 0x80 {
        index = try skipMultibyte(index)
      } else if next < 0x20 {
        throw JSONFault(reason: .control, offset: index)
      } else {
        index &+= 1
      }
    }
  }

  /// The high bit of each byte that is a quote, a backslash, below 0x20 or above 0x7F.
  ///
  /// The lowest set bit is exact; higher ones may be false positives.
  @inline(__always)
  private static func special(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    let hits =
      (quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (word &- ones &* 0x20) & ~word
      | word
    return hits & (ones &* 0x80)
  }

  private func skipEscape(_ index: Int) throws(JSONFault) -> Int {
    guard index &+ 1 < count else { throw JSONFault(reason: .end, offset: count) }
    switch byte(index &+ 1) {
    case 0x22, 0x5C, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return index &+ 2
    case 0x75:
      let unit = try hexUnit(index)
      if unit & 0xFC00 == 0xD800 {
        guard index &+ 7 < count else {
          // The second surrogate may not have arrived yet, or it does not exist.
          throw JSONFault(reason: index &+ 6 < count ? .surrogate : .end, offset: index)
        }
        guard byte(index &+ 6) == 0x5C, byte(index &+ 7) == 0x75 else {
          throw JSONFault(reason: .surrogate, offset: index)
        }
        guard try hexUnit(index &+ 6) & 0xFC00 == 0xDC00 else {
          throw JSONFault(reason: .surrogate, offset: index)
        }
        return index &+ 12
      }
      guard unit & 0xFC00 != 0xDC00 else { throw JSONFault(reason: .surrogate, offset: index) }
      return index &+ 6
    default: throw JSONFault(reason: .escape, offset: index)
    }
  }

  /// The four hexadecimal digits of the `\u` at `index`.
  private func hexUnit(_ index: Int) throws(JSONFault) -> UInt16 {
    guard index &+ 6 <= count else { throw JSONFault(reason: .end, offset: count) }
    var unit: UInt16 = 0
    for place in index &+ 2..<index &+ 6 {
      guard let digit = JSONText.hexDigit(byte(place)) else {
        throw JSONFault(reason: .escape, offset: index)
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  /// The index after a well-formed UTF-8 sequence of two to four bytes.
  private func skipMultibyte(_ index: Int) throws(JSONFault) -> Int {
    let length = JSONText.sequenceLength(
      UnsafeRawBufferPointer(start: base + index, count: min(4, count &- index)))
    guard let length else { throw JSONFault(reason: .utf8, offset: index) }
    return index &+ length
  }

  /// Consumes a number whose first byte is at `offset`.
  @inline(__always)
  mutating func skipNumber() throws(JSONFault) {
    let start = offset
    var index = offset
    if index < count, byte(index) == 0x2D { index &+= 1 }
    let whole = digits(from: index)
    guard whole > index, byte(index) != 0x30 || whole == index &+ 1 else {
      throw JSONFault(reason: index < count ? .number : .end, offset: start)
    }
    index = whole
    if index < count, byte(index) == 0x2E {
      let fraction = digits(from: index &+ 1)
      guard fraction > index &+ 1 else {
        throw JSONFault(reason: fraction < count ? .number : .end, offset: start)
      }
      index = fraction
    }
    if index < count, byte(index) | 0x20 == 0x65 {
      index &+= 1
      if index < count, byte(index) == 0x2B || byte(index) == 0x2D { index &+= 1 }
      let exponent = digits(from: index)
      guard exponent > index else {
        throw JSONFault(reason: exponent < count ? .number : .end, offset: start)
      }
      index = exponent
    }
    offset = index
  }

  @inline(__always)
  private func digits(from start: Int) -> Int {
    var index = start
    while index < count, byte(index) &- 0x30 < 10 { index &+= 1 }
    return index
  }

  /// Consumes `true`, `false` or `null` at `offset`.
  @inline(__always)
  mutating func skipLiteral() throws(JSONFault) -> JSONSpan.Kind {
    let first = byte(offset)
    let kind: JSONSpan.Kind
    let length: Int
    let expected: UInt32
    // The first four bytes, little-endian: "true", "fals", "null".
    switch first {
    case 0x74: (kind, length, expected) = (.true, 4, 0x6575_7274)
    case 0x66: (kind, length, expected) = (.false, 5, 0x736C_6166)
    case 0x6E: (kind, length, expected) = (.null, 4, 0x6C6C_756E)
    default: throw JSONFault(reason: .value, offset: offset)
    }
    guard offset &+ length <= count else { throw JSONFault(reason: .end, offset: count) }
    let word = UInt32(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    guard word == expected, length == 4 || byte(offset &+ 4) == 0x65 else {
      throw JSONFault(reason: .literal, offset: offset)
    }
    offset &+= length
    return kind
  }

  /// Consumes any value and returns its kind and range; the range of a string is between its
  /// quotes.
  @inline(__always)
  mutating func skipValue(depth: Int) throws(JSONFault) -> JSONSpan {
    let first = try peek()
    let start = offset
    switch first {
    case 0x22:
      let escaped = try skipString()
      return JSONSpan(start &+ 1, offset &- 1, escaped ? .escapedString : .string)
    case 0x7B, 0x5B:
      try skipContainer(depth: depth)
      return JSONSpan(start, offset, first == 0x7B ? .object : .array)
    case 0x2D, 0x30...0x39:
      try skipNumber()
      return JSONSpan(start, offset, .number)
    default:
      let kind = try skipLiteral()
      return JSONSpan(start, offset, kind)
    }
  }

  /// Consumes the object or array that starts at `offset`; `depth` is the number of enclosing
  /// containers.
  mutating func skipContainer(depth: Int) throws(JSONFault) {
    guard depth < Self.depthLimit else { throw JSONFault(reason: .depth, offset: offset) }
    let isObject = byte(offset) == 0x7B
    let close: UInt8 = isObject ? 0x7D : 0x5D
    offset &+= 1
    if try peek() == close {
      offset &+= 1
      return
    }
    while true {
      if isObject {
        guard try peek() == 0x22 else { throw JSONFault(reason: .name, offset: offset) }
        _ = try skipString()
        try take(0x3A, .colon)
      }
      _ = try skipValue(depth: depth &+ 1)
      let next = try peek()
      guard next == 0x2C || next == close else { throw JSONFault(reason: .comma, offset: offset) }
      offset &+= 1
      if next == close { return }
    }
  }
}
