/// Bytes as base64 text (RFC 4648), in the standard alphabet or the one for URLs.
package enum Base64 {
  private static let standard = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let forURLs = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let padding: UInt8 = 0x3D

  /// Encodes with `+`, `/` and padding.
  package static func encode(_ bytes: [UInt8]) -> String { text(bytes, standard, pads: true) }

  /// Encodes with `-`, `_` and no padding, as in JSON Web Tokens.
  package static func encodeURL(_ bytes: [UInt8]) -> String { text(bytes, forURLs, pads: false) }

  private static func text(_ bytes: [UInt8], _ alphabet: [UInt8], pads: Bool) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = UInt32(bytes[start]) << 16
      if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { group |= UInt32(bytes[start + 2]) }
      for place in 0..<4 {
        if place <= count {
          text.append(alphabet[Int(group >> UInt32(18 - 6 * place)) & 63])
        } else if pads {
          text.append(padding)
        }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of standard base64; nil for anything else.
  ///
  /// Line ends are skipped.
  package static func decode(_ text: String) -> [UInt8]? {
    let source = text.utf8.filter { $0 != 0x0A && $0 != 0x0D }
    guard source.count % 4 == 0 else { return nil }
    let content = source.drop(trailing: padding, atMost: 2)
    return bytes(content, standard)
  }

  /// The bytes of base64 for URLs, with or without padding; nil for anything else.
  package static func decodeURL(_ text: String) -> [UInt8]? {
    let source = Array(text.utf8)
    let content = source.drop(trailing: padding, atMost: 2)
    if content.count != source.count && source.count % 4 != 0 { return nil }
    return bytes(content, forURLs)
  }

  private static func bytes(_ content: ArraySlice<UInt8>, _ alphabet: [UInt8]) -> [UInt8]? {
    var values = [UInt8](repeating: 0xFF, count: 256)
    for (value, digit) in alphabet.enumerated() { values[Int(digit)] = UInt8(value) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(content.count * 3 / 4)
    var group: UInt32 = 0
    var bits: UInt32 = 0
    for digit in content {
      let value = values[Int(digit)]
      if value == 0xFF { return nil }
      group = group << 6 | UInt32(value)
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: group >> bits))
      }
    }
    // The leftover bits must be fewer than a digit's and all zero, so that each content has one
    // text.
    if bits >= 6 || group & ((1 << bits) - 1) != 0 { return nil }
    return bytes
  }
}

extension Array<UInt8> {
  fileprivate func drop(trailing byte: UInt8, atMost limit: Int) -> ArraySlice<UInt8> {
    var end = endIndex
    while end > startIndex, endIndex - end < limit, self[end - 1] == byte { end -= 1 }
    return self[..<end]
  }
}
