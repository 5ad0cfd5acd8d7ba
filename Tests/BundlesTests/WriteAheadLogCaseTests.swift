import Archive
import JSON
import Returns
import SQLite
import SmartStore
import System
import TestSupport
import Testing

/// The bytes of a log, written only from the description of the format.
struct HandMadeLog {
  struct Frame {
    var page: UInt32
    /// The number of database pages after a commit; otherwise 0.
    var pages: UInt32
    var content: [UInt8]
    var change: (inout [UInt8]) -> Void = { _ in }
    /// Whether the frame is from an earlier round, with other salts.
    var isOld = false
  }

  var frames: [Frame] = []
  var version: UInt32 = 3_007_000
  var pageSize: UInt32 = 4096
  var isBigEndian = false
  var salts: [UInt32] = [7, 0x8000_1234]

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

@Suite struct WriteAheadLogCaseTests {
  enum Outcome: Equatable, Sendable {
    /// The name of the first account, and whether an unfinished change is reported.
    case read(String, told: Bool)
    case refused(Refusal.Code)
  }

  /// A store on a device with two commits in its log, and that log.
  struct Device {
    let directory = TemporaryDirectory()
    let store: [UInt8]
    let log: [UInt8]
    let index: [UInt8]
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
      index = try Files.read(issued.storePath + "-shm")
      device.close()
    }

    /// The first account of a live store that is opened for writing; nil if it is refused.
    ///
    /// A refused store is as it was, and a check says the same.
    func live(_ log: [UInt8]?, store: [UInt8]? = nil, index: [UInt8]? = nil) throws -> String? {
      let path = directory.file("live.db")
      defer { for used in ["", "-wal", "-shm"] { try? Files.remove(path + used) } }
      try write(store, log, index, to: path)
      let check = try StoreCheck().violations(at: path).map(\.message)
      do {
        let opened = try Store(edited: path)
        let text = try opened.retrieve([1], from: "accounts").first ?? "{}"
        try opened.close()
        #expect(!check.contains { $0.contains("-wal") })
        return try JSONValue(parsing: text)["Name"]?.string
      } catch StoreError.damaged(path: path, reason: let reason) {
        #expect(check.contains(reason) && reason.contains("-wal"))
        #expect(try Files.read(path) == store ?? self.store)
        let kept = try Files.exists(path + "-wal") ? Files.read(path + "-wal") : nil
        #expect(kept == log)
        return nil
      }
    }

    private func write(
      _ store: [UInt8]?, _ log: [UInt8]?, _ index: [UInt8]?, to path: String
    ) throws {
      try DurableFile.write(store ?? self.store, to: path)
      if let log { try DurableFile.write(log, to: path + "-wal") }
      if let index { try DurableFile.write(index, to: path + "-shm") }
    }

    /// The outcome of a return; a live store is refused for what a return is refused or warned for.
    func outcome(
      _ log: [UInt8]?, _ number: Int = 0, store: [UInt8]? = nil, index: [UInt8]? = nil
    ) throws -> Outcome {
      let outcome = try returned(log, number, store: store, index: index)
      let whole: String? = if case .read(let name, told: false) = outcome { name } else { nil }
      #expect(try live(log, store: store, index: index) == whole)
      return outcome
    }

    private func returned(
      _ log: [UInt8]?, _ number: Int, store: [UInt8]?, index: [UInt8]?
    ) throws -> Outcome {
      let path = directory.file("returned\(number).db")
      try write(store, log, index, to: path)
      defer {
        for used in ["", "-wal", "-shm"].map({ path + $0 }) + [directory.file("root")] {
          try? Files.remove(used)
        }
      }
      do {
        let validated = try Issued.validate(path, in: directory)
        let opened = try Store(untrusted: validated.stores[0].path)
        let text = try opened.retrieve([1], from: "accounts").first ?? "{}"
        try opened.close()
        return .read(
          try JSONValue(parsing: text)["Name"]?.string ?? "",
          told: validated.notes.contains { $0.contains("never committed") })
      } catch let refusal as Refusal { return .refused(refusal.code) }
    }
  }

  static let both = Outcome.read("two", told: false)
  static let cases: [(String, @Sendable (inout HandMadeLog, Int) -> Void, Outcome)] = [
    ("as SQLite writes it", { _, _ in }, both),
    ("with checksums of big-endian words", { log, _ in log.isBigEndian = true }, both),
    ("without frames", { log, _ in log.frames = [] }, .read("Account é 0", told: false)),
    ("of another version", { log, _ in log.version = 3_007_001 }, .refused(.log)),
    ("with another page size", { log, _ in log.pageSize = 8192 }, .refused(.log)),
    (
      "without its second commit",
      { log, first in log.frames.removeLast(log.frames.count - first) },
      .read("one", told: false)
    ),
    (
      "whose second change is not committed",
      { log, _ in log.frames[log.frames.count - 1].pages = 0 },
      .read("one", told: true)
    ),
    (
      "followed by a torn frame", { log, _ in add(&log) { $0.removeLast(100) } }, .refused(.log)
    ),
    (
      "with the salts of a torn frame", { log, _ in add(&log) { $0.removeLast(24 + 4096 - 16) } },
      .refused(.log)
    ),
    (
      "with a torn frame too short for salts",
      { log, _ in add(&log) { $0.removeLast(24 + 4096 - 9) } }, .refused(.log)
    ),
    (
      "followed by an invalid frame", { log, _ in add(&log) { $0[2000] ^= 1 } }, .refused(.log)
    ),
    (
      "followed by a frame with one matching salt", { log, _ in add(&log) { $0[13] ^= 1 } },
      .refused(.log)
    ),
    (
      "followed by an invalid and a valid frame",
      { log, _ in
        add(&log) { $0[2000] ^= 1 }
        add(&log) { _ in }
      }, .refused(.log)
    ),
    (
      "followed by an invalid frame and half a frame",
      { log, _ in
        add(&log) { $0[2000] ^= 1 }
        add(&log) { $0.removeLast(3000) }
      }, .refused(.log)
    ),
    (
      "followed by old frames", { log, _ in for _ in 0..<3 { add(&log, isOld: true) { _ in } } },
      both
    ),
    (
      "followed by an old frame that journal_size_limit truncated",
      { log, _ in
        add(&log, isOld: true) { _ in }
        add(&log, isOld: true) { $0.removeLast(4000) }
      }, both
    ),
    (
      "followed by an old frame truncated before its salts",
      { log, _ in add(&log, isOld: true) { $0.removeLast(24 + 4096 - 15) } }, .refused(.log)
    ),
    (
      "followed by a frame of a later round",
      { log, _ in
        add(&log) {
          $0[11] &+= 1
          $0[12] ^= 1
        }
      }, .refused(.log)
    ),
    (
      "with an old frame before a current one",
      { log, _ in
        add(&log, isOld: true) { _ in }
        add(&log) { _ in }
      }, .refused(.log)
    ),
    (
      "with an old frame in the middle",
      { log, _ in
        log.frames.insert(
          .init(page: 1, pages: 0, content: log.frames[0].content, isOld: true), at: 1)
      }, .refused(.log)
    ),
    (
      "damaged in its first frame", { log, _ in log.frames[0].change = { $0[100] ^= 0x10 } },
      .refused(.log)
    ),
    (
      "damaged in its first commit",
      { log, first in log.frames[first - 1].change = { $0[4] ^= 0x10 } }, .refused(.log)
    ),
    (
      "damaged in its last commit",
      { log, _ in log.frames[log.frames.count - 1].change = { $0[30] ^= 1 } }, .refused(.log)
    ),
    ("with a frame for page 0", { log, _ in log.frames[0].page = 0 }, .refused(.log)),
    (
      "that declares an impossible file size",
      { log, _ in log.frames[log.frames.count - 1].pages = 1 << 30 }, .refused(.tooLarge)
    ),
  ]

  private static func add(
    _ log: inout HandMadeLog, isOld: Bool = false, _ change: @escaping (inout [UInt8]) -> Void
  ) {
    log.frames.append(
      .init(page: 2, pages: 0, content: log.frames[0].content, change: change, isOld: isOld))
  }

  @Test(arguments: cases.indices)
  func `a log is read to its last commit, or rejected if it is damaged`(index: Int) throws {
    let (name, change, expected) = Self.cases[index]
    let device = try Device()
    var log = HandMadeLog(frames: HandMadeLog.frames(of: device.log))
    try #require(device.first > 1 && log.frames.count > device.first + 1)
    change(&log, device.first)
    #expect(try device.outcome(log.bytes) == expected, "a log \(name)")
  }

  @Test func `a header that is truncated or has a flipped bit is damage`() throws {
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

  @Test func `a flipped bit anywhere in a log is rejected, has no effect, or is reported`() throws {
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
      // A third of the flips are in the headers of frames.
      let isHeader = number % 3 == 0
      let byte = isHeader ? 32 + next((log.count - 32) / frame) * frame + next(24) : next(log.count)
      log[byte] ^= 1 << UInt8(next(8))
      switch try device.outcome(log, number) {
      case .refused: break
      case .read(let name, let told):
        #expect(name == "two" || told, "seed \(seed): byte \(byte) of \(log.count)")
      }
    }
  }

  // MARK: damage in transit

  /// A kind of damage to a log from an offset on.
  private enum Harm: CaseIterable {
    case cut, zeros, noise, cutAndZeros, cutAndNoise

    func apply(to log: [UInt8], at offset: Int, _ next: () -> UInt8) -> [UInt8] {
      let rest = log.count - offset
      let head = Array(log[..<offset])
      return switch self {
      case .cut: head
      case .zeros: head + [UInt8](repeating: 0, count: rest)
      case .noise: head + (0..<rest).map { _ in next() }
      // The result of a resumed transfer: more bytes than before.
      case .cutAndZeros: head + [UInt8](repeating: 0, count: rest + 4120)
      case .cutAndNoise: head + (0..<rest + 4120).map { _ in next() }
      }
    }
  }

  /// Offsets in and after each frame, and at the ends of both commits.
  private static func offsets(_ device: Device) -> [Int] {
    let frame = 24 + 4096
    let ends = [0, 1, device.first - 1, device.first, device.first + 1].map { 32 + $0 * frame }
    let within = [0, 1, 8, 15, 16, 24, 1000, frame - 1]
    return Set(ends.flatMap { end in within.map { end + $0 } }).sorted()
      .filter { $0 < device.log.count } + [device.log.count]
  }

  @Test func `a log damaged from any offset is read completely, rejected, or reported`() throws {
    var draw: UInt64 = 20_261_128
    func next() -> UInt8 {
      draw = draw &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return UInt8(truncatingIfNeeded: draw >> 33)
    }
    let device = try Device()
    let frame = 24 + 4096
    var number = 0
    for offset in Self.offsets(device) {
      for harm in Harm.allCases {
        number += 1
        let log = harm.apply(to: device.log, at: offset, next)
        let outcome = try device.outcome(log, number)
        if log == device.log {
          #expect(outcome == Self.both)
          continue
        }
        let isCommit = offset == 32 || offset == 32 + device.first * frame
        if harm == .cut, isCommit {
          // A complete log of earlier commits: only the index shows that there were more.
          #expect(try device.outcome(log, number, index: device.index) == .refused(.log))
          continue
        }
        if harm == .cut, (offset - 32) % frame == 0 {
          let isFirst = offset < 32 + device.first * frame
          #expect(outcome == .read(isFirst ? "Account é 0" : "one", told: true))
          continue
        }
        #expect(outcome == .refused(.log), "\(harm) from byte \(offset) on")
      }
    }
    for extra in [1, 7, 8, 11, 12, 15, 16, 23, 24, 4119] {
      for harm in [[UInt8](repeating: 0, count: extra), (0..<extra).map { _ in next() }] {
        number += 1
        let outcome = try device.outcome(device.log + harm, number)
        #expect(outcome == .refused(.log), "\(extra) bytes after the last commit")
      }
    }
  }

  @Test func `frames left from previous rounds are not damage`() throws {
    let directory = TemporaryDirectory()
    let issued = try Issued(.android, in: directory)
    let device = try Connection(issued.storePath)
    try device.execute(
      "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 10000")
    // Each round is shorter than the previous one.
    for (round, count) in [20, 8, 3, 1].enumerated() {
      for id in 1...count {
        try device.execute(
          "UPDATE TABLE_1 SET soup = json_set(soup, '$.Name', 'round \(round)') WHERE id = \(id)")
      }
      let log = try Files.read(issued.storePath + "-wal")
      let path = directory.file("returned\(round).db")
      try Files.copy(issued.storePath, to: path)
      try DurableFile.write(log, to: path + "-wal")
      try DurableFile.write(Files.read(issued.storePath + "-shm"), to: path + "-shm")
      let validated = try Issued.validate(path, in: directory)
      #expect(validated.notes == [], "round \(round)")
      let store = try Store(untrusted: validated.stores[0].path)
      let text = try store.retrieve([1], from: "accounts").first ?? "{}"
      #expect(try JSONValue(parsing: text)["Name"] == .string("round \(round)"))
      try store.close()
      try Files.remove(directory.file("root"))
      _ = try device.text("PRAGMA wal_checkpoint(RESTART)")
    }
    device.close()
  }

  // MARK: the index of the log

  @Test func `a log with fewer frames than its index counts is rejected`() throws {
    let device = try Device()
    #expect(try device.outcome(device.log, index: device.index) == Self.both)
    // Without a log, or with an empty one, its frames are nowhere.
    #expect(try device.outcome(nil, index: device.index) == .refused(.log))
    #expect(try device.outcome([], index: device.index) == .refused(.log))
    // An index that was copied before the last commit does not show it.
    var earlier = device.index
    for copy in [0, 48] { earlier.replaceSubrange(copy + 16..<copy + 18, with: [1, 0]) }
    #expect(try device.outcome(device.log, index: earlier) == Self.both)
    // Neither does one of an earlier round, of no round, or an invalid one.
    let before = Self.index(device.index, rounds: -1)
    #expect(try device.outcome(device.log, index: before) == Self.both)
    for noise in [[], [1, 2, 3], [UInt8](repeating: 0, count: 32768), device.store] {
      #expect(try device.outcome(device.log, index: noise) == Self.both)
    }
    // An index that counts the committed frames shows that no more were.
    let cut = Array(device.log.dropLast(4120))
    #expect(try device.live(cut) == nil)
    var whole = device.index
    for copy in [0, 48] {
      whole.replaceSubrange(copy + 16..<copy + 18, with: [UInt8(device.first), 0])
    }
    #expect(try device.live(cut, index: whole) == "one")
    #expect(try device.live(cut, index: earlier) == nil)
    // An index of a later round: the log was copied before it was restarted.
    let later = Self.index(device.index, rounds: 1)
    #expect(try device.outcome(device.log, index: later) == .refused(.log))
  }

  /// The index after a number of further rounds of the log; each round increments the first salt.
  private static func index(_ index: [UInt8], rounds: Int) -> [UInt8] {
    var index = index
    for place in [32, 80] {
      let salt = index[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      let moved = UInt32(truncatingIfNeeded: Int(salt) + rounds)
      for byte in 0..<4 { index[place + byte] = UInt8(moved >> UInt32(24 - 8 * byte) & 255) }
      index[place + 4] ^= 0x55
    }
    return index
  }

  @Test func `an index whose frames are all in the file needs no log`() throws {
    let directory = TemporaryDirectory()
    let issued = try Issued(.android, in: directory)
    let device = try Connection(issued.storePath)
    try device.execute(
      "PRAGMA journal_mode = WAL; UPDATE TABLE_1 SET lastModified = 5 WHERE id = 1")
    _ = try device.text("PRAGMA wal_checkpoint(FULL)")
    let path = directory.file("returned.db")
    try Files.copy(issued.storePath, to: path)
    try DurableFile.write(Files.read(issued.storePath + "-shm"), to: path + "-shm")
    device.close()
    #expect(try Issued.validate(path, in: directory).stores.count == 1)
  }

  @Test func `a returned bundle whose index has more frames than its log is rejected`() throws {
    let device = try Device()
    let issued = try Issued(.android)
    let path = device.directory.file("returned.zip")
    let first = 32 + device.first * (24 + 4096)
    for (index, isWhole) in [(device.index, false), (device.store, true)] {
      let writer = try ArchiveWriter(path: path, format: .zip, modified: 0)
      try writer.add(name: "manifest.json", bytes: issued.manifest.bytes)
      try writer.add(name: issued.entry.path, bytes: device.store)
      try writer.add(name: issued.entry.path + "-wal", bytes: Array(device.log[..<first]))
      try writer.add(name: issued.entry.path + "-shm", bytes: index)
      try writer.close()
      do {
        _ = try Issued.validate(path, in: device.directory)
        #expect(isWhole)
      } catch let refusal as Refusal { #expect(!isWhole && refusal.code == .log) }
      for used in [path, device.directory.file("root")] { try Files.remove(used) }
    }
  }
}
