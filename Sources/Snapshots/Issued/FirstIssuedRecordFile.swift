import Archive

/// The file of issued records that data directories of format 1 have, for the step to the next format
/// and nothing else: `bases/<snapshot>/<generation>.base`.
///
/// One stream, compressed by Zstandard: a marked beginning, each record as lengths and bytes, and an
/// end that says how many there were, so that a file cut short is never taken for a small one.
package enum FirstIssuedRecordFile {
  private static let magic = Array("attache-base 1\n".utf8)
  private static let recordMark: UInt8 = 1
  private static let endMark: UInt8 = 0
  /// The length that stands for an absent part.
  private static let absent = UInt32.max
  /// Bytes of the longest part that is read.
  private static let longestPart = 64 << 20

  /// Hands every record to `body`, with its SystemModstamp as text if it was asked for.
  package static func forEach(
    _ path: String, _ body: (IssuedRecord, _ systemModstamp: String?) throws -> Void
  ) throws(SnapshotError) {
    try SnapshotError.mapping {
      var stream = Stream(path: path, file: try CompressedFileReader(path: path))
      guard try stream.bytes(magic.count) == magic else {
        throw stream.damage("are in no format that this program reads")
      }
      var count: UInt64 = 0
      while true {
        switch try stream.bytes(1)[0] {
        case endMark:
          guard try stream.number(UInt64.self) == count else {
            throw stream.damage("have another number than their end says")
          }
          return
        case recordMark:
          let (record, stamp) = try stream.record()
          try body(record, stamp)
          count += 1
        default: throw stream.damage("have something else where a record should be")
        }
      }
    }
  }

  /// The decompressed bytes, a piece at a time.
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
      if count == 0 { throw damage("end too early") }
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
        throw damage("have one without a soup or an Id")
      }
      let modified = try text()
      let stamp = try text()
      let lastModified = try text().flatMap { Int64($0) }
      guard let fields = try part() else { throw damage("have one without fields") }
      return (
        IssuedRecord(
          soup: soup, id: id, modified: modified, lastModified: lastModified, fields: fields), stamp
      )
    }
  }
}
