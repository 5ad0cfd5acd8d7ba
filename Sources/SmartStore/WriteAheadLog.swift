import System

/// The `-wal` of a store, checked before SQLite reads it.
///
/// SQLite reads a log up to the first invalid frame, and ignores the rest. If a log was damaged in
/// transit, the device's last edits would be lost silently. After the last commit, only whole
/// frames of an uncommitted change and frames of earlier rounds of the log are allowed; everything
/// else is damage (https://www.sqlite.org/walformat.html).
package struct WriteAheadLog {
  /// The fault of a log, as the end of a sentence.
  package struct Damage: Error, Hashable {
    package let words: String
  }

  /// The size of the database in pages after the last commit; nil if nothing is committed.
  package private(set) var committedPages: UInt32?
  /// The number of frames up to the last commit.
  private(set) var committedFrames: UInt32 = 0
  /// The page size in bytes.
  package let pageSize: Int
  /// Whether the log has frames after its last commit, of a change that was not completed.
  package private(set) var hasUnfinished = false

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

  /// The page that is neither in the log nor complete in a file of the given size, as the end of a
  /// sentence about the file; nil if none is missing.
  package func shortage(beside bytes: Int64) -> String? {
    guard let committedPages else { return nil }
    let (size, last) = (Int64(pageSize), Int64(committedPages))
    let first = bytes / size + 1
    guard first <= last else { return nil }
    let missing = (first...last).first { page in
      // SQLite locks bytes of this page, and never writes it.
      page != Self.lockedByte / size + 1 && !committed.contains(UInt32(page))
    }
    return missing.map { "is truncated in page \($0), which its -wal does not contain" }
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

  static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
    bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  static func read(
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

extension WriteAheadLog {
  /// Reads the log next to a store whose index is given; nil if there is none, or an empty one.
  ///
  /// Throws `Damage` if a change that was committed is missing.
  package static func checked(
    of path: String, _ index: WriteAheadIndex?
  ) throws -> WriteAheadLog? {
    guard try isThere(beside: path) else {
      guard let frames = index?.framesMissing(from: nil), try StoreFileHeader(path: path).hasLog
      else { return nil }
      throw Damage(words: "is missing, and the -shm counts \(frames) committed frames")
    }
    let log = try WriteAheadLog(path: path + "-wal")
    if let frames = index?.framesMissing(from: log) {
      let found = log.committedFrames
      throw Damage(words: "has \(found) committed frames of its round, its -shm counts \(frames)")
    }
    let header = try StoreFileHeader(path: path)
    guard header.pageSize == log.pageSize else {
      throw Damage(words: "belongs to a file with another page size")
    }
    return log
  }

  private static func isThere(beside path: String) throws -> Bool {
    try Files.exists(path + "-wal") && Files.size(of: path + "-wal") > 0
  }

  /// The changes that SQLite would lose if it opened a store with its log, as the reason and the fix;
  /// nil if it would lose none.
  ///
  /// SQLite reads a log up to its first invalid frame, and deletes it afterwards. A log may also have
  /// been cut off within a change that was committed, unless the index shows that it was not.
  static func loss(at path: String) throws -> String? {
    guard Files.exists(path) else { return nil }
    // SQLite expects the log next to the file itself.
    return try lossReason(at: Files.resolved(path)).map { "\($0); \(fix)" }
  }

  private static func lossReason(at path: String) throws -> String? {
    let header = try StoreFileHeader(path: path)
    guard header.isDatabase else {
      // SQLite deletes a log next to an empty file.
      return try header.bytes.isEmpty && isThere(beside: path)
        ? "the file is empty, and its -wal is not" : nil
    }
    do {
      let index = try WriteAheadIndex(path: path + "-shm")
      guard let log = try checked(of: path, index) else { return nil }
      if log.hasUnfinished, index?.isOf(log) != true {
        throw Damage(words: "ends with a change that was never committed: it may have been cut off")
      }
      return try log.shortage(beside: Files.size(of: path)).map { "the file " + $0 }
    } catch let damage as Damage {
      return "its -wal " + damage.words
    }
  }

  private static let fix =
    "copy it again with its -wal, or run PRAGMA wal_checkpoint(TRUNCATE) in the app first; the same "
    + "PRAGMA on the copy keeps what SQLite can read of it"
}
