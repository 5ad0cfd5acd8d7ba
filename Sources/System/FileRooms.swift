import Glibc

/// Rooms of memory for the bytes of whole files: each is taken by one at a time, and used again by the next.
///
/// Memory that is new costs as much as the reading: the kernel fills it with zeros, page by page.
package final class FileRooms: Sendable {
  /// The place of a room that nobody has.
  fileprivate struct Place: Sendable {
    let address: UInt
    let count: Int
  }

  private let free = Locked<[Place]>([])
  /// The largest file that a room is made for, and the bytes behind it.
  private let (most, margin): (Int, Int)

  /// No room yet; each may come to have so many bytes, and has more behind them that hold nothing.
  package init(most: Int, margin: Int = 0) { (self.most, self.margin) = (most, margin) }

  deinit { for place in free.withLock({ $0 }) { FileRoom.release(place) } }

  /// Lends a room for the time of `body`.
  package func lending<Answer>(_ body: (FileRoom) throws -> Answer) rethrows -> Answer {
    let room = FileRoom(free.withLock { $0.popLast() }, most: most, margin: margin)
    defer { if let place = room.leave() { free.withLock { $0.append(place) } } }
    return try body(room)
  }
}

/// Room for the bytes of a file, for whoever has taken it.
package final class FileRoom {
  private var place: FileRooms.Place?
  private let (most, margin): (Int, Int)
  /// The bytes that were put into it last; they stay until it is given back.
  package var content: UnsafeMutableRawBufferPointer?

  fileprivate init(_ place: FileRooms.Place?, most: Int, margin: Int) {
    (self.place, self.most, self.margin) = (place, most, margin)
  }

  /// Room for so many bytes; nil where that is too much, or more than there is.
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
