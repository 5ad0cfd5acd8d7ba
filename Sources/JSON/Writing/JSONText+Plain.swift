extension JSONText {
  /// JSON whose strings have no unnecessary escapes.
  package struct Plain: Sendable, Hashable {
    package var bytes: [UInt8]
    /// The number of unpaired surrogates that were replaced with U+FFFD.
    package var replacedHalves = 0
  }

  /// The same JSON without unnecessary `\u` escapes; nil if it has none, which is quick to find
  /// out.
  ///
  /// `"\u0041"` becomes `"A"`, so that code can compare the bytes, such as those of an ID. An
  /// unpaired surrogate has no form in UTF-8, and a device's JSON reader rejects the whole element
  /// for it, so it becomes U+FFFD. All other bytes stay the same.
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

  /// The same JSON with U+FFFD in place of each unpaired surrogate; nil if there is none.
  package static func withoutHalves(_ json: UnsafeRawBufferPointer) -> [UInt8]? {
    guard let plain = plain(Array(json)), plain.replacedHalves > 0 else { return nil }
    return plain.bytes
  }

  /// Appends the character of an escape, or the escape itself; returns the length of the escape.
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

  /// The index of the first backslash from `start` on; the count if there is none.
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
    // Check four words at a time: most texts have long stretches without a backslash.
    while index &+ 32 <= json.count {
      if (hits(index) | hits(index &+ 8)) | (hits(index &+ 16) | hits(index &+ 24)) != 0 { break }
      index &+= 32
    }
    while index < json.count, json[index] != 0x5C { index &+= 1 }
    return index
  }
}
