import SQLite
import System

/// The first hundred bytes of an SQLite file, looked at before SQLite does.
struct StoreFileHeader {
  private let bytes: [UInt8]

  init(path: String) throws(SystemError) {
    let file = try Files.openRegular(path)
    var bytes = [UInt8](repeating: 0, count: 100)
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

  /// Whether the file says that it is an SQLite database.
  var isDatabase: Bool { bytes.count == 100 && bytes.starts(with: Connection.fileMagic) }

  /// Bytes of a page; the largest is written as 1.
  var pageSize: Int {
    let size = Int(bytes[16]) << 8 | Int(bytes[17])
    return size == 1 ? 65536 : size
  }

  /// What in the header no SQLite file has; nil for a sound one.
  var fault: String? {
    let size = pageSize
    guard size >= 512 && size & (size - 1) == 0 else { return "a page size of \(size)" }
    guard (1...2).contains(bytes[18]), (1...2).contains(bytes[19]) else {
      return "an unknown file format version"
    }
    guard Array(bytes[21..<24]) == [64, 32, 32] else { return "impossible payload fractions" }
    let usable = size - Int(bytes[20])
    guard usable >= 480 else { return "\(bytes[20]) reserved bytes a page" }
    guard (1...4).contains(word(44)) else { return "schema format \(word(44))" }
    guard word(56) == 1 else { return "a text encoding other than UTF-8" }
    return nil
  }

  private func word(_ at: Int) -> UInt32 {
    bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }
}
