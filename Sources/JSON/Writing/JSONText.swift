/// Strings in JSON notation.
package enum JSONText {
  /// Appends `string` in quotes, with only the necessary escapes.
  package static func appendQuoted(_ string: String, to bytes: inout [UInt8]) {
    bytes.append(0x22)
    var copy = string
    copy.withUTF8 { appendEscaped(UnsafeRawBufferPointer($0), to: &bytes) }
    bytes.append(0x22)
  }

  /// Appends text without the quotes around it; the bytes must be UTF-8.
  package static func appendEscaped(_ text: UnsafeRawBufferPointer, to bytes: inout [UInt8]) {
    var clean = 0
    var index = 0
    while true {
      index = firstEscaped(text, from: index)
      guard index < text.count else { break }
      let byte = text[index]
      bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[clean..<index]))
      index += 1
      clean = index
      bytes.append(0x5C)
      switch byte {
      case 0x22, 0x5C: bytes.append(byte)
      case 0x08: bytes.append(UInt8(ascii: "b"))
      case 0x09: bytes.append(UInt8(ascii: "t"))
      case 0x0A: bytes.append(UInt8(ascii: "n"))
      case 0x0C: bytes.append(UInt8(ascii: "f"))
      case 0x0D: bytes.append(UInt8(ascii: "r"))
      default:
        bytes.append(contentsOf: [0x75, 0x30, 0x30, hex(byte >> 4), hex(byte & 15)])
      }
    }
    bytes.append(contentsOf: UnsafeRawBufferPointer(rebasing: text[clean..<text.count]))
  }

  /// The index of the first byte from `start` on that must be escaped; the count if there is none.
  @inline(__always)
  private static func firstEscaped(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    var index = start
    while index &+ 8 <= text.count {
      let word = UInt64(
        littleEndian: text.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let quote = word ^ (ones &* 0x22)
      let backslash = word ^ (ones &* 0x5C)
      // The lowest set bit is exact; higher ones may be false positives.
      let hits =
        ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash
          | (word &- ones &* 0x20) & ~word) & (ones &* 0x80)
      if hits != 0 { return index &+ hits.trailingZeroBitCount &>> 3 }
      index &+= 8
    }
    while index < text.count {
      let byte = text[index]
      if byte < 0x20 || byte == 0x22 || byte == 0x5C { return index }
      index &+= 1
    }
    return index
  }

  /// Returns `string` in quotes.
  package static func quoted(_ string: String) -> String {
    var bytes: [UInt8] = []
    appendQuoted(string, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the decoded contents of a JSON string; `raw` is the text between the quotes.
  package static func unescape(
    _ raw: UnsafeRawBufferPointer, into bytes: inout [UInt8]
  ) throws(JSONError) {
    var index = 0
    while index < raw.count {
      var plain = index
      while plain < raw.count, raw[plain] != 0x5C { plain += 1 }
      if plain > index { bytes.append(contentsOf: raw[index..<plain]) }
      guard plain < raw.count else { return }
      do throws(JSONFault) {
        index = try unescapeOne(raw, at: plain, into: &bytes)
      } catch {
        throw error.error(in: raw)
      }
    }
  }

  /// The decoded contents of a JSON string that was validated before.
  package static func unescaped(_ raw: UnsafeRawBufferPointer) -> String {
    var text: [UInt8] = []
    // The contents are known to be valid.
    try? unescape(raw, into: &text)
    return String(decoding: text, as: UTF8.self)
  }

  private static func unescapeOne(
    _ raw: UnsafeRawBufferPointer, at index: Int, into bytes: inout [UInt8]
  ) throws(JSONFault) -> Int {
    guard index + 1 < raw.count else { throw JSONFault(reason: .end, offset: index) }
    let letter = raw[index + 1]
    switch letter {
    case 0x22, 0x5C, 0x2F: bytes.append(letter)
    case UInt8(ascii: "b"): bytes.append(0x08)
    case UInt8(ascii: "f"): bytes.append(0x0C)
    case UInt8(ascii: "n"): bytes.append(0x0A)
    case UInt8(ascii: "r"): bytes.append(0x0D)
    case UInt8(ascii: "t"): bytes.append(0x09)
    case UInt8(ascii: "u"): return try unescapeUnicode(raw, at: index, into: &bytes)
    default: throw JSONFault(reason: .escape, offset: index)
    }
    return index + 2
  }

  static func unescapeUnicode(
    _ raw: UnsafeRawBufferPointer, at index: Int, into bytes: inout [UInt8]
  ) throws(JSONFault) -> Int {
    let first = try unit(raw, at: index)
    if first & 0xFC00 != 0xD800 {
      guard let scalar = Unicode.Scalar(UInt32(first)) else {
        throw JSONFault(reason: .surrogate, offset: index)
      }
      bytes.append(contentsOf: String(Character(scalar)).utf8)
      return index + 6
    }
    let second = try unit(raw, at: index + 6)
    guard second & 0xFC00 == 0xDC00 else { throw JSONFault(reason: .surrogate, offset: index) }
    let code = 0x10000 + (UInt32(first & 0x3FF) << 10 | UInt32(second & 0x3FF))
    guard let scalar = Unicode.Scalar(code) else {
      throw JSONFault(reason: .surrogate, offset: index)
    }
    bytes.append(contentsOf: String(Character(scalar)).utf8)
    return index + 12
  }

  static func unit(
    _ raw: UnsafeRawBufferPointer, at index: Int
  ) throws(JSONFault) -> UInt16 {
    guard index + 6 <= raw.count, raw[index] == 0x5C, raw[index + 1] == 0x75 else {
      throw JSONFault(reason: .surrogate, offset: index)
    }
    var unit: UInt16 = 0
    for place in index + 2..<index + 6 {
      guard let digit = hexDigit(raw[place]) else {
        throw JSONFault(reason: .escape, offset: index)
      }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }

  @inline(__always)
  static func hexDigit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 0x30...0x39: byte - 0x30
    case 0x41...0x46: byte - 0x41 + 10
    case 0x61...0x66: byte - 0x61 + 10
    default: nil
    }
  }

  private static func hex(_ digit: UInt8) -> UInt8 {
    digit < 10 ? 0x30 + digit : 0x61 + digit - 10
  }

  /// The length of the well-formed UTF-8 sequence at the start of `bytes`; nil if there is none.
  static func sequenceLength(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard let first = bytes.first else { return nil }
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch first {
    case 0x00...0x7F: return 1
    case 0xC2...0xDF: length = 2
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: length = 3
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: length = 4
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default: return nil
    }
    guard bytes.count >= length, second.contains(bytes[1]) else { return nil }
    for index in 2..<max(2, length) where bytes[index] & 0xC0 != 0x80 { return nil }
    return length
  }
}
