import Archive

/// The file of issued records in data directories of format 1, used only for the conversion to the
/// next format: `bases/<snapshot>/<generation>.base`.
///
/// A stream compressed with Zstandard: a magic number, each record as lengths and bytes, and an end
/// with the number of records, so that a truncated file is never taken for a complete one.
package enum FirstIssuedRecordFile {
  private static let magic = Array("attache-base 1\n".utf8)
  private static let recordMark: UInt8 = 1
  private static let endMark: UInt8 = 0
  /// The length that means an absent part.
  private static let absent = UInt32.max
  /// The maximum length of a part in bytes.
  private static let longestPart = 64 << 20

  /// Calls `body` with every record, with its SystemModstamp as text if it was requested.
  package static func forEach(
    _ path: String, _ body: (IssuedRecord, _ systemModstamp: String?) throws -> Void
  ) throws(SnapshotError) {
    try SnapshotError.mapping {
      var stream = Stream(path: path, file: try CompressedFileReader(path: path))
      guard try stream.bytes(magic.count) == magic else {
        throw stream.damage("have an unknown format")
      }
      var count: UInt64 = 0
      while true {
        switch try stream.bytes(1)[0] {
        case endMark:
          guard try stream.number(UInt64.self) == count else {
            throw stream.damage("do not have the number of records that their end says")
          }
          return
        case recordMark:
          let (record, stamp) = try stream.record()
          try body(record, stamp)
          count += 1
        default: throw stream.damage("have other data where a record should be")
        }
      }
    }
  }

  /// The decompressed bytes, piece by piece.
  private struct Stream {
    let path: String
    let file: CompressedFileReader
    var piece: [UInt8] = []
    var at = 0

    func damage(_ reason: String) -> SnapshotError {
      .damaged(path: path, file: "the issued records", reason: reason)
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
      if count == 0 { throw damage("are truncated") }
      piece = Array(fresh[..<count])
      at = 0
    }

    mutating func number<I: FixedWidthInteger>(_: I.Type) throws -> I {
      try bytes(MemoryLayout<I>.size).reversed().reduce(0) { $0 << 8 | I($1) }
    }

    private mutating func part() throws -> [UInt8]? {
      let length = try number(UInt32.self)
      if length == absent { return nil }
      guard Int(length) <= longestPart else { throw damage("have a part that is too long") }
      return try bytes(Int(length))
    }

    private mutating func text() throws -> String? {
      try part().map { String(decoding: $0, as: UTF8.self) }
    }

    mutating func record() throws -> (IssuedRecord, systemModstamp: String?) {
      guard let soup = try text(), let id = try text() else {
        throw damage("have a record without a soup or an ID")
      }
      let modified = try text()
      let stamp = try text()
      let lastModified = try text().flatMap { Int64($0) }
      guard let fields = try part() else { throw damage("have a record without fields") }
      return (
        IssuedRecord(
          soup: soup, id: id, modified: modified, lastModified: lastModified, fields: fields), stamp
      )
    }
  }
}
