/// The checksum of Zstandard's content: XXH64 with seed 0 (RFC 8878, section 3.1.1).
package struct XXHash64 {
  private static let primes: (UInt64, UInt64, UInt64, UInt64, UInt64) = (
    0x9E37_79B1_85EB_CA87, 0xC2B2_AE3D_27D4_EB4F, 0x1656_67B1_9E37_79F9, 0x85EB_CA77_C2B2_AE63,
    0x27D4_EB2F_1656_67C5
  )
  private var lanes: (UInt64, UInt64, UInt64, UInt64)
  private var rest: [UInt8] = []
  private var count: UInt64 = 0

  package init() {
    let (one, two) = (Self.primes.0, Self.primes.1)
    lanes = (one &+ two, two, 0, 0 &- one)
  }

  private static func turned(_ value: UInt64, _ bits: UInt64) -> UInt64 {
    value << bits | value >> (64 - bits)
  }

  private static func round(_ lane: UInt64, _ word: UInt64) -> UInt64 {
    turned(lane &+ word &* primes.1, 31) &* primes.0
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    count += UInt64(bytes.count)
    var bytes = bytes[...]
    if !rest.isEmpty {
      let missing = min(32 - rest.count, bytes.count)
      rest.append(contentsOf: bytes.prefix(missing))
      bytes = bytes.dropFirst(missing)
      guard rest.count == 32 else { return }
      rest.withUnsafeBytes { Self.add($0, to: &lanes) }
      rest.removeAll(keepingCapacity: true)
    }
    let whole = bytes.count & ~31
    Self.add(UnsafeRawBufferPointer(rebasing: bytes.prefix(whole)), to: &lanes)
    rest.append(contentsOf: bytes.dropFirst(whole))
  }

  private static func add(
    _ stripes: UnsafeRawBufferPointer, to lanes: inout (UInt64, UInt64, UInt64, UInt64)
  ) {
    var (one, two, three, four) = lanes
    func word(_ at: Int) -> UInt64 {
      UInt64(littleEndian: stripes.loadUnaligned(fromByteOffset: at, as: UInt64.self))
    }
    var at = 0
    while at < stripes.count {
      one = round(one, word(at))
      two = round(two, word(at + 8))
      three = round(three, word(at + 16))
      four = round(four, word(at + 24))
      at += 32
    }
    lanes = (one, two, three, four)
  }

  /// The checksum of all added bytes.
  package var value: UInt64 {
    let (first, second, third, fourth, fifth) = Self.primes
    var hash: UInt64
    if count >= 32 {
      let (one, two, three, four) = lanes
      hash =
        Self.turned(one, 1) &+ Self.turned(two, 7) &+ Self.turned(three, 12)
        &+ Self.turned(four, 18)
      for lane in [one, two, three, four] {
        hash = (hash ^ Self.round(0, lane)) &* first &+ fourth
      }
    } else {
      hash = fifth
    }
    hash = hash &+ count
    var at = 0
    while at + 8 <= rest.count {
      let word = (0..<8).reduce(UInt64(0)) { $0 | UInt64(rest[at + $1]) << UInt64(8 * $1) }
      hash = Self.turned(hash ^ Self.round(0, word), 27) &* first &+ fourth
      at += 8
    }
    if at + 4 <= rest.count {
      let word = (0..<4).reduce(UInt64(0)) { $0 | UInt64(rest[at + $1]) << UInt64(8 * $1) }
      hash = Self.turned(hash ^ word &* first, 23) &* second &+ third
      at += 4
    }
    while at < rest.count {
      hash = Self.turned(hash ^ UInt64(rest[at]) &* fifth, 11) &* first
      at += 1
    }
    hash = (hash ^ hash >> 33) &* second
    hash = (hash ^ hash >> 29) &* third
    return hash ^ hash >> 32
  }
}
