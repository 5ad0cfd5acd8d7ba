import SQLite
import SmartStore
import System

/// The `-wal` of a store, looked at before SQLite does.
///
/// SQLite takes the first frame that is wrong for the log's end, and so must it be: a log may end in
/// a write that was torn, or in old frames under older salts. In one that was damaged on its way the
/// same rule would drop what the device did last, without a word. So a log is damaged where its
/// header is wrong, or where frames that bear the header's salts follow one that is wrong
/// (https://www.sqlite.org/walformat.html).
struct WriteAheadLog {
  /// What is wrong with a log, as the end of a sentence about it.
  struct Damage: Error, Hashable {
    let words: String
  }

  /// Pages of the database as the last commit leaves it; nil where nothing is committed.
  private(set) var committedPages: UInt32?
  /// Bytes of a page.
  let pageSize: Int
  /// Whether something of this log stands behind its last commit: it was never finished.
  private(set) var hasUnfinished = false

  private let salts: [UInt8]
  private let isBigEndian: Bool
  /// The checksum of all before, which every frame goes on from.
  private var sum: (UInt32, UInt32)
  private var brokenFrame: Int?
  /// Pages that stand in it up to its last commit, and those behind that.
  private var committed: Set<UInt32> = []
  private var pending: [UInt32] = []

  private static let headerSize = 32
  private static let frameHeaderSize = 24

  /// Reads a log through; throws `Damage`, or what the disk throws.
  init(path: String) throws {
    let file = try Files.openRegular(path)
    let header = try Self.read(Self.headerSize, of: file)
    guard header.count == Self.headerSize else { throw Damage(words: "is cut off in its header") }
    let magic = Self.word(header, 0)
    guard magic & ~1 == 0x377f_0682 else { throw Damage(words: "does not begin as a log does") }
    isBigEndian = magic & 1 == 1
    sum = (0, 0)
    pageSize = Int(Self.word(header, 8))
    salts = Array(header[16..<24])
    add(header[..<24])
    guard sum == (Self.word(header, 24), Self.word(header, 28)) else {
      throw Damage(words: "has a wrong checksum in its header")
    }
    guard Self.word(header, 4) == 3_007_000 else { throw Damage(words: "is of an unknown version") }
    guard (512...65536).contains(pageSize), pageSize & (pageSize - 1) == 0 else {
      throw Damage(words: "has a page size of \(pageSize)")
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
    let isOurs = frame.count >= 16 && frame[8..<16].elementsEqual(salts)
    if let brokenFrame {
      if isOurs { throw Damage(words: "is damaged in frame \(brokenFrame)") }
      return
    }
    let before = sum
    if isWhole, isOurs, Self.word(frame, 0) != 0 {
      add(frame[..<8])
      add(frame[Self.frameHeaderSize...])
      if sum == (Self.word(frame, 16), Self.word(frame, 20)) {
        let pages = Self.word(frame, 4)
        pending.append(Self.word(frame, 0))
        hasUnfinished = pages == 0
        if pages != 0 {
          committedPages = pages
          committed.formUnion(pending)
          pending = []
        }
        return
      }
    }
    sum = before
    brokenFrame = number
    // Old frames have two other salts: the first is counted up, the second drawn.
    let bearsOne =
      frame.count >= 16
      && (frame[8..<12].elementsEqual(salts[..<4]) || frame[12..<16].elementsEqual(salts[4...]))
    if bearsOne { hasUnfinished = true }
  }

  /// The first page of the database that neither stands in the log nor as a whole in a file of so many bytes; nil
  /// where none is missing.
  func missingPage(beside bytes: Int64) -> Int64? {
    guard let committedPages else { return nil }
    let (size, last) = (Int64(pageSize), Int64(committedPages))
    let first = bytes / size + 1
    guard first <= last else { return nil }
    return (first...last).first { page in
      // SQLite locks bytes of this one, and never writes it.
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

  private static func word(_ bytes: [UInt8], _ at: Int) -> UInt32 {
    bytes[at..<at + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  private static func read(
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

extension ReturnValidator {
  /// Folds the log of a private copy into it; answers whether something in it was never finished.
  func foldLog(of path: String, _ name: String) throws -> Bool {
    let log: WriteAheadLog
    do {
      log = try WriteAheadLog(path: path + "-wal")
    } catch let damage as WriteAheadLog.Damage {
      throw refusal(name, damage.words)
    }
    let header = try StoreFileHeader(path: path)
    guard header.pageSize == log.pageSize else {
      throw refusal(name, "belongs to a file with other pages")
    }
    let bytes = Int64(log.committedPages ?? 0) * Int64(log.pageSize)
    guard bytes <= expected.fileBytes else {
      throw Refusal.tooLarge(name, than: expected.fileBytes, beside: " with its -wal")
    }
    if let page = try log.missingPage(beside: Files.size(of: path)) {
      throw Refusal.unsound(name, "is cut off in page \(page), which its -wal does not hold")
    }
    try refusingDamage(name) {
      try Connection.foldLog(untrusted: path)
    }
    if log.committedPages != nil, try Files.size(of: path) != bytes {
      throw refusal(name, "was not folded in whole")
    }
    return log.hasUnfinished
  }

  private func refusal(_ name: String, _ words: String) -> Refusal {
    Refusal(
      .log, "the -wal of \(name) \(words)",
      fix: "run PRAGMA wal_checkpoint(TRUNCATE) in the app, or hand the store back again with its "
        + "-wal as it is")
  }
}
