import SQLite
import SmartStore
import System

/// The `-wal` of a store, checked before SQLite reads it.
///
/// SQLite reads a log up to the first invalid frame, and ignores the rest. If a log was damaged in
/// transit, the device's last edits would be lost silently. After the last commit, only whole
/// frames of an uncommitted change and frames of earlier rounds of the log are allowed; everything
/// else is damage (https://www.sqlite.org/walformat.html).
struct WriteAheadLog {
  /// The fault of a log, as the end of a sentence.
  struct Damage: Error, Hashable {
    let words: String
  }

  /// The size of the database in pages after the last commit; nil if nothing is committed.
  private(set) var committedPages: UInt32?
  /// The number of frames up to the last commit.
  private(set) var committedFrames: UInt32 = 0
  /// The page size in bytes.
  let pageSize: Int
  /// Whether the log has frames after its last commit, of a change that was not completed.
  private(set) var hasUnfinished = false

  /// The salts in the header of each frame of this round.
  let salts: [UInt8]
  private let isBigEndian: Bool
  /// The running checksum, which each frame continues.
  private var sum: (UInt32, UInt32)
  /// The index of the first frame that does not continue this round.
  private var firstForeign: Int?
  /// The pages in the log up to its last commit, and those after it.
  private var committed: Set<UInt32> = []
  private var pending: [UInt32] = []

  private static let headerSize = 32
  private static let frameHeaderSize = 24

  /// Reads the whole log.
  ///
  /// Throws `Damage`, or the disk's error.
  init(path: String) throws {
    let file = try Files.openRegular(path)
    let header = try Self.read(Self.headerSize, of: file)
    guard header.count == Self.headerSize else { throw Damage(words: "is truncated in its header") }
    let magic = Self.word(header, 0)
    guard magic & ~1 == 0x377f_0682 else { throw Damage(words: "does not start like a log") }
    isBigEndian = magic & 1 == 1
    sum = (0, 0)
    pageSize = Int(Self.word(header, 8))
    salts = Array(header[16..<24])
    add(header[..<24])
    guard sum == (Self.word(header, 24), Self.word(header, 28)) else {
      throw Damage(words: "has a wrong checksum in its header")
    }
    guard Self.word(header, 4) == 3_007_000 else { throw Damage(words: "has an unknown version") }
    guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
      throw Damage(words: "has an invalid page size of \(pageSize)")
    }
    var number = 0
    while true {
      let frame = try Self.read(Self.frameHeaderSize + pageSize, of: file)
      if frame.isEmpty { return }
      number += 1
      try take(frame, number)
    }
  }

  private mutating func take(_ frame: [UInt8], _ number: Int) throws(Damage) {
    let isWhole = frame.count == Self.frameHeaderSize + pageSize
    if firstForeign == nil, isWhole, continues(frame) {
      let pages = Self.word(frame, 4)
      pending.append(Self.word(frame, 0))
      hasUnfinished = pages == 0
      if pages != 0 {
        committedPages = pages
        committedFrames = UInt32(number)
        committed.formUnion(pending)
        pending = []
      }
      return
    }
    let first = firstForeign ?? number
    firstForeign = first
    guard isOfEarlierRound(frame) else {
      throw Damage(
        words: isWhole || first < number
          ? "is damaged in frame \(first)" : "is truncated in frame \(number)")
    }
  }

  /// Whether a frame continues the current round.
  private mutating func continues(_ frame: [UInt8]) -> Bool {
    guard frame[8..<16].elementsEqual(salts), Self.word(frame, 0) != 0 else { return false }
    add(frame[..<8])
    add(frame[Self.frameHeaderSize...])
    return sum == (Self.word(frame, 16), Self.word(frame, 20))
  }

  /// Whether a frame belongs to an earlier round of the log.
  ///
  /// `journal_size_limit` may have truncated it.
  private func isOfEarlierRound(_ frame: [UInt8]) -> Bool {
    guard frame.count >= 16, Self.word(frame, 0) != 0 else { return false }
    return Self.rounds(from: Array(frame[8..<16]), to: salts) > 0
  }

  /// Returns the number of rounds between two pairs of salts: negative if the second is earlier, 0
  /// if they are unrelated.
  ///
  /// Each round adds 1 to the first salt and draws the second at random.
  static func rounds(from one: [UInt8], to other: [UInt8]) -> Int {
    let difference = Int(Int32(bitPattern: word(other, 0) &- word(one, 0)))
    guard abs(difference) <= mostRounds, !one[4...].elementsEqual(other[4...]) else { return 0 }
    return difference
  }

  /// More rounds than a device starts before it deletes its log, but few enough that noise is not
  /// taken for a salt.
  private static let mostRounds = 1 << 16

  /// Returns the first page of the database that is neither in the log nor complete in a file of
  /// the given size; nil if none is missing.
  func missingPage(beside bytes: Int64) -> Int64? {
    guard let committedPages else { return nil }
    let (size, last) = (Int64(pageSize), Int64(committedPages))
    let first = bytes / size + 1
    guard first <= last else { return nil }
    return (first...last).first { page in
      // SQLite locks bytes of this page, and never writes it.
      page != Self.lockedByte / size + 1 && !committed.contains(UInt32(page))
    }
  }

  private static let lockedByte: Int64 = 1 << 30

  private mutating func add(_ bytes: ArraySlice<UInt8>) {
    bytes.withUnsafeBytes { raw in
      var (first, second) = sum
      for at in stride(from: 0, to: raw.count, by: 8) {
        let one = raw.loadUnaligned(fromByteOffset: at, as: UInt32.self)
        let two = raw.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
        first &+= (isBigEndian ? UInt32(bigEndian: one) : UInt32(littleEndian: one)) &+ second
        second &+= (isBigEndian ? UInt32(bigEndian: two) : UInt32(littleEndian: two)) &+ first
      }
      sum = (first, second)
    }
  }

  fileprivate static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
    bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  fileprivate static func read(
    _ count: Int, of file: borrowing FileDescriptorHandle
  ) throws(SystemError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var failure: SystemError?
    let found = bytes.withUnsafeMutableBytes { raw -> Int in
      do throws(SystemError) { return try file.read(into: raw) } catch {
        failure = error
        return 0
      }
    }
    if let failure { throw failure }
    return Array(bytes[..<found])
  }
}

/// The `-shm` next to a store: SQLite's index of the `-wal`, which counts the committed frames.
///
/// Only this count is read (https://www.sqlite.org/walformat.html, "The WAL-Index File Format").
struct WriteAheadIndex {
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
  init?(path: String) throws {
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

  /// Copies the used part of an index to a new file.
  static func copyHeader(of path: String, to copy: String) throws {
    let bytes = try WriteAheadLog.read(headerSize, of: Files.openRegular(path))
    try Files.createNew(copy).write(bytes)
  }
}

extension ReturnValidator {
  /// Merges the log of a private copy into it, and returns whether it contained an uncommitted
  /// change.
  ///
  /// Refuses a log that lacks frames which its index counts as committed.
  func foldLog(of path: String, _ name: String, _ index: WriteAheadIndex?) throws -> Bool {
    let log: WriteAheadLog
    do {
      log = try WriteAheadLog(path: path + "-wal")
    } catch let damage as WriteAheadLog.Damage {
      throw refusal(name, damage.words)
    }
    if let frames = index?.framesMissing(from: log) {
      throw refusal(
        name,
        "has \(log.committedFrames) committed frames of its round, and its -shm counts \(frames)"
      )
    }
    let header = try StoreFileHeader(path: path)
    guard header.pageSize == log.pageSize else {
      throw refusal(name, "belongs to a file with another page size")
    }
    let bytes = Int64(log.committedPages ?? 0) * Int64(log.pageSize)
    guard bytes <= expected.fileBytes else {
      throw Refusal.tooLarge(name, than: expected.fileBytes, beside: " with its -wal")
    }
    if let page = try log.missingPage(beside: Files.size(of: path)) {
      throw Refusal.unsound(name, "is truncated in page \(page), which its -wal does not contain")
    }
    try refusingDamage(name) {
      try Connection.foldLog(untrusted: path)
    }
    if log.committedPages != nil, try Files.size(of: path) != bytes {
      throw refusal(name, "was not merged completely")
    }
    return log.hasUnfinished
  }

  /// Refuses a store without a log if its index counts committed frames that are missing from the
  /// file.
  func requireNoLog(of path: String, _ name: String, _ index: WriteAheadIndex?) throws {
    guard let frames = index?.framesMissing(from: nil), try StoreFileHeader(path: path).hasLog
    else { return }
    throw refusal(name, "is missing, and the -shm counts \(frames) committed frames")
  }

  private func refusal(_ name: String, _ words: String) -> Refusal {
    Refusal(
      .log, "the -wal of \(name) \(words)",
      fix:
        "run PRAGMA wal_checkpoint(TRUNCATE) in the app, or have the device send its store again with the "
        + "unchanged -wal")
  }
}
