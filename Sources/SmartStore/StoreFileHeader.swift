import SQLite
import System

/// The first hundred bytes of an SQLite file, looked at before SQLite does.
package struct StoreFileHeader {
  private static let length = 100
  /// Fewer than a hundred of a shorter file.
  let bytes: [UInt8]

  /// Reads them; a file may have fewer.
  package init(path: String) throws(SystemError) {
    let file = try Files.openRegular(path)
    var bytes = [UInt8](repeating: 0, count: Self.length)
    var failure: SystemError?
    let count = bytes.withUnsafeMutableBytes { raw -> Int in
      do throws(SystemError) { return try file.read(into: raw) } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    self.bytes = Array(bytes[..<count])
  }

  /// Refuses a store that is a pipe, a socket or a device, or has one beside it that SQLite would open.
  package static func checkFiles(of path: String) throws(SystemError) {
    for suffix in ["", "-wal", "-journal", "-shm"] { try Files.checkInput(path + suffix) }
  }

  /// Whether the file has room for a header.
  package var isWhole: Bool { bytes.count == Self.length }

  /// Whether the file says that it is an SQLite database: a sealed one does not.
  package var isDatabase: Bool { isWhole && bytes.starts(with: Connection.fileMagic) }

  /// Bytes that each page leaves free at its end.
  var reservedBytes: Int { Int(bytes[20]) }

  /// Whether changes go to a `-wal` first.
  package var hasLog: Bool { isWhole && bytes[18] == 2 }

  /// Bytes of a page; the largest is written as 1.
  package var pageSize: Int {
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    return size == 1 ? 65536 : size
  }

  /// What in the header no SQLite file has; nil for a sound one.
  package var fault: String? {
    let size = pageSize
    guard size >= 512 && size & (size - 1) == 0 else { return "a page size of \(size)" }
    guard (1...2).contains(bytes[18]), (1...2).contains(bytes[19]) else {
      return "an unknown file format version"
    }
    guard Array(bytes[21..<24]) == [64, 32, 32] else { return "impossible payload fractions" }
    let usable = size - reservedBytes
    guard usable >= 480 else { return "\(reservedBytes) reserved bytes a page" }
    guard (1...4).contains(word(44)) else { return "schema format \(word(44))" }
    guard word(56) == 1 else { return "a text encoding other than UTF-8" }
    return nil
  }

  /// Pages that the file has by its header; nil where that does not say, and its size counts: a program that does
  /// not know of the number wrote it last.
  private var pageCount: UInt32? {
    let pages = word(28)
    return pages > 0 && word(24) == word(92) ? pages : nil
  }

  /// What a file of so many bytes lacks, as the end of a sentence about it; nil for a whole one.
  ///
  /// It may have more than its header tells of, and of what more it has no page needs to be whole. A `-wal` beside
  /// it may hold what it lacks. The header has to be one of a database, without a fault.
  package func shortage(of bytes: Int64) -> String? {
    let (whole, rest) = bytes.quotientAndRemainder(dividingBy: Int64(pageSize))
    let pages = pageCount.map { Int64($0) } ?? whole + (rest > 0 ? 1 : 0)
    return whole < pages ? "is cut off in page \(whole + 1) of \(pages)" : nil
  }

  /// Bytes that a file of so many has behind the pages that its header tells of.
  package func surplus(of bytes: Int64) -> Int64 {
    max(0, bytes - (pageCount.map { Int64($0) * Int64(pageSize) } ?? bytes))
  }

  private func word(_ at: Int) -> UInt32 {
    bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
