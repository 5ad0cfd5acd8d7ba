/// Writes the fields of SSH's binary formats (RFC 4251, section 5).
struct SSHWriter {
  private(set) var bytes: [UInt8] = []

  /// Appends bytes without their length.
  mutating func add(_ raw: some Sequence<UInt8>) { bytes += raw }

  /// Appends a number of four bytes.
  mutating func add(number: Int) {
    let value = UInt32(truncatingIfNeeded: number)
    bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  /// Appends bytes with their length.
  mutating func add(string: some Collection<UInt8>) {
    add(number: string.count)
    bytes += string
  }

  /// Appends a positive integer as an `mpint`, which has no leading zeros.
  mutating func add(integer: [UInt8]) {
    let digits = integer.drop { $0 == 0 }
    // The first bit is the sign.
    add(string: (digits.first ?? 0) & 0x80 == 0 ? Array(digits) : [0] + digits)
  }
}
