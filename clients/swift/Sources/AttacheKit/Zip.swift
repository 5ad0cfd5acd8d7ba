import CAttacheZlib
import Foundation

/// Reads the zips of bundles and deltas.
struct ZipReader {
  struct Entry {
    let name: String
    let bytes: Int
    fileprivate let isDeflated: Bool
    fileprivate let crc: UInt32
    fileprivate let packed: Range<Int>
  }

  /// The entries in the order of the archive.
  let entries: [Entry]
  private let file: FileHandle
  private static let damaged = Refusal(.archive, "the archive is damaged")

  /// A part of the archive, whose numbers are little-endian.
  private struct Bytes {
    let data: Data
    /// The place of the part in the archive.
    let start: Int

    func number(_ place: Int, _ count: Int) throws -> Int {
      let offset = place - start
      guard offset >= 0, offset <= data.count - count else { throw damaged }
      return (0..<count).reversed().reduce(0) {
        $0 << 8 | Int(data[data.startIndex + offset + $1])
      }
    }

    func number64(_ place: Int) throws -> Int {
      let (low, high) = (try number(place, 4), try number(place + 4, 4))
      guard high < 1 << 30 else { throw damaged }
      return low | high << 32
    }
  }

  init(_ url: URL) throws {
    guard let file = try? FileHandle(forReadingFrom: url) else {
      throw Refusal(.archive, "\(url.path) cannot be read")
    }
    try self.init(file)
  }

  init(_ file: FileHandle) throws {
    self.file = file
    guard let size = (try? file.seekToEnd()).flatMap({ Int(exactly: $0) }), size >= 22 else {
      throw Self.damaged
    }
    let tail = try Self.bytes(of: file, max(0, size - 65_557), size)
    guard
      let end = try (tail.start...size - 22).reversed().first(where: {
        try tail.number($0, 4) == 0x0605_4B50
      })
    else { throw Self.damaged }
    var (count, place) = (try tail.number(end + 10, 2), try tail.number(end + 16, 4))
    if count == 0xFFFF || place == 0xFFFF_FFFF {
      guard end >= 20, try Self.bytes(of: file, end - 20, end).number(end - 20, 4) == 0x0706_4B50
      else { throw Self.damaged }
      let record = try Self.bytes(of: file, end - 12, end - 4).number64(end - 12)
      let fields = try Self.bytes(of: file, record, record + 56)
      (count, place) = (try fields.number64(record + 32), try fields.number64(record + 48))
    }
    let directory = try Self.bytes(of: file, place, end)
    var entries: [Entry] = []
    while entries.count < count {
      guard try directory.number(place, 4) == 0x0201_4B50,
        try directory.number(place + 8, 2) & 1 == 0
      else { throw Self.damaged }
      let nameCount = try directory.number(place + 28, 2)
      let extraCount = try directory.number(place + 30, 2)
      let after = place + 46 + nameCount
      guard after + extraCount <= end,
        let name = String(
          data: directory.data.dropFirst(place + 46 - directory.start).prefix(nameCount),
          encoding: .utf8)
      else { throw Self.damaged }
      var values = [
        try directory.number(place + 24, 4), try directory.number(place + 20, 4),
        try directory.number(place + 42, 4),
      ]
      var extra = after
      while extra + 4 <= after + extraCount {
        let (kind, size) = (try directory.number(extra, 2), try directory.number(extra + 2, 2))
        if kind == 1 {
          var field = extra + 4
          for index in values.indices where values[index] == 0xFFFF_FFFF {
            values[index] = try directory.number64(field)
            field += 8
          }
        }
        extra += 4 + size
      }
      let (method, start) = (try directory.number(place + 10, 2), values[2])
      guard method == 0 || method == 8, start <= size - 30 else { throw Self.damaged }
      let header = try Self.bytes(of: file, start, start + 30)
      guard try header.number(start, 4) == 0x0403_4B50 else { throw Self.damaged }
      let content = try start + 30 + header.number(start + 26, 2) + header.number(start + 28, 2)
      guard values[1] <= size - content, method == 8 || values[0] == values[1] else {
        throw Self.damaged
      }
      entries.append(
        Entry(
          name: name, bytes: values[0], isDeflated: method == 8,
          crc: UInt32(try directory.number(place + 16, 4)), packed: content..<content + values[1]))
      place = after + extraCount + (try directory.number(place + 32, 2))
    }
    self.entries = entries
  }

  /// Reads a part, which a file that was cut off meanwhile lacks.
  private static func bytes(of file: FileHandle, _ start: Int, _ end: Int) throws -> Bytes {
    guard start >= 0, start <= end else { throw damaged }
    var data = Data()
    do {
      try file.seek(toOffset: UInt64(start))
      while data.count < end - start,
        let more = try file.read(upToCount: end - start - data.count), !more.isEmpty
      { data.append(more) }
    } catch { throw damaged }
    guard data.count == end - start else { throw damaged }
    return Bytes(data: data, start: start)
  }

  /// Reads a whole entry of at most `limit` bytes.
  func read(_ entry: Entry, limit: Int) throws -> Data {
    guard entry.bytes <= limit else { throw Refusal(.archive, "\(entry.name) is too large") }
    var content = Data()
    try read(entry) { content.append($0) }
    return content
  }

  /// Passes the content of an entry on in parts; its size and its CRC are checked.
  func read(_ entry: Entry, _ body: (Data) throws -> Void) throws {
    var (crc, total) = (crc32(0, nil, 0), 0)
    func pass(_ part: Data) throws {
      total += part.count
      guard total <= entry.bytes else { throw Self.damaged }
      crc = part.withUnsafeBytes {
        crc32(crc, $0.bindMemory(to: UInt8.self).baseAddress, uInt($0.count))
      }
      try body(part)
    }
    let part = 1 << 18
    var stream = z_stream()
    if entry.isDeflated {
      guard inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
      else { throw Self.damaged }
    }
    defer { if entry.isDeflated { inflateEnd(&stream) } }
    var isAtEnd = !entry.isDeflated
    for start in stride(from: entry.packed.lowerBound, to: entry.packed.upperBound, by: part) {
      let end = min(start + part, entry.packed.upperBound)
      var input = [UInt8](try Self.bytes(of: file, start, end).data)
      guard entry.isDeflated else {
        try pass(Data(input))
        continue
      }
      try input.withUnsafeMutableBufferPointer { input in
        (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
        var isFull = true
        while (stream.avail_in > 0 || isFull), !isAtEnd {
          var output = [UInt8](repeating: 0, count: part)
          let status = output.withUnsafeMutableBufferPointer { output in
            (stream.next_out, stream.avail_out) = (output.baseAddress, uInt(part))
            return inflate(&stream, Z_NO_FLUSH)
          }
          guard status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR else {
            throw Self.damaged
          }
          isAtEnd = status == Z_STREAM_END
          isFull = stream.avail_out == 0
          try pass(Data(output.prefix(part - Int(stream.avail_out))))
        }
      }
    }
    guard isAtEnd, total == entry.bytes, UInt32(crc) == entry.crc else { throw Self.damaged }
  }
}

/// Writes the zip of a return.
struct ZipWriter {
  private let file: FileHandle
  private var directory = Data()
  private var count = 0
  private var place = 0

  init(_ url: URL) throws {
    try Data().write(to: url)
    file = try FileHandle(forWritingTo: url)
  }

  /// Adds a file; `read` returns its next part, and an empty one at its end.
  mutating func add(_ name: String, _ read: () throws -> Data) throws {
    var stream = z_stream()
    let status = deflateInit2_(
      &stream, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      Int32(MemoryLayout<z_stream>.size))
    guard status == Z_OK else { throw CocoaError(.fileWriteUnknown) }
    defer { deflateEnd(&stream) }
    let (start, path) = (place, Data(name.utf8))
    // The sizes follow the content, so that it is read once.
    let header = [(0x0403_4B50, 4)] + Self.common(0, 0, 0) + [(path.count, 2), (0, 2)]
    try write(Self.fields(header) + path)
    var (crc, total, packed) = (crc32(0, nil, 0), 0, 0)
    var isAtEnd = false
    while !isAtEnd {
      var input = [UInt8](try read())
      isAtEnd = input.isEmpty
      total += input.count
      let output = try input.withUnsafeMutableBufferPointer { input -> Data in
        if !input.isEmpty { crc = crc32(crc, input.baseAddress, uInt(input.count)) }
        (stream.next_in, stream.avail_in) = (input.baseAddress, uInt(input.count))
        var all = Data()
        repeat {
          var output = [UInt8](repeating: 0, count: 1 << 18)
          let status = output.withUnsafeMutableBufferPointer { output in
            (stream.next_out, stream.avail_out) = (output.baseAddress, uInt(output.count))
            return deflate(&stream, isAtEnd ? Z_FINISH : Z_NO_FLUSH)
          }
          guard status >= Z_OK || status == Z_BUF_ERROR else {
            throw CocoaError(.fileWriteUnknown)
          }
          all.append(contentsOf: output.prefix(output.count - Int(stream.avail_out)))
        } while stream.avail_out == 0
        return all
      }
      packed += output.count
      try write(output)
    }
    guard max(total, place) < 0xFFFF_FFFF else { throw CocoaError(.fileWriteOutOfSpace) }
    let sizes = [(Int(crc), 4), (packed, 4), (total, 4)]
    try write(Self.fields([(0x0807_4B50, 4)] + sizes))
    let ending = [(0, 2), (0, 2), (0, 2), (0, 2), (0o100600 << 16, 4), (start, 4)]
    let fields =
      [(0x0201_4B50, 4), (0x0314, 2)] + Self.common(Int(crc), packed, total) + [(path.count, 2)]
    directory += Self.fields(fields + ending) + path
    count += 1
  }

  mutating func finish() throws {
    let start = place
    try write(directory)
    let size = directory.count
    try write(
      Self.fields(
        [(0x0605_4B50, 4), (0, 4), (count, 2), (count, 2), (size, 4), (start, 4), (0, 2)]))
    try file.synchronize()
    try file.close()
  }

  private mutating func write(_ bytes: Data) throws {
    try file.write(contentsOf: bytes)
    place += bytes.count
  }

  private static func common(_ crc: Int, _ packed: Int, _ total: Int) -> [(Int, Int)] {
    // Version 2.0, sizes after the content and names in UTF-8, deflate, 1980-01-01.
    [(20, 2), (0x0808, 2), (8, 2), (0, 2), (0x21, 2), (crc, 4), (packed, 4), (total, 4)]
  }

  private static func fields(_ fields: [(value: Int, bytes: Int)]) -> Data {
    fields.reduce(into: Data()) { data, field in
      for byte in 0..<field.bytes {
        data.append(UInt8(truncatingIfNeeded: field.value >> (8 * byte)))
      }
    }
  }
}
