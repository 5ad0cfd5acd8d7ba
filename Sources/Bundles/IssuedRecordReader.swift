import Archive

/// Reads a base from its beginning, with bounded memory.
package struct IssuedRecordReader: Sendable {
  private let path: String

  /// Names the base; it is opened by each reading.
  package init(path: String) { self.path = path }

  /// Hands every record to `body` in the order of (soup, Id).
  package func forEach(_ body: (IssuedRecord) throws -> Void) throws {
    try scan { record in
      try body(record)
      return true
    }
  }

  /// The records of `ids` in one soup, by Id; those that are not in the base are left out.
  package func lookup(
    soup: String, ids: some Sequence<String>
  ) throws(BundleError) -> [String: IssuedRecord] {
    let wanted = Set(ids)
    var found: [String: IssuedRecord] = [:]
    try BundleError.mapping {
      if wanted.isEmpty { return }
      try scan { record in
        if record.soup == soup, wanted.contains(record.id) { found[record.id] = record }
        let isBehind = soup.utf8.lexicographicallyPrecedes(record.soup.utf8)
        return found.count < wanted.count && !isBehind
      }
    }
    return found
  }

  /// Hands records to `body` until it answers false.
  private func scan(_ body: (IssuedRecord) throws -> Bool) throws {
    var stream = try Stream(path)
    guard try stream.bytes(IssuedRecordFormat.magic.count) == IssuedRecordFormat.magic else {
      throw stream.damage("is no base of a format that this program reads")
    }
    var count: UInt64 = 0
    while true {
      let mark = try stream.bytes(1)[0]
      if mark == IssuedRecordFormat.endMark {
        guard try stream.number(UInt64.self) == count else {
          throw stream.damage("has another number of records than it says")
        }
        return
      }
      guard mark == IssuedRecordFormat.recordMark else {
        throw stream.damage("has no record where one should be")
      }
      let record = try stream.record()
      count += 1
      if try !body(record) { return }
    }
  }

  /// The decompressed bytes, a piece at a time.
  private struct Stream {
    let path: String
    let file: CompressedFileReader
    var piece: [UInt8] = []
    var at = 0

    init(_ path: String) throws {
      self.path = path
      file = try CompressedFileReader(path: path)
    }

    func damage(_ reason: String) -> BundleError {
      .damaged(path: path, file: "the base", reason: reason)
    }

    mutating func bytes(_ count: Int) throws -> [UInt8] {
      var result: [UInt8] = []
      while result.count < count {
        if at == piece.count { try refill() }
        let take = min(count - result.count, piece.count - at)
        result.append(contentsOf: piece[at..<at + take])
        at += take
      }
      return result
    }

    private mutating func refill() throws {
      var fresh = [UInt8](repeating: 0, count: 1 << 17)
      let count = try fresh.withUnsafeMutableBytes { try file.read(into: $0) }
      if count == 0 { throw damage("ends too early") }
      piece = Array(fresh[..<count])
      at = 0
    }

    mutating func number<I: FixedWidthInteger>(_: I.Type) throws -> I {
      try bytes(MemoryLayout<I>.size).reversed().reduce(0) { $0 << 8 | I($1) }
    }

    mutating func part() throws -> [UInt8]? {
      let length = try number(UInt32.self)
      if length == IssuedRecordFormat.absent { return nil }
      guard Int(length) <= IssuedRecordFormat.longestPart else {
        throw damage("has a part that is too long")
      }
      return try bytes(Int(length))
    }

    mutating func text() throws -> String? {
      try part().map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func record() throws -> IssuedRecord {
      guard let soup = try text(), let id = try text() else {
        throw damage("has a record without a soup or an Id")
      }
      let modified = try text()
      let stamp = try text()
      let lastModified = try text().flatMap { Int64($0) }
      guard let fields = try part() else { throw damage("has a record without fields") }
      return IssuedRecord(
        soup: soup, id: id, modified: modified, stamp: stamp, lastModified: lastModified,
        fields: fields)
    }
  }
}
