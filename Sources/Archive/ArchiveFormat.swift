/// The archive formats of a bundle.
package enum ArchiveFormat: String, CaseIterable, Sendable, Hashable {
  /// Zip with deflate, which every device can open.
  case zip
  /// Tar, compressed with gzip.
  case tarGz = "tar.gz"
  /// Tar, compressed with Zstandard: the fastest format, and the smallest files.
  case tarZst = "tar.zst"

  /// The compression levels of the format.
  package var levels: ClosedRange<Int> { self == .tarZst ? 1...19 : 0...9 }

  /// The level for bytes that do not become smaller: they are stored, as far as the format can.
  package var leastLevel: Int { levels.lowerBound }

  /// The format that matches the extension of a file name.
  package init?(path: String) {
    guard let format = ArchiveFormat.allCases.first(where: { path.hasSuffix("." + $0.rawValue) })
    else { return nil }
    self = format
  }

  /// The format that matches the first bytes of a file.
  package init?(firstBytes bytes: [UInt8]) {
    if bytes.starts(with: [0x50, 0x4B, 0x03, 0x04]) {
      self = .zip
      // The compression method is part of the check. A sealed store starts with 16 random bytes,
      // which can easily match two bytes by chance.
    } else if bytes.starts(with: [0x1F, 0x8B, 0x08]) {
      self = .tarGz
    } else if bytes.starts(with: [0x28, 0xB5, 0x2F, 0xFD]) {
      self = .tarZst
    } else {
      return nil
    }
  }
}
