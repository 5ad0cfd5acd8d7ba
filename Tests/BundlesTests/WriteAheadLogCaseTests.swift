import Bundles
import JSON
import Returns
import SQLite
import SmartStore
import System
import TestSupport
import Testing

/// A log as bytes, written here from the description of the format alone.
struct HandMadeLog {
  struct Frame {
    var page: UInt32
    /// Pages of the database after it, for a commit; else 0.
    var pages: UInt32
    var content: [UInt8]
    /// What is done to the finished frame.
    var change: (inout [UInt8]) -> Void = { _ in }
    /// Frames of an earlier round bear other salts.
    var isOld = false
  }

  var frames: [Frame] = []
  var version: UInt32 = 3_007_000
  var pageSize: UInt32 = 4096
  var isBigEndian = false
  var salts: [UInt32] = [7, 0x8000_1234]

  /// The frames of a log that SQLite wrote.
  static func frames(of bytes: [UInt8]) -> [Frame] {
    stride(from: 32, to: bytes.count, by: 24 + 4096).map { at in
      func word(_ offset: Int) -> UInt32 {
        bytes[(at + offset)..<(at + offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
      }
      return Frame(
        page: word(0), pages: word(4), content: Array(bytes[(at + 24)..<(at + 24 + 4096)]))
    }
  }

  var bytes: [UInt8] {
    var sum: (UInt32, UInt32) = (0, 0)
    func words(_ values: [UInt32]) -> [UInt8] {
      values.flatMap {
        [UInt8($0 >> 24), UInt8($0 >> 16 & 255), UInt8($0 >> 8 & 255), UInt8($0 & 255)]
      }
    }
    func add(_ bytes: [UInt8]) {
      for at in stride(from: 0, to: bytes.count, by: 8) {
        func word(_ at: Int) -> UInt32 {
          let four = Array(bytes[at..<at + 4])
          return (isBigEndian ? four : four.reversed()).reduce(0) { $0 << 8 | UInt32($1) }
        }
        sum.0 = sum.0 &+ word(at) &+ sum.1
        sum.1 = sum.1 &+ word(at + 4) &+ sum.0
      }
    }
    let head = words([0x377f_0682 | (isBigEndian ? 1 : 0), version, pageSize, 0] + salts)
    add(head)
    var result = head + words([sum.0, sum.1])
    for frame in frames {
      let before = sum
      let place = words([frame.page, frame.pages])
      add(place)
      add(frame.content)
      let bears = frame.isOld ? [salts[0] - 1, 0x1111_2222] : salts
      var whole = place + words(bears + [sum.0, sum.1]) + frame.content
      frame.change(&whole)
      if frame.isOld { sum = before }
      result += whole
    }
    return result
  }
}

/// What a device's last edits may stand in, in every state that a file can have.
@Suite struct WriteAheadLogCaseTests {
  /// What becomes of a store with a log.
  enum Outcome: Equatable, Sendable {
    /// The name of the first account, and whether something unfinished is told.
    case read(String, told: Bool)
    case refused(Refusal.Code)
  }

  /// A store on a device with two commits in its log, and that log.
  struct Device {
    let directory = TemporaryDirectory()
    let store: [UInt8]
    let log: [UInt8]
    /// How many frames the first commit has.
    let first: Int

    init() throws {
      let issued = try Issued(.android, in: directory)
      let device = try Connection(issued.storePath)
      try device.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0")
      func edit(_ name: String) throws {
        try device.execute(
          """
          UPDATE TABLE_1 SET lastModified = lastModified + 1,
            soup = json_set(soup, '$.Name', '\(name)') WHERE id IN (1, 20)
          """)
      }
      try edit("one")
      first = (Int(try Files.size(of: issued.storePath + "-wal")) - 32) / 4120
      try edit("two")
      store = try Files.read(issued.storePath)
      log = try Files.read(issued.storePath + "-wal")
      device.close()
    }

    func outcome(_ log: [UInt8], _ number: Int = 0) throws -> Outcome {
      let path = directory.file("returned\(number).db")
      try DurableFile.write(store, to: path)
      try DurableFile.write(log, to: path + "-wal")
      defer {
        for used in [path, path + "-wal", directory.file("root")] { try? Files.remove(used) }
      }
      do {
        let validated = try Issued.validate(path, in: directory)
        let opened = try Store(untrusted: validated.stores[0].path)
        let text = try opened.retrieve([1], from: "accounts").first ?? "{}"
        try opened.close()
        return .read(
          try JSONValue(parsing: text)["Name"]?.string ?? "",
          told: validated.notes.contains { $0.contains("never finished") })
      } catch let refusal as Refusal {
        return .refused(refusal.code)
      }
    }
  }

  static let both = Outcome.read("two", told: false)
  static let cases: [(String, @Sendable (inout HandMadeLog, Int) -> Void, Outcome)] = [
    ("as SQLite would write it", { _, _ in }, both),
    ("with checksums of big-endian words", { log, _ in log.isBigEndian = true }, both),
    ("without a frame", { log, _ in log.frames = [] }, .read("Account é 0", told: false)),
    ("of another version", { log, _ in log.version = 3_007_001 }, .refused(.log)),
    ("of other pages", { log, _ in log.pageSize = 8192 }, .refused(.log)),
    (
      "without its second commit",
      { log, first in log.frames.removeLast(log.frames.count - first) },
      .read("one", told: false)
    ),
    (
      "whose second change has no commit", { log, _ in log.frames[log.frames.count - 1].pages = 0 },
      .read("one", told: true)
    ),
    (
      "with a torn frame behind", { log, _ in add(&log) { $0.removeLast(100) } },
      .read("two", told: true)
    ),
    (
      "with the salts of a torn frame", { log, _ in add(&log) { $0.removeLast(24 + 4096 - 16) } },
      .read("two", told: true)
    ),
    (
      "with a torn frame too short for salts",
      { log, _ in add(&log) { $0.removeLast(24 + 4096 - 9) } }, both
    ),
    (
      "with a wrong frame behind", { log, _ in add(&log) { $0[2000] ^= 1 } },
      .read("two", told: true)
    ),
    (
      "with a frame behind that bears one salt", { log, _ in add(&log) { $0[13] ^= 1 } },
      .read("two", told: true)
    ),
    (
      "with a wrong and a right frame behind",
      { log, _ in
        add(&log) { $0[2000] ^= 1 }
        add(&log) { _ in }
      }, .refused(.log)
    ),
    (
      "with a wrong and half a frame behind",
      { log, _ in
        add(&log) { $0[2000] ^= 1 }
        add(&log) { $0.removeLast(3000) }
      }, .refused(.log)
    ),
    (
      "with old frames behind",
      { log, _ in
        for _ in 0..<3 { add(&log, isOld: true) { _ in } }
      }, both
    ),
    (
      "with an old frame before one of its own",
      { log, _ in
        add(&log, isOld: true) { _ in }
        add(&log) { _ in }
      }, .refused(.log)
    ),
    (
      "with an old frame in the midst",
      { log, _ in
        log.frames.insert(
          .init(page: 1, pages: 0, content: log.frames[0].content, isOld: true), at: 1)
      }, .refused(.log)
    ),
    (
      "wrong in its first frame", { log, _ in log.frames[0].change = { $0[100] ^= 0x10 } },
      .refused(.log)
    ),
    (
      "wrong in its first commit",
      { log, first in log.frames[first - 1].change = { $0[4] ^= 0x10 } }, .refused(.log)
    ),
    (
      "wrong in its last commit",
      { log, _ in log.frames[log.frames.count - 1].change = { $0[30] ^= 1 } },
      .read("one", told: true)
    ),
    ("with a frame of page 0", { log, _ in log.frames[0].page = 0 }, .refused(.log)),
    (
      "that says it makes the file larger than any",
      { log, _ in log.frames[log.frames.count - 1].pages = 1 << 30 }, .refused(.tooLarge)
    ),
  ]

  /// A frame behind all others, of a change that was never committed.
  private static func add(
    _ log: inout HandMadeLog, isOld: Bool = false, _ change: @escaping (inout [UInt8]) -> Void
  ) {
    log.frames.append(
      .init(page: 2, pages: 0, content: log.frames[0].content, change: change, isOld: isOld))
  }

  @Test(arguments: cases.indices)
  func `a log is read to its last commit, or refused where it is damaged`(index: Int) throws {
    let (name, change, expected) = Self.cases[index]
    let device = try Device()
    var log = HandMadeLog(frames: HandMadeLog.frames(of: device.log))
    try #require(device.first > 1 && log.frames.count > device.first + 1)
    change(&log, device.first)
    #expect(try device.outcome(log.bytes) == expected, "a log \(name)")
  }

  @Test func `a header that is cut off or changed in any bit is damage`() throws {
    let device = try Device()
    #expect(try device.outcome(device.log) == Self.both)
    for length in [1, 8, 24, 31] {
      #expect(try device.outcome(Array(device.log[..<length])) == .refused(.log), "\(length) bytes")
    }
    #expect(
      try device.outcome([UInt8](repeating: 0, count: device.log.count)) == .refused(.log), "zeros")
    for bit in 0..<(32 * 8) where bit % 5 == 0 {
      var log = device.log
      log[bit / 8] ^= 1 << UInt8(bit % 8)
      #expect(try device.outcome(log) == .refused(.log), "bit \(bit)")
    }
  }

  @Test func `a bit that flips anywhere in a log is refused, changes nothing, or is told`() throws {
    let seed = UInt64.random(in: 0..<1 << 32)
    print("flipped logs: seed \(seed)")
    var draw = seed
    func next(_ limit: Int) -> Int {
      draw = draw &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(draw >> 33) % limit
    }
    let device = try Device()
    let frame = 24 + 4096
    for number in 0..<120 {
      var log = device.log
      // A third of the flips in the headers of frames.
      let isHeader = number % 3 == 0
      let byte =
        isHeader ? 32 + next((log.count - 32) / frame) * frame + next(24) : next(log.count)
      log[byte] ^= 1 << UInt8(next(8))
      switch try device.outcome(log, number) {
      case .refused: break
      case .read(let name, let told):
        #expect(name == "two" || told, "seed \(seed): byte \(byte) of \(log.count)")
      }
    }
  }
}
