/// Reads the fields of SSH's binary formats (RFC 4251, section 5).
///
/// Each function returns nil if the bytes end too early.
struct SSHReader {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// Whether all bytes have been read.
  var isAtEnd: Bool { rest.isEmpty }

  /// Reads `count` bytes.
  mutating func raw(_ count: Int) -> [UInt8]? {
    guard count >= 0, rest.count >= count else { return nil }
    let found = Array(rest.prefix(count))
    rest = rest.dropFirst(count)
    return found
  }

  /// Reads a number of four bytes.
  mutating func number() -> Int? {
    guard let found = raw(4) else { return nil }
    return found.reduce(0) { $0 << 8 | Int($1) }
  }

  /// Reads bytes with their length.
  mutating func string() -> [UInt8]? {
    guard let count = number() else { return nil }
    return raw(count)
  }

  /// Reads UTF-8 text with its length.
  mutating func text() -> String? {
    guard let found = string() else { return nil }
    return String(validating: found, as: UTF8.self)
  }

  /// Reads a positive integer and returns it with leading zeros, in `count` bytes; nil if it is
  /// longer.
  mutating func integer(_ count: Int) -> [UInt8]? {
    guard let found = string() else { return nil }
    let digits = Array(found.drop { $0 == 0 })
    guard digits.count <= count else { return nil }
    return [UInt8](repeating: 0, count: count - digits.count) + digits
  }
}
