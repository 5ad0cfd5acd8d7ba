/// Record IDs: three characters of key prefix, twelve of instance and sequence, three of checksum.
package enum OrgID {
  private static let digits = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let checks = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)

  /// The 18-character ID of the `sequence`-th record with a key prefix; IDs sort by sequence.
  package static func make(prefix: String, sequence: Int64) -> String {
    var bytes = Array(prefix.utf8.prefix(3))
    bytes.reserveCapacity(18)
    // Two characters for the instance, one reserved.
    bytes.append(contentsOf: [0x35, 0x67, 0x30])
    var tail = [UInt8](repeating: 0x30, count: 9)
    var rest = sequence
    var place = 8
    while rest > 0, place >= 0 {
      tail[place] = digits[Int(rest % 62)]
      rest /= 62
      place -= 1
    }
    bytes.append(contentsOf: tail)
    appendChecksum(&bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The 18-character form of a 15- or 18-character ID; nil if it is invalid.
  package static func normalize(_ id: some StringProtocol) -> String? {
    var bytes = Array(id.utf8)
    guard bytes.count == 15 || bytes.count == 18 else { return nil }
    guard bytes.allSatisfy(isDigit) else { return nil }
    if bytes.count == 15 {
      appendChecksum(&bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    return repaired(bytes)
  }

  package static func prefix(_ id: String) -> String { String(id.prefix(3)) }

  /// The sequence number in an 18-character ID of this org; other IDs return a number too.
  static func sequence(_ id: String) -> Int64 {
    var value: Int64 = 0
    for byte in id.utf8.dropFirst(6).prefix(9) {
      let digit: UInt8
      switch byte {
      case 0x30...0x39: digit = byte - 0x30
      case 0x41...0x5A: digit = byte - 0x41 + 10
      default: digit = byte &- 0x61 &+ 36
      }
      value = value &* 62 &+ Int64(digit)
    }
    return value
  }

  /// Returns an 18-character ID with its case restored from the checksum.
  private static func repaired(_ given: [UInt8]) -> String? {
    var bytes = Array(given[0..<15])
    for group in 0..<3 {
      let check = upper(given[15 + group])
      guard let bits = checks.firstIndex(of: check) else { return nil }
      for place in 0..<5 {
        let byte = bytes[group * 5 + place]
        let isUpper = byte >= 0x41 && byte <= 0x5A
        let isLower = byte >= 0x61 && byte <= 0x7A
        let wantsUpper = bits & (1 << place) != 0
        if wantsUpper {
          guard isUpper || isLower else { return nil }
          bytes[group * 5 + place] = upper(byte)
        } else if isUpper {
          bytes[group * 5 + place] = byte + 0x20
        }
      }
    }
    // Only lost case is repaired: a checksum that disagrees in most positions would change the ID.
    let changed = zip(bytes, given).contains { $0 != $1 }
    if changed, !looksFolded(given) { return nil }
    appendChecksum(&bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether every letter has the same case, as after case folding.
  private static func looksFolded(_ bytes: [UInt8]) -> Bool {
    let uppers = bytes.contains { $0 >= 0x41 && $0 <= 0x5A }
    let lowers = bytes.contains { $0 >= 0x61 && $0 <= 0x7A }
    return !(uppers && lowers)
  }

  private static func appendChecksum(_ bytes: inout [UInt8]) {
    for group in 0..<3 {
      var bits = 0
      for place in 0..<5 {
        let byte = bytes[group * 5 + place]
        if byte >= 0x41, byte <= 0x5A { bits |= 1 << place }
      }
      bytes.append(checks[bits])
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x5A)
      || (byte >= 0x61 && byte <= 0x7A)
  }

  private static func upper(_ byte: UInt8) -> UInt8 {
    byte >= 0x61 && byte <= 0x7A ? byte - 0x20 : byte
  }
}
