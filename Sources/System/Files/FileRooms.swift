import Glibc

/// Memory buffers for the bytes of whole files.
///
/// One task uses each buffer at a time; it is then reused.
///
/// New memory costs as much as reading the file: the kernel fills it with zeros, page by page.
package final class FileRooms: Sendable {
  /// The position of a free buffer.
  fileprivate struct Place: Sendable {
    let address: UInt
    let count: Int
  }

  private let free = Locked<[Place]>([])
  /// The maximum size of a file, and the bytes after it.
  private let (most, margin): (Int, Int)

  /// Creates an empty pool.
  ///
  /// Each buffer may grow to the given size, followed by a margin of unused bytes.
  package init(most: Int, margin: Int = 0) { (self.most, self.margin) = (most, margin) }

  deinit { for place in free.withLock({ $0 }) { FileRoom.release(place) } }

  /// Lends a buffer to `body`.
  package func lending<Answer>(_ body: (FileRoom) throws -> Answer) rethrows -> Answer {
    let room = FileRoom(free.withLock { $0.popLast() }, most: most, margin: margin)
    defer { if let place = room.leave() { free.withLock { $0.append(place) } } }
    return try body(room)
  }
}

/// A buffer for the bytes of a file.
package final class FileRoom {
  private var place: FileRooms.Place?
  private let (most, margin): (Int, Int)
  /// The bytes stored last; valid until the buffer is returned.
  package var content: UnsafeMutableRawBufferPointer?

  fileprivate init(_ place: FileRooms.Place?, most: Int, margin: Int) {
    (self.place, self.most, self.margin) = (place, most, margin)
  }

  /// Reserves a number of bytes; nil if that exceeds the maximum or the available memory.
  package func reserve(_ bytes: Int) -> UnsafeMutableRawBufferPointer? {
    content = nil
    guard bytes > 0, bytes <= most else { return nil }
    let needed = bytes + margin
    if let place, place.count < needed {
      Self.release(place)
      self.place = nil
    }
    if place == nil {
      let found = mmap(nil, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
      guard let found, found != MAP_FAILED else { return nil }
      place = FileRooms.Place(address: UInt(bitPattern: found), count: needed)
    }
    return UnsafeMutableRawBufferPointer(
      start: place.flatMap { UnsafeMutableRawPointer(bitPattern: $0.address) }, count: bytes)
  }

  fileprivate func leave() -> FileRooms.Place? {
    content = nil
    defer { place = nil }
    return place
  }

  fileprivate static func release(_ place: FileRooms.Place) {
    munmap(UnsafeMutableRawPointer(bitPattern: place.address), place.count)
  }
}
