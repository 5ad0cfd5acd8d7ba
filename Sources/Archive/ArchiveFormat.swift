/// The kinds of archive that a bundle can be.
package enum ArchiveFormat: String, CaseIterable, Sendable, Hashable {
  /// Deflated zip, which every device can open.
  case zip
  /// Tar, compressed by gzip.
  case tarGz = "tar.gz"
  /// Tar, compressed by Zstandard: the quickest and the smallest.
  case tarZst = "tar.zst"

  /// The compression levels that the format has.
  package var levels: ClosedRange<Int> { self == .tarZst ? 1...19 : 0...9 }

  /// The format that a file's name promises.
  package init?(path: String) {
    guard let format = ArchiveFormat.allCases.first(where: { path.hasSuffix("." + $0.rawValue) })
    else { return nil }
    self = format
  }

  /// The format that a file's first bytes show.
  package init?(firstBytes bytes: [UInt8]) {
    if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
      self = .zip
      // With the method: a sealed store begins with 16 random bytes, and two are soon met.
    } else if bytes.starts(with: [0x1F, 0x8B, 0x08]) {
      self = .tarGz
    } else if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
      self = .tarZst
    } else {
      return nil
    }
  }
}
