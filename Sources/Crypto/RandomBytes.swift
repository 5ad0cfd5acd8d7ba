import CCrypto

/// Cryptographically secure random bytes.
package enum RandomBytes {
  /// Returns `count` random bytes.
  package static func make(_ count: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let status = RAND_bytes(&bytes, Int32(count))
    precondition(status == 1, "no source of randomness")
    return bytes
  }

  /// Fills a buffer with random bytes.
  package static func fill(_ place: UnsafeMutableRawBufferPointer) {
    let bytes = place.bindMemory(to: UInt8.self)
    let status = RAND_bytes(bytes.baseAddress, Int32(bytes.count))
    precondition(status == 1, "no source of randomness")
  }

  /// A random UUID (version 4) in lower case.
  package static func uuid() -> String {
    var bytes = make(16)
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let parts = [bytes[0..<4], bytes[4..<6], bytes[6..<8], bytes[8..<10], bytes[10..<16]]
    return parts.map { Hex.encode($0) }.joined(separator: "-")
  }
}
