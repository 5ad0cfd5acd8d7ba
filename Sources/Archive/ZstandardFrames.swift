/// Follows the Zstandard frames in a stream of compressed bytes, and whether each frame has a
/// content checksum, which the format makes optional (RFC 8878, section 3.1.1).
struct ZstandardFrames {
  private enum Place { case magic, skippableSize, descriptor, block, garbage }

  /// Whether every frame so far has a content checksum.
  private(set) var areChecked = true
  /// The number of frames started so far.
  private(set) var count = 0
  private var place = Place.magic
  private var collected: [UInt8] = []
  private var skip = 0
  private var hasChecksum = false
  private var isLast = false

  /// Whether the bytes end at the end of a frame and contain nothing else.
  var isWhole: Bool { place == .magic && collected.isEmpty && skip == 0 && count > 0 }

  /// Processes the next compressed bytes.
  mutating func take(_ bytes: UnsafeRawBufferPointer) {
    var at = 0
    while at < bytes.count, place != .garbage {
      if skip > 0 {
        let step = min(skip, bytes.count - at)
        skip -= step
        at += step
        continue
      }
      collected.append(bytes[at])
      at += 1
      step()
    }
  }

  private mutating func step() {
    let number = collected.reversed().reduce(0) { $0 << 8 | Int($1) }
    switch (place, collected.count) {
    case (.magic, 4):
      if number == 0xFD2F_B528 {
        place = .descriptor
      } else {
        place = number & ~0xF == 0x184D_2A50 ? .skippableSize : .garbage
      }
    case (.skippableSize, 4):
      skip = number
      place = .magic
    case (.descriptor, 1):
      count += 1
      hasChecksum = number & 4 != 0
      if !hasChecksum { areChecked = false }
      let isSingle = number & 0x20 != 0
      skip = (isSingle ? 0 : 1) + [0, 1, 2, 4][number & 3]
      skip += number >> 6 == 0 ? (isSingle ? 1 : 0) : 1 << (number >> 6)
      place = .block
    case (.block, 3):
      isLast = number & 1 == 1
      let kind = number >> 1 & 3
      skip = (kind == 1 ? 1 : number >> 3) + (isLast && hasChecksum ? 4 : 0)
      place = kind == 3 ? .garbage : isLast ? .magic : .block
    default: return
    }
    collected.removeAll(keepingCapacity: true)
  }
}
