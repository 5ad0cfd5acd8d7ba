extension JSONText {
  /// JSON whose texts stand as they are read.
  package struct Plain: Sendable, Hashable {
    /// The JSON.
    package var bytes: [UInt8]
    /// How many halves of a surrogate pair, which stood alone, became U+FFFD.
    package var replacedHalves = 0
  }

  /// The same JSON without `\u` escapes that need not be; nil where it has none, which costs one quick look.
  ///
  /// `"\u0041"` becomes `"A"`: whoever compares bytes, such as those of an id, finds them. Half of a
  /// surrogate pair is no character, has no form in UTF-8, and makes a device's own reader refuse all of
  /// its element: the sign for what cannot be read stands in its place. What is no escape stays as it is.
  package static func plain(_ json: [UInt8]) -> Plain? {
    json.withUnsafeBytes { json in
      var index = firstBackslash(json, from: 0)
      while index + 1 < json.count, json[index + 1] != UInt8(ascii: "u") {
        index = firstBackslash(json, from: index + 2)
      }
      guard index + 1 < json.count else { return nil }
      var plain = Plain(bytes: [])
      plain.bytes.reserveCapacity(json.count)
      var copied = 0
      while index < json.count {
        plain.bytes.append(contentsOf: json[copied..<index])
        let length = appendPlain(json, at: index, to: &plain)
        copied = index + length
        index = firstBackslash(json, from: copied)
      }
      plain.bytes.append(contentsOf: json[min(copied, json.count)...])
      return plain
    }
  }

  /// The same JSON with U+FFFD in the place of each half of a character; nil where it has none.
  package static func withoutHalves(_ json: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let plain = plain(Array(json)), plain.replacedHalves > 0 else { return nil }
    return plain.bytes
  }

  /// Appends what an escape means, or the escape itself; answers how many bytes it has.
  private static func appendPlain(
    _ json: UnsafeRawBufferPointer, at index: Int, to plain: inout Plain
  ) -> Int {
    guard let unit = try? unit(json, at: index) else {
      let length = min(2, json.count - index)
      plain.bytes.append(contentsOf: json[index..<index + length])
      return length
    }
    switch unit {
    case 0..<0x20: plain.bytes.append(contentsOf: json[index..<index + 6])
    case 0x22, 0x5C: plain.bytes += [0x5C, UInt8(unit)]
    default:
      if let end = try? unescapeUnicode(json, at: index, into: &plain.bytes) { return end - index }
      plain.bytes += [0xEF, 0xBF, 0xBD]
      plain.replacedHalves += 1
    }
    return 6
  }

  /// The first backslash from `start` on; the count where there is none.
  @inline(__always)
  private static func firstBackslash(_ json: UnsafeRawBufferPointer, from start: Int) -> Int {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let high = ones &* 0x80
    @inline(__always)
    func hits(_ index: Int) -> UInt64 {
      let word = UInt64(littleEndian: json.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let difference = word ^ (ones &* 0x5C)
      return (difference &- ones) & ~difference & high
    }
    var index = min(start, json.count)
    // Four words at a time: most texts have none for long.
    while index &+ 32 <= json.count {
      if (hits(index) | hits(index &+ 8)) | (hits(index &+ 16) | hits(index &+ 24)) != 0 { break }
      index &+= 32
    }
    while index < json.count, json[index] != 0x5C { index &+= 1 }
    return index
  }
}
