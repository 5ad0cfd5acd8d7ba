import System

/// The end of a store's file, where a bulk load appends finished pages.
///
/// SQLite does not know of them: between two of its transactions, pages are appended and the
/// header's page count is updated (https://www.sqlite.org/fileformat2.html). The change counter in
/// the header makes SQLite discard its cache of the file and append its own pages after them.
/// Appended pages that are not yet part of a tree are unused space: if a load ends early, the file
/// must be discarded.
package final class PageFile {
  package static let size = SQLCipherPages.size
  /// The number of pages that are written at once.
  private static let room = 64

  private let file: FileDescriptorHandle
  /// The number of the page that stays empty.
  private let lockPage: UInt32
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: size * room, alignment: 16)
  /// The number of the buffer's first page.
  private var first: UInt32 = 0
  private var used = 0
  private var changes: UInt32 = 0

  /// Opens a store's file; nil if it does not have the layout of stores that attache creates.
  package init?(_ path: String, lockPage: Int = SQLCipherPages.lockPage) throws {
    let opened = try Self.mapping(path) { () throws(SystemError) in
      try FileDescriptorHandle.updating(path)
    }
    file = opened
    self.lockPage = UInt32(lockPage)
    guard try isOurs() else { return nil }
  }

  deinit { buffer.deallocate() }

  /// Starts appending at the current end of the file.
  func begin() throws {
    guard try isOurs() else {
      throw StoreError.damaged(path: file.path, reason: "its layout changed during the load")
    }
  }

  private func isOurs() throws -> Bool {
    used = 0
    return try withHeader { header in
      changes = header.number(at: 24)
      first = header.number(at: 28) + 1
      // The magic and page size, rollback journal, the reserved bytes, a valid page count, the
      // schema format, no auto-vacuum pointers, UTF-8.
      return header.bytes(at: 16, 4) == [0x10, 0, 1, 1] && header.bytes(at: 20, 1) == [80]
        && header.number(at: 92) == changes && header.number(at: 44) == 4
        && header.number(at: 52) == 0 && header.number(at: 56) == 1
    }
  }

  /// Appends a page of zeros that `body` fills, and passes its number; returns the number.
  @discardableResult
  func append(_ body: (UnsafeMutableRawPointer, UInt32) -> Void) throws -> UInt32 {
    if first + UInt32(used) == lockPage { _ = try take() }
    let page = try take()
    let number = first + UInt32(used - 1)
    body(page, number)
    return number
  }

  /// Appends a finished page; returns its number.
  func append(_ page: UnsafeRawPointer) throws -> UInt32 {
    if first + UInt32(used) == lockPage { _ = try take() }
    if used == Self.room { try flush() }
    (buffer + used * Self.size).copyMemory(from: page, byteCount: Self.size)
    used += 1
    return first + UInt32(used - 1)
  }

  private func take() throws -> UnsafeMutableRawPointer {
    if used == Self.room { try flush() }
    let page = buffer + used * Self.size
    page.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size)
    used += 1
    return page
  }

  /// The number of the page after `number`.
  func number(after number: UInt32) -> UInt32 {
    number + 1 == lockPage ? number + 2 : number + 1
  }

  /// Overwrites an existing page: the root of a tree, which must be empty as SQLite creates it.
  package func overwrite(_ number: UInt32, _ bytes: UnsafeRawPointer) throws {
    let page = UnsafeRawBufferPointer(start: bytes, count: Self.size)
    guard let kind = page.first, try isEmptyRoot(number, isTable: kind == 13 || kind == 5) else {
      throw StoreError.damaged(
        path: file.path, reason: "page \(number) is not an empty root, as it should be")
    }
    try Self.mapping(file.path) { () throws(SystemError) in
      try file.write(page, at: (Int(number) - 1) * Self.size)
    }
  }

  /// Whether a page is the root of a tree of this kind without cells.
  func isEmptyRoot(_ number: UInt32, isTable: Bool) throws -> Bool {
    guard number > 1, number < first else { return false }
    return try withUnsafeTemporaryAllocation(byteCount: 8, alignment: 8) { head in
      let count = try Self.mapping(file.path) { () throws(SystemError) in
        try file.read(into: head, at: (Int(number) - 1) * Self.size)
      }
      return count == 8 && head[0] == (isTable ? 13 : 10) && head[3] == 0 && head[4] == 0
    }
  }

  /// Writes the remaining pages and updates the header, so that SQLite may use the file again.
  func end() throws {
    try flush()
    let count = first - 1
    try withHeader { header in
      header.set(changes &+ 1, at: 24)
      header.set(count, at: 28)
      header.set(changes &+ 1, at: 92)
      let raw = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(header)[24..<96])
      try Self.mapping(file.path) { () throws(SystemError) in try file.write(raw, at: 24) }
    }
  }

  private func flush() throws {
    let pages = UnsafeRawBufferPointer(start: buffer, count: used * Self.size)
    try Self.mapping(file.path) { () throws(SystemError) in
      try file.write(pages, at: (Int(first) - 1) * Self.size)
    }
    first += UInt32(used)
    used = 0
  }

  private func withHeader<T>(_ body: (UnsafeMutableRawBufferPointer) throws -> T) throws -> T {
    try withUnsafeTemporaryAllocation(byteCount: 100, alignment: 8) { header in
      let count = try Self.mapping(file.path) { () throws(SystemError) in
        try file.read(into: header, at: 0)
      }
      guard count == 100 else {
        throw StoreError.damaged(path: file.path, reason: "its header is truncated")
      }
      return try body(header)
    }
  }

  /// Wraps a failure of the disk as an error of a store's file.
  package static func mapping<T: ~Copyable>(
    _ path: String, _ body: () throws(SystemError) -> T
  ) throws(StoreError) -> T {
    do {
      return try body()
    } catch {
      throw StoreError(error, at: path)
    }
  }
}

extension UnsafeMutableRawBufferPointer {
  fileprivate func number(at offset: Int) -> UInt32 {
    UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
  }

  fileprivate func set(_ number: UInt32, at offset: Int) {
    storeBytes(of: number.bigEndian, toByteOffset: offset, as: UInt32.self)
  }

  fileprivate func bytes(at offset: Int, _ count: Int) -> [UInt8] {
    Array(self[offset..<(offset + count)])
  }
}
