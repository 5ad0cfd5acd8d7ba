import System

/// The bytes of a store's file that nothing uses: unused pages, the space between the cells of a
/// b-tree page, and the end of an overflow page (https://www.sqlite.org/fileformat2.html).
///
/// SQLite's `secure_delete` overwrites what is deleted. But when SQLite distributes cells among
/// pages again, copies of them remain in the unused space of the pages.
final class UnusedBytes {
  private let file: FileDescriptorHandle
  private let pageSize: Int
  /// The bytes of a page that SQLite uses; the rest is reserved.
  private let usable: Int
  private let firstFree: Int
  private var seen: [Bool]
  private let page: UnsafeMutableRawBufferPointer
  /// The page with only what is used; everything else is zero.
  private let kept: UnsafeMutableRawBufferPointer

  /// A cell: its size, the child on its left, and the part of its payload on overflow pages.
  private struct Cell {
    var size = 0
    var child: Int?
    var rest: (page: Int, bytes: Int)?
  }

  /// Opens a store's file, which must have no `-wal`.
  init(_ path: String) throws {
    let file = try PageFile.mapping(path) { () throws(SystemError) in
      try FileDescriptorHandle.updating(path)
    }
    var header = [UInt8](repeating: 0, count: 100)
    let (count, bytes) = try header.withUnsafeMutableBytes { header in
      try PageFile.mapping(path) { () throws(SystemError) in
        (try file.read(into: header, at: 0), try file.status().size)
      }
    }
    let head = header.withUnsafeBytes { (size: $0.number16(at: 16), free: $0.number32(at: 32)) }
    let size = head.size == 1 ? 65536 : head.size
    guard count == header.count, size >= 512, size - Int(header[20]) >= 480 else {
      throw StoreError.damaged(path: path, reason: "its header is not that of a database")
    }
    self.file = file
    pageSize = size
    usable = size - Int(header[20])
    firstFree = head.free
    seen = [Bool](repeating: false, count: Int(bytes) / size + 1)
    page = .allocate(byteCount: size, alignment: 16)
    kept = .allocate(byteCount: size, alignment: 16)
  }

  deinit {
    page.deallocate()
    kept.deallocate()
  }

  /// Clears them in the free pages and in the trees with these roots, which must be all.
  ///
  /// Only pages that change are written. It may be interrupted at any point: no used byte changes.
  func clear(trees roots: [Int]) throws {
    try clearFreePages()
    var open = Array(roots.reversed())
    while let number = open.popLast() {
      try read(number)
      try clearTreePage(number, &open)
    }
  }

  private func clearFreePages() throws {
    var trunk = firstFree
    while trunk != 0 {
      try read(trunk)
      let next = bytes.number32(at: 0)
      let count = bytes.number32(at: 4)
      let end = 8 + 4 * count
      guard end <= usable else { throw damaged(trunk) }
      let leaves = (0..<count).map { bytes.number32(at: 8 + 4 * $0) }
      keep(0..<end)
      try write(trunk)
      for leaf in leaves {
        try read(leaf)
        try write(leaf)
      }
      trunk = next
    }
  }

  private func clearTreePage(_ number: Int, _ open: inout [Int]) throws {
    let start = number == 1 ? 100 : 0
    guard let kind = TreePage.Kind(rawValue: bytes[start]) else { throw damaged(number) }
    let pointers = start + kind.header
    let count = bytes.number16(at: start + 3)
    guard pointers + 2 * count <= usable else { throw damaged(number) }
    keep(0..<pointers + 2 * count)
    var block = bytes.number16(at: start + 1)
    while block != 0 {
      guard block + 4 <= usable else { throw damaged(number) }
      keep(block..<block + 4)
      let next = bytes.number16(at: block)
      guard next == 0 || next > block else { throw damaged(number) }
      block = next
    }
    if !kind.isLeaf { open.append(bytes.number32(at: start + 8)) }
    var rests: [(page: Int, bytes: Int)] = []
    for index in (0..<count).reversed() {
      let place = bytes.number16(at: pointers + 2 * index)
      guard let cell = cell(at: place, kind) else { throw damaged(number) }
      keep(place..<place + cell.size)
      if let child = cell.child { open.append(child) }
      if let rest = cell.rest { rests.append(rest) }
    }
    try write(number)
    for rest in rests { try clearEnd(of: rest) }
  }

  /// Reads a cell; returns nil if it is not within its page.
  private func cell(at place: Int, _ kind: TreePage.Kind) -> Cell? {
    var cell = Cell()
    var at = place
    if !kind.isLeaf {
      guard at + 4 <= usable else { return nil }
      cell.child = bytes.number32(at: at)
      at += 4
    }
    var payload = 0
    if kind != .tableBranch {
      guard let count = varint(&at), let count = Int(exactly: count) else { return nil }
      payload = count
    }
    let isTable = kind == .tableLeaf || kind == .tableBranch
    if isTable, varint(&at) == nil { return nil }
    let local = TreeCell.local(payload, isTable: isTable, usable: usable)
    at += local
    if local < payload {
      guard at + 4 <= usable else { return nil }
      cell.rest = (bytes.number32(at: at), payload - local)
      at += 4
    }
    // A smaller cell occupies four bytes too.
    cell.size = max(at - place, 4)
    return place + cell.size <= usable ? cell : nil
  }

  private func varint(_ at: inout Int) -> UInt64? {
    var value: UInt64 = 0
    for index in 0..<9 {
      guard at < usable else { return nil }
      let byte = bytes[at]
      at += 1
      if index == 8 { return value << 8 | UInt64(byte) }
      value = value << 7 | UInt64(byte & 0x7f)
      if byte < 0x80 { return value }
    }
    return value
  }

  /// Clears the end of the last of the overflow pages of a payload.
  private func clearEnd(of rest: (page: Int, bytes: Int)) throws {
    var (number, left) = rest
    while left > usable - 4 {
      try read(number, 4)
      number = bytes.number32(at: 0)
      left -= usable - 4
    }
    try read(number)
    keep(0..<4 + left)
    try write(number)
  }

  // MARK: pages

  private var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(page) }

  /// Reads a page, or its start; no page belongs to two others.
  private func read(_ number: Int, _ count: Int? = nil) throws {
    guard number > 0, number < seen.count, !seen[number] else { throw damaged(number) }
    seen[number] = true
    let place = UnsafeMutableRawBufferPointer(rebasing: page[..<(count ?? pageSize)])
    let found = try PageFile.mapping(file.path) { () throws(SystemError) in
      try file.read(into: place, at: (number - 1) * pageSize)
    }
    guard found == place.count else { throw damaged(number) }
    kept.initializeMemory(as: UInt8.self, repeating: 0)
  }

  private func keep(_ range: Range<Int>) {
    UnsafeMutableRawBufferPointer(rebasing: kept[range])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
  }

  /// Writes the page with only what is kept, if that differs.
  private func write(_ number: Int) throws {
    keep(usable..<pageSize)
    guard let old = page.baseAddress, let new = kept.baseAddress,
      ByteOrder.compare(old, new, pageSize) != 0
    else { return }
    try PageFile.mapping(file.path) { () throws(SystemError) in
      try file.write(UnsafeRawBufferPointer(kept), at: (number - 1) * pageSize)
    }
  }

  private func damaged(_ number: Int) -> StoreError {
    .damaged(path: file.path, reason: "page \(number) is not a sound part of a database")
  }
}

extension UnsafeRawBufferPointer {
  fileprivate func number16(at offset: Int) -> Int {
    Int(UInt16(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt16.self)))
  }

  fileprivate func number32(at offset: Int) -> Int {
    Int(UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
  }
}
