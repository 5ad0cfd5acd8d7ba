import System

/// The `-shm` next to a store: SQLite's index of the `-wal`, which counts the committed frames.
///
/// Only this count is read (https://www.sqlite.org/walformat.html, "The WAL-Index File Format").
package struct WriteAheadIndex {
  /// One of the two copies of the header.
  private struct Header {
    let frames: UInt32
    let salts: [UInt8]
  }

  private var headers: [Header] = []
  /// The number of frames that are already in the database file.
  private let foldedFrames: UInt32

  /// The number of bytes read from the start of the file.
  static let headerSize = 136
  private static let copySize = 48

  /// Reads the index of a store's log; nil if it is missing or unusable.
  package init?(path: String) throws {
    guard Files.exists(path) else { return nil }
    let bytes = try WriteAheadLog.read(Self.headerSize, of: Files.openRegular(path))
    guard bytes.count == Self.headerSize else { return nil }
    // In the device's byte order, which is little-endian on every platform of the SDKs.
    func word(_ at: Int) -> UInt32 { WriteAheadLog.word(bytes, at).byteSwapped }
    foldedFrames = word(2 * Self.copySize)
    for at in [0, Self.copySize] where word(at) == 3_007_000 && bytes[at + 12] == 1 {
      headers.append(Header(frames: word(at + 16), salts: Array(bytes[at + 32..<at + 40])))
    }
    if headers.isEmpty { return nil }
  }

  /// Returns the number of committed frames that are missing from the log or, if there is no log,
  /// from the database file; nil if none is missing.
  func framesMissing(from log: WriteAheadLog?) -> UInt32? {
    headers.compactMap { header -> UInt32? in
      guard let log else { return header.frames > foldedFrames ? header.frames : nil }
      let isOfLog = header.salts == log.salts
      let isLater = WriteAheadLog.rounds(from: log.salts, to: header.salts) > 0
      guard isOfLog || isLater, header.frames > (isOfLog ? log.committedFrames : 0) else {
        return nil
      }
      return header.frames
    }.max()
  }

  /// Whether it counts exactly the committed frames of a log, so that none is missing from it.
  func isOf(_ log: WriteAheadLog) -> Bool {
    headers.contains { $0.salts == log.salts && $0.frames == log.committedFrames }
  }

  /// Copies the used part of an index to a new file.
  package static func copyHeader(of path: String, to copy: String) throws {
    let bytes = try WriteAheadLog.read(headerSize, of: Files.openRegular(path))
    try Files.createNew(copy).write(bytes)
  }
}
