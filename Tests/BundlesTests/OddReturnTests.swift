import Crypto
import Foundation
import Returns
import SQLite
import System
import TestSupport
import Testing

@Suite struct OddReturnTests {
  let directory = TemporaryDirectory()
  var inbox: Inbox {
    Inbox(directory: directory.file("inbox"), root: directory.file("root"), settleSeconds: 0)
  }

  struct Lost: Error {}

  private func put(_ name: String, _ bytes: [UInt8] = [1]) throws -> String {
    try Files.makeDirectory(inbox.directory)
    let path = inbox.directory + "/" + name
    // Written in place: a temporary name next to a long one would be too long.
    try Files.createNew(path).write(bytes)
    return path
  }

  private func take(_ name: String, _ inbox: Inbox) throws -> Inbox.Taking {
    let found = try inbox.candidates(now: Issued.now).first { $0.name == name }
    return try inbox.take(try #require(found), now: Issued.now)
  }

  @Test(arguments: Array(195...255))
  func `a store of any name length is taken with its log, stored and removed`(length: Int) throws {
    let name = String(repeating: "n", count: length)
    _ = try put(name, [1, 2])
    let hasLog = length <= 251
    if hasLog { _ = try put(name + "-wal", [3]) }
    if length <= 247 { _ = try put(name + "-journal", [4]) }
    guard case .taken(let taken) = try take(name, inbox) else { throw Lost() }
    #expect(taken.remains == nil && taken.name == name && taken.hasLog == hasLog)
    #expect(try Files.list(inbox.directory) == [])
    #expect(try Files.read(taken.path) == [1, 2])
    #expect(try inbox.unfinished() == [taken])
    let kept = try inbox.quarantine(taken, Refusal(.damaged, "x", fix: "y"), now: Issued.now)
    #expect(try Files.read(kept.path) == [1, 2])
    #expect(!hasLog || Files.exists(kept.path + "-wal"))
    #expect(length > 247 || Files.exists(kept.path + "-journal"))
    #expect(try inbox.unfinished() == [])
  }

  @Test(arguments: [200, 248, 249, 251, 255])
  func `the removal that a killed run started is completed for any file name`(length: Int) throws {
    let name = String(repeating: "n", count: length)
    _ = try put(name, [1, 2])
    if length <= 251 { _ = try put(name + "-wal", [3]) }
    // As if the run was interrupted after the first rename of the removal.
    let marked = ".taken-" + name
    let marker = marked.utf8.count <= 255 ? marked : ".taken-" + Digest.sha256Hex(Array(name.utf8))
    try Files.rename(inbox.directory + "/" + name, to: inbox.directory + "/" + marker)
    #expect(try inbox.unfinished() == [])
    #expect(try Files.list(inbox.directory) == [])
  }

  @Test func `a file that changes while it is taken is taken when it stops changing`() throws {
    let path = try put("a.db", [1, 2])
    var changing = inbox
    changing.betweenReadings = { try DurableFile.write([3, 4, 5], to: path) }
    guard case .left(let refusal) = try take("a.db", changing) else { throw Lost() }
    #expect(refusal.code == .changing)
    #expect(try Files.list(inbox.processing) == [], "no partial copy is left")
    guard case .taken(let taken) = try take("a.db", inbox) else { throw Lost() }
    #expect(try Files.read(taken.path) == [3, 4, 5])
  }

  @Test func `a log that changes while its store is taken is not taken in its old state`() throws {
    let path = try put("a.db", [1, 2])
    _ = try put("a.db-wal", [1])
    var changing = inbox
    changing.betweenReadings = { try DurableFile.write([1, 2], to: path + "-wal") }
    guard case .left(let refusal) = try take("a.db", changing) else { throw Lost() }
    #expect(refusal.code == .changing)
    guard case .taken(let taken) = try take("a.db", inbox) else { throw Lost() }
    #expect(try Files.read(taken.path + "-wal") == [1, 2])
  }

  @Test(arguments: ["a.db", "a.db-wal"])
  func `a change in place is detected by times that no user can set back`(changed: String) throws {
    _ = try put("a.db", [1, 2])
    _ = try put("a.db-wal", [3, 4])
    let path = inbox.directory + "/" + changed
    var changing = inbox
    changing.recentNanoseconds = 0
    changing.betweenReadings = {
      let time = try Files.modificationTime(of: path)
      try FileDescriptorHandle.updating(path).write([7])
      try Files.setModificationTime(of: path, nanoseconds: time)
    }
    guard case .left(let refusal) = try take("a.db", changing) else { throw Lost() }
    #expect(refusal.code == .changing)
    #expect(try Files.list(inbox.processing) == [])
    guard case .taken(let taken) = try take("a.db", inbox) else { throw Lost() }
    #expect(try Files.read(taken.directory + "/" + changed).first == 7)
  }

  @Test
  func `a file written a moment ago is read twice, as its times may not show a change`() throws {
    let path = try put("a.db", [1, 2])
    let descriptor = open(path, O_RDWR)
    defer { close(descriptor) }
    let memory = mmap(nil, 2, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
    let bytes = try #require(memory).assumingMemoryBound(to: UInt8.self)
    // A page that is already dirty gets no new time when it is changed again.
    bytes[0] = 5
    let place = Int(bitPattern: bytes)
    var changing = inbox
    changing.betweenReadings = { UnsafeMutablePointer<UInt8>(bitPattern: place)?[0] = 6 }
    guard case .left(let refusal) = try take("a.db", changing) else { throw Lost() }
    #expect(refusal.code == .changing)
    munmap(memory, 2)
    guard case .taken(let taken) = try take("a.db", inbox) else { throw Lost() }
    #expect(try Files.read(taken.path) == [6, 2])
  }

  @Test func `a newer file that gets the name before the taken one is removed is kept`() throws {
    let path = try put("a.db", [1, 2])
    var hooked = inbox
    hooked.beforeRemoval = { try DurableFile.write([3, 4, 5], to: path) }
    guard case .taken(let taken) = try take("a.db", hooked) else { throw Lost() }
    #expect(try Files.read(taken.path) == [1, 2])
    #expect(try Files.read(path) == [3, 4, 5])
    #expect(taken.remains == nil)
    // The same content again, with a newer log.
    try DurableFile.write([1, 2], to: path)
    hooked.beforeRemoval = { try DurableFile.write([6], to: path + "-wal") }
    guard case .duplicate = try take("a.db", hooked) else { throw Lost() }
    #expect(try Files.read(path + "-wal") == [6])
    #expect(try Files.read(path) == [1, 2])
  }

  @Test func `a file that vanishes or becomes a pipe meanwhile does not stop the run`() throws {
    let path = try put("a.db")
    var vanishing = inbox
    vanishing.betweenReadings = { try Files.remove(path) }
    guard case .gone = try take("a.db", vanishing) else { throw Lost() }
    _ = try put("a.db")
    let candidate = try #require(try inbox.candidates(now: Issued.now).first)
    try Files.remove(path)
    _ = try ChildProcess.run("/usr/bin/mkfifo", [path])
    guard case .left(let refusal) = try inbox.take(candidate, now: Issued.now) else { throw Lost() }
    #expect(refusal.code == .unreadable && refusal.sentence.contains("a.db"))
    #expect(try Files.list(inbox.processing) == [])
  }

  /// Runs `body` with the rights of the user nobody: the file system user is set per thread.
  private func asNobody<Answer>(_ body: () throws -> Answer) throws -> Answer {
    typealias SetUser = @convention(c) (UInt32) -> Int32
    let address = try #require(dlsym(nil, "setfsuid"))
    let setUser = unsafeBitCast(address, to: SetUser.self)
    _ = setUser(65534)
    defer { _ = setUser(geteuid()) }
    return try body()
  }

  @Test func `a file that cannot be read or removed is left, and the reason is reported`() throws {
    try #require(geteuid() == 0, "only root can act as another user")
    let path = try put("closed.db")
    try Files.setMode(of: path, 0o000)
    try Files.setMode(of: try put("open.db", [7]), 0o644)
    try Files.makeDirectory(inbox.root)
    try Files.setMode(of: inbox.root, 0o777)
    try Files.setMode(of: inbox.directory, 0o755)
    try asNobody {
      guard case .left(let closed) = try take("closed.db", inbox) else { throw Lost() }
      #expect(closed.code == .unreadable && closed.sentence.contains("Permission denied"))
      // It is read and ingested; only the copy in the inbox cannot be removed.
      guard case .taken(let taken) = try take("open.db", inbox) else { throw Lost() }
      #expect(taken.remains?.code == .notRemoved)
      #expect(try inbox.unfinished().map(\.sha256) == [taken.sha256])
      try inbox.finish(taken)
      guard case .left(let known) = try take("open.db", inbox) else { throw Lost() }
      #expect(known.code == .notRemoved)
    }
    #expect(try Files.list(inbox.directory) == ["closed.db", "open.db"])
  }

  @Test(arguments: ["-wal", "-journal"], ["directory", "link", "dangling", "pipe"])
  func `a store whose companion is not a file is rejected`(suffix: String, kind: String) throws {
    let path = try put("a.db", [1, 2])
    switch kind {
    case "directory": try Files.makeDirectory(path + suffix + "/full/of/things")
    case "link": _ = try ChildProcess.run("/bin/ln", ["-s", "/etc/passwd", path + suffix])
    case "dangling": _ = try ChildProcess.run("/bin/ln", ["-s", "/no/such", path + suffix])
    default: _ = try ChildProcess.run("/usr/bin/mkfifo", [path + suffix])
    }
    guard case .taken(let taken) = try take("a.db", inbox) else { throw Lost() }
    // The run was interrupted: the next one reads the note.
    let found = try #require(try inbox.unfinished().first)
    #expect(found == taken)
    let refusal = #expect(throws: Refusal.self) {
      try ReturnValidator(Issued.expectation()).validate(found, in: directory.file("work"))
    }
    #expect(refusal?.code == (suffix == "-wal" ? .log : .journal))
    #expect(refusal?.sentence.contains("a.db" + suffix) == true)
    // A directory of another user is not removed with its content.
    #expect(try Files.list(inbox.directory) == (kind == "directory" ? ["a.db" + suffix] : []))
  }

  @Test(arguments: [
    ("soup TEXT", "soup\u{A0}TEXT"), ("soup TEXT", "soup\u{2003}TEXT"),
    ("soup TEXT", "soup\u{85}TEXT"),
    ("soup TEXT", "soup\u{3000} TEXT"), ("soup TEXT", "\u{FEFF}soup TEXT"),
    ("soup TEXT", "soup\u{B}TEXT"), ("PRIMARY KEY", "PRIMARY \u{212A}EY"),
    ("created INTEGER", "created INTEGER\u{200B}"),
  ])
  func `characters outside ASCII are neither space nor letter`(text: String, other: String) throws {
    let issued = try Issued(.ios)
    let connection = try Connection(issued.storePath)
    try connection.execute(
      """
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = replace(sql, '\(text)', '\(other)') WHERE name = 'TABLE_1';
      """)
    connection.close()
    let refusal = #expect(throws: Refusal.self) {
      try Issued.validate(issued.storePath, in: directory)
    }
    #expect(refusal?.code == .notAStore || refusal?.code == .damaged)
  }
}
