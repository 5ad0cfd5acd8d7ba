/// Conversion between bytes and hexadecimal digits.
package enum Hex {
  private static let digits = Array("0123456789abcdef".utf8)

  /// Encodes each byte as two lower-case digits.
  package static func encode(_ bytes: some Sequence<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity(bytes.underestimatedCount * 2)
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The bytes of hexadecimal digits in either case; nil for anything else.
  package static func decode(_ text: String) -> [UInt8]? {
    let source = Array(text.utf8)
    guard source.count % 2 == 0 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(source.count / 2)
    for i in stride(from: 0, to: source.count, by: 2) {
      guard let high = value(source[i]), let low = value(source[i + 1]) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  private static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    case 0x41...0x46: digit - 0x41 + 10
    default: nil
    }
  }
}
