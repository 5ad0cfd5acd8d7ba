import Foundation
import JSON
import Returns
import System
import TestSupport
import Testing

@Suite struct InboxTests {
  let directory = TemporaryDirectory()
  var inbox: Inbox {
    Inbox(directory: directory.file("inbox"), root: directory.path, settleSeconds: 60)
  }

  private func put(_ name: String, _ bytes: [UInt8] = [1], ageSeconds: Int64 = 100) throws -> String
  {
    try Files.makeDirectory(inbox.directory)
    let path = inbox.directory + "/" + name
    try DurableFile.write(bytes, to: path)
    try Files.setModificationTime(
      of: path, nanoseconds: (Issued.now - ageSeconds * 1000) * 1_000_000)
    return path
  }

  private func take(_ name: String) throws -> Inbox.Taking {
    let found = try inbox.candidates(now: Issued.now).first { $0.name == name }
    return try inbox.take(try #require(found), now: Issued.now)
  }

  private func taken(_ name: String) throws -> TakenReturn {
    guard case .taken(let taken) = try take(name) else { throw Lost() }
    return taken
  }

  struct Lost: Error {}

  @Test func `only a possible return is a candidate`() throws {
    for name in [
      "a.db", "store.sqlite", "ios.bundle.zip", ".hidden", "b.db.tmp", "b.db.part", "a.db-wal",
      "a.db-shm", "c.db-journal", "lonely.db-wal",
    ] { _ = try put(name) }
    try Files.makeDirectory(inbox.directory + "/folder")
    let found = try inbox.candidates(now: Issued.now)
    #expect(
      found.filter { $0.refusal == nil }.map(\.name) == ["a.db", "ios.bundle.zip", "store.sqlite"])
    // Files that are never taken are reported, so that they do not wait silently.
    #expect(
      found.filter { $0.refusal != nil }.map(\.name) == ["c.db-journal", "lonely.db-wal", "folder"])
    #expect(found.compactMap(\.refusal?.code) == [.alone, .alone, .archive])
    #expect(
      try Inbox(directory: "/no/such/place", root: "/no", settleSeconds: 60).candidates(
        now: Issued.now
      ).isEmpty)
  }

  @Test(arguments: [
    ("a.db", "a.db-WAL"), ("a.db", "A.DB-wal"), ("A.DB", "A.DB-WAL"), ("A.DB", "a.db-Journal"),
    ("a.db", "a.db-SHM"),
  ]) func `a store stays in the inbox if only the case of its companion's name differs`(
    _ store: String, _ companion: String
  ) throws {
    for name in [store, companion, "b.db", "b.db-wal", "C.DB-WAL"] { _ = try put(name) }
    let found = try inbox.candidates(now: Issued.now)
    #expect(found.filter { $0.refusal == nil }.map(\.name) == ["b.db"])
    #expect(Set(found.map(\.name)) == [store, companion, "b.db", "C.DB-WAL"])
    let refusals = found.filter { [store, companion].contains($0.name) }.map(\.refusal)
    let suffix = companion.suffix(companion.count - store.count).lowercased()
    #expect(refusals.allSatisfy { $0?.code == .alone })
    #expect(refusals.allSatisfy { $0?.fix.hasPrefix("rename it to \(store)\(suffix);") == true })
    let named = try inbox.candidate(named: inbox.directory + "/" + store)
    #expect(named?.refusal == refusals.first)
    try Files.rename(
      inbox.directory + "/" + companion, to: inbox.directory + "/" + store + suffix)
    #expect(try inbox.candidates(now: Issued.now).first { $0.name == store }?.refusal == nil)
  }

  @Test func `the oldest file is taken first, and files of the same time by name`() throws {
    for (name, second) in [("phone-10.db", 30), ("phone-9.db", 20), ("b.db", 40), ("a.db", 40)] {
      let path = try put(name)
      try Files.setModificationTime(of: path, nanoseconds: Int64(second) * 1_000_000_000)
    }
    let names = ["phone-9.db", "phone-10.db", "a.db", "b.db"]
    #expect(try inbox.candidates(now: Issued.now).map(\.name) == names)
    // The content of a store's log arrived with the log.
    let log = try put("phone-9.db-wal")
    try Files.setModificationTime(of: log, nanoseconds: 35 * 1_000_000_000)
    #expect(
      try inbox.candidates(now: Issued.now).map(\.name)
        == ["phone-10.db", "phone-9.db", "a.db", "b.db"])
  }

  @Test func `a copied file that is not taken is ignored, and a taken one is processed`() throws {
    for name in ["c.db", "a.db", "b.db"] { _ = try put(name, Array(name.utf8)) }
    let found = try inbox.candidates(now: Issued.now)
    var copies: [Inbox.Copied] = []
    for (turn, candidate) in found.enumerated() {
      guard
        case .copied(let copied) = try inbox.copy(candidate, now: Issued.now, order: 1, turn: turn)
      else { throw Lost() }
      copies.append(copied)
    }
    #expect(try inbox.taken() == [])
    #expect(try Files.list(inbox.directory) == ["a.db", "b.db", "c.db"])
    for copied in copies.reversed() { _ = try inbox.take(copied) }
    #expect(try Files.list(inbox.directory) == [])
    #expect(try inbox.unfinished().map(\.name) == ["a.db", "b.db", "c.db"])
    // An interrupted run left a copy: it is not a return, and the file is still in place.
    _ = try put("d.db", [4])
    let last = try #require(try inbox.candidates(now: Issued.now).first)
    guard case .copied(let dropped) = try inbox.copy(last, now: Issued.now, order: 1) else {
      throw Lost()
    }
    #expect(try inbox.unfinished().count == 3)
    #expect(try Files.list(inbox.processing).count == 3)
    #expect(try Files.list(inbox.directory) == ["d.db"])
    guard case .left = try inbox.take(dropped) else { throw Lost() }
    #expect(try Files.list(inbox.directory) == ["d.db"])
  }

  @Test func `a file that is too large is rejected before any byte is copied`() throws {
    let path = try put("holes.db")
    // A sparse file of a terabyte: reading it would block the inbox for hours.
    try FileHandle(forWritingTo: URL(filePath: path)).truncate(atOffset: 1 << 40)
    let small = try put("small.db")
    try DurableFile.write([UInt8](repeating: 1, count: 600), to: small)
    try DurableFile.write([UInt8](repeating: 1, count: 600), to: small + "-wal")
    _ = try put("fits.db")
    let limited = Inbox(
      directory: inbox.directory, root: directory.path, settleSeconds: 0, fileBytes: 1000)
    let found = try limited.candidates(now: Issued.now)
    #expect(found.map(\.name) == ["fits.db", "holes.db", "small.db"])
    #expect(found.map(\.refusal?.code) == [nil, .tooLarge, .tooLarge])
    #expect(found[1].refusal?.sentence.contains("stays in the inbox") == true)
  }

  @Test func `a bundle is recognized by its bytes, a store with a log by its log`() throws {
    _ = try put("a", [0x50, 0x4B, 3, 4])
    _ = try put("b.zip", Array("SQLite format 3".utf8))
    _ = try put("b.zip-wal")
    _ = try put("c.db")
    _ = try put("c.db-wal", [])
    let found = try inbox.candidates(now: Issued.now)
    #expect(found.map(\.kind) == [.bundle, .store, .store])
    #expect(found.map(\.hasLog) == [false, true, false])
  }

  @Test(arguments: [(0, false), (59, false), (60, true), (3600, true), (-3600, true)])
  func `a file is taken only after it is stable`(ageSeconds: Int64, hasStoodStill: Bool) throws {
    let path = try put("a.db", ageSeconds: ageSeconds)
    #expect(try inbox.candidates(now: Issued.now)[0].hasStoodStill == hasStoodStill)
    #expect(try inbox.candidate(named: path)?.hasStoodStill == true)
  }

  @Test func `a store waits while its log is still being written`() throws {
    _ = try put("a.db")
    _ = try put("a.db-wal", ageSeconds: 1)
    #expect(try inbox.candidates(now: Issued.now)[0].hasStoodStill == false)
  }

  @Test func `files taken by a killed run cannot be combined with other files`() throws {
    for name in ["a.db-wal", "b.db", "b.db-wal"] { _ = try put(name) }
    for name in [".taken-a.db", ".taken-b.db"] { _ = try put(name) }
    #expect(try inbox.unfinished() == [])
    // The second file with the name may have arrived with its log.
    #expect(try Files.list(inbox.directory) == ["b.db", "b.db-wal"])
  }

  @Test func `a taken return is alone with its log, and the inbox is empty`() throws {
    _ = try put("a.db", [1, 2])
    _ = try put("a.db-wal", [3])
    _ = try put("a.db-shm", [4])
    let taken = try taken("a.db")
    #expect(taken.hasLog && taken.kind == .store && taken.arrived == Issued.now)
    #expect(taken.directory == "\(inbox.processing)/\(taken.sha256)")
    // The header of its index is kept, as it counts the frames.
    #expect(try Files.list(taken.directory) == [".return.json", "a.db", "a.db-shm", "a.db-wal"])
    #expect(try Files.read(taken.path) == [1, 2])
    #expect(try Files.list(inbox.directory) == [])
    #expect(try inbox.unfinished() == [taken])
    let finished = try inbox.finish(taken)
    #expect(try Files.list(inbox.processing) == [])
    #expect(try Files.read(finished.path) == [1, 2])
  }

  @Test func `the same content is taken once, but again if it has another log`() throws {
    _ = try put("a.db", [1, 2])
    let first = try taken("a.db")
    _ = try put("b.db", [1, 2])
    guard case .duplicate(let digest) = try take("b.db") else { throw Lost() }
    #expect(digest == first.sha256)
    try inbox.finish(first)
    _ = try put("c.db", [1, 2])
    guard case .duplicate = try take("c.db") else { throw Lost() }
    #expect(try Files.list(inbox.directory) == [])
    _ = try put("d.db", [1, 2])
    _ = try put("d.db-wal", [9])
    #expect(try taken("d.db").sha256 != first.sha256)
  }

  @Test func `two returns that differ only in their logs are two returns`() {
    let digests = ["a", "b"].map { TakenReturn.digest(file: "file", log: $0, fault: nil) }
    #expect(Set(digests + [TakenReturn.digest(file: "file", log: nil, fault: nil)]).count == 3)
    #expect(TakenReturn.digest(file: "file", log: "a", fault: nil) == digests[0])
  }

  @Test func `a run interrupted between taking and clearing takes nothing twice`() throws {
    let path = try put("a.db", [1, 2])
    let candidate = try #require(try inbox.candidate(named: path))
    guard case .taken(let taken) = try inbox.take(candidate, now: Issued.now, keepsOriginal: true)
    else { throw Lost() }
    #expect(Files.exists(path), "as if the run was interrupted before the removal")
    try Files.makeDirectory(inbox.processing + "/.tmp-half")
    #expect(try inbox.unfinished() == [taken])
    #expect(try Files.list(inbox.processing) == [taken.sha256])
    guard case .duplicate = try take("a.db") else { throw Lost() }
    #expect(!Files.exists(path))
  }

  @Test func `the quarantine stores the file and the reason`() throws {
    _ = try put("a.db", [1, 2])
    _ = try put("a.db-journal", [5])
    let taken = try taken("a.db")
    let refusal = Refusal(.damaged, "a.db is damaged", fix: "return it again")
    let kept = try inbox.quarantine(taken, refusal, now: Issued.now + 1000)
    #expect(try Files.list(kept.directory) == [".return.json", "a.db", "a.db-journal"])
    let reason = try JSONValue(
      parsing: Files.read("\(inbox.quarantine)/\(taken.sha256).reason.json"))
    #expect(reason["code"]?.string == "return.damaged")
    #expect(reason["reason"]?.string == "a.db is damaged")
    #expect(reason["fix"]?.string == "return it again")
    #expect(reason["name"]?.string == "a.db")
    #expect(reason["quarantined"]?.string == "2024-01-31T12:34:57.000Z")
    // Refused files may be retried, and refused again.
    _ = try put("again.db", [1, 2])
    _ = try inbox.quarantine(try self.taken("again.db"), refusal, now: Issued.now)
    #expect(try Files.list(inbox.quarantine).count == 2)
    _ = try put("mended.db", [1, 2])
    try inbox.finish(try self.taken("mended.db"))
    #expect(try Files.list(inbox.quarantine) == [])
    #expect(try inbox.unfinished() == [])
  }

  @Test func `a reason is read as written, as far as it is valid`() throws {
    _ = try put("a.db", [1, 2])
    let refusal = Refusal(.damaged, "a.db is damaged", fix: "return it again")
    let kept = try inbox.quarantine(try taken("a.db"), refusal, now: Issued.now)
    #expect(try ReasonFile.digests(in: inbox.quarantine) == [kept.sha256])
    let reason = ReasonFile(of: kept.sha256, in: inbox.quarantine)
    #expect(reason.code == "return.damaged")
    #expect(reason.fix == "return it again")
    #expect(reason.told.names == ["name", "code", "reason", "fix", "arrived", "sha256"])
    let path = "\(inbox.quarantine)/\(kept.sha256).reason.json"
    try DurableFile.write(Array(#"{"fix": "return it again", "code": 1}"#.utf8), to: path)
    let changed = ReasonFile(of: kept.sha256, in: inbox.quarantine)
    #expect(changed.fix == "return it again")
    #expect(changed.told.names == ["fix", "sha256"])
  }

  @Test func `a file with a name that attache uses is treated like any other`() throws {
    for name in ["return.json", "processing", "manifest.json", "a'b;\n.db"] {
      _ = try put(name, Array(name.utf8))
      #expect(try Files.read(taken(name).path) == Array(name.utf8))
    }
    #expect(try inbox.unfinished().count == 4)
  }

  @Test func `a link is reported and never followed`() throws {
    try Files.makeDirectory(inbox.directory)
    _ = try ChildProcess.run("/bin/ln", ["-s", "/etc/passwd", inbox.directory + "/a.db"])
    let found = try inbox.candidates(now: Issued.now)
    #expect(found.first?.refusal?.code == .archive)
    guard case .left = try inbox.take(found[0], now: Issued.now) else { throw Lost() }
    #expect(try inbox.unfinished() == [])
  }
}
