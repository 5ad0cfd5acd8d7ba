import SQLite
import System

/// The first hundred bytes of an SQLite file, checked before SQLite reads them.
package struct StoreFileHeader {
  private static let length = 100
  /// The bytes; fewer than a hundred in a shorter file.
  let bytes: [UInt8]

  /// Reads the header; a short file has fewer bytes.
  package init(path: String) throws(SystemError) {
    bytes = try WriteAheadLog.read(Self.length, of: Files.openRegular(path))
  }

  /// Rejects a store that is a pipe, a socket or a device, or has one next to it that SQLite would
  /// open.
  package static func checkFiles(of path: String) throws(SystemError) {
    for suffix in ["", "-wal", "-journal", "-shm"] { try Files.checkInput(path + suffix) }
  }

  /// Whether the file is long enough for a header.
  package var isWhole: Bool { bytes.count == Self.length }

  /// Whether the header is that of an SQLite database; that of a sealed one is not.
  package var isDatabase: Bool { isWhole && bytes.starts(with: Connection.fileMagic) }

  /// Whether the bytes are text: a sealed store has random bytes there.
  var isText: Bool {
    guard bytes.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) }) else {
      return false
    }
    // The last character may be cut off.
    return (0...3).contains { String(validating: bytes.dropLast($0), as: UTF8.self) != nil }
  }

  /// The fault of a file for which `isOtherKind` is true.
  static let otherKind = "it is not an SQLite file"

  /// Whether a file is neither a plain SQLite file nor a sealed one; an empty file is a database
  /// for SQLite.
  static func isOtherKind(_ path: String) throws(SystemError) -> Bool {
    let (head, size) = (try StoreFileHeader(path: path), try Files.size(of: path))
    return size > 0 && !head.isDatabase && (size < Int64(SQLCipherPages.size) || head.isText)
  }

  /// The number of reserved bytes at the end of each page.
  var reservedBytes: Int { Int(bytes[20]) }

  /// Whether changes are written to a `-wal` first.
  package var hasLog: Bool { isWhole && bytes[18] == 2 }

  /// The page size in bytes; the largest is encoded as 1.
  package var pageSize: Int {
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    return size == 1 ? 65536 : size
  }

  /// A value in the header that no SQLite file has; nil if the header is sound.
  package var fault: String? {
    let size = pageSize
    guard size >= 512 && size & (size - 1) == 0 else { return "a page size of \(size)" }
    guard (1...2).contains(bytes[18]), (1...2).contains(bytes[19]) else {
      return "an unknown file format version"
    }
    guard Array(bytes[21..<24]) == [64, 32, 32] else { return "impossible payload fractions" }
    let usable = size - reservedBytes
    guard usable >= 480 else { return "\(reservedBytes) reserved bytes per page" }
    guard (1...4).contains(word(44)) else { return "schema format \(word(44))" }
    guard word(56) == 1 else { return "a text encoding other than UTF-8" }
    return nil
  }

  /// The number of pages by the header; nil if the header does not have it and the file size
  /// counts, because the last writer did not know the field.
  private var pageCount: UInt32? {
    let pages = word(28)
    return pages > 0 && word(24) == word(92) ? pages : nil
  }

  /// The pages that a file of the given size lacks, as the end of a sentence about it; nil if it is
  /// complete.
  ///
  /// It may have additional bytes, and no page among them needs to be complete. A `-wal` next to it
  /// may contain missing pages. The header must be one of a database, without a fault.
  package func shortage(of bytes: Int64) -> String? {
    let (whole, rest) = bytes.quotientAndRemainder(dividingBy: Int64(pageSize))
    let pages = pageCount.map { Int64($0) } ?? whole + (rest > 0 ? 1 : 0)
    return whole < pages ? "is truncated in page \(whole + 1) of \(pages)" : nil
  }

  /// The number of bytes in a file of the given size after the pages in its header.
  package func surplus(of bytes: Int64) -> Int64 {
    max(0, bytes - (pageCount.map { Int64($0) * Int64(pageSize) } ?? bytes))
  }

  private func word(_ at: Int) -> UInt32 {
    bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
