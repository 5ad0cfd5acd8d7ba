import Crypto
import SQLite
import SmartStore
import System
import Testing

@Suite struct SQLCipherFileTests {
  @Test(arguments: Platform.allCases, [0, 1, 300])
  func `a sealed file is unsealed to equal bytes`(_ platform: Platform, _ elements: Int) throws {
    let test = try SealedStore(platform, elements: elements)
    let before = try Files.read(test.plain)
    for header in [SQLCipherKey.Header.sealed, .plain(salt: RandomBytes.make(16))] {
      let key = try test.key(header: header)
      let outcome = try SQLCipherFile.seal(test.plain, to: test.sealed, key: key)
      #expect(outcome.pages == before.count / 4096)
      #expect(!outcome.wasRebuilt)
      let sealed = try Files.read(test.sealed)
      #expect(sealed.count == before.count)
      #expect(Array(sealed.prefix(16)) == (header == .sealed ? outcome.salt : Connection.fileMagic))
      try SQLCipherFile.unseal(test.sealed, to: test.opened, key: key)
      #expect(try Files.read(test.opened) == before)
      #expect(try StoreCheck(origin: .server).violations(at: test.opened) == [])
      try Files.remove(test.sealed)
      try Files.remove(test.opened)
    }
    #expect(try test.names() == ["plain.sqlite"])
  }

  @Test func `nothing of an element is readable in a sealed file`() throws {
    let test = try SealedStore()
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    let sealed = try Files.read(test.sealed)
    for word in ["common", "soup_index_map", "SQLite format"] {
      #expect(sealed.firstRange(of: Array(word.utf8)) == nil)
    }
  }

  @Test func `a changed byte on any page is detected, with the page number`() throws {
    let test = try SealedStore(elements: 120)
    var random = SplitMix(state: 4016)
    for header in [SQLCipherKey.Header.sealed, .plain(salt: RandomBytes.make(16))] {
      let key = try test.key(header: header)
      try SQLCipherFile.seal(test.plain, to: test.sealed, key: key)
      let sealed = try Files.read(test.sealed)
      let count = sealed.count / 4096
      #expect(count > 20)
      for page in 1...count {
        // The clear bytes of page 1 are not covered by the MAC.
        let start = page == 1 ? header.clearBytes : 0
        for range in [start..<4016, 4016..<4032, 4032..<4096] {
          var bytes = sealed
          bytes[(page - 1) * 4096 + Int.random(in: range, using: &random)] ^= UInt8.random(
            in: 1...255, using: &random)
          let failure = try test.failure(unsealing: bytes, key: key)
          #expect(failure == .damagedPage(path: test.directory.file("tried.sqlite"), page: page))
        }
      }
      try Files.remove(test.sealed)
    }
    #expect(try test.names() == ["plain.sqlite", "tried.sqlite"])
  }

  @Test func `two swapped pages are detected`() throws {
    let test = try SealedStore(elements: 50)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    var bytes = try Files.read(test.sealed)
    let third = Array(bytes[8192..<12288])
    bytes.replaceSubrange(8192..<12288, with: bytes[12288..<16384])
    bytes.replaceSubrange(12288..<16384, with: third)
    let failure = try test.failure(unsealing: bytes, key: test.key())
    #expect(failure == .damagedPage(path: test.directory.file("tried.sqlite"), page: 3))
  }

  @Test func `a truncated file is detected, with the page number`() throws {
    let test = try SealedStore(elements: 60)
    let key = try test.key()
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: key)
    let sealed = try Files.read(test.sealed)
    let count = sealed.count / 4096
    let path = test.directory.file("tried.sqlite")
    for pages in 0..<count {
      for rest in [0, 1, 2048, 4095] where pages + rest > 0 {
        let bytes = Array(sealed.prefix(pages * 4096 + rest))
        let failure = try test.failure(unsealing: bytes, key: key)
        if pages == 0 {
          #expect(failure?.description == "\(path) is too short to be a sealed store")
          continue
        }
        let expected = SQLCipherError.truncated(
          path: path, page: pages + 1, pages: rest == 0 ? count : 0)
        #expect(failure == expected)
        #expect(failure?.description.contains("page \(pages + 1)") == true)
      }
    }
    let empty = try test.failure(unsealing: [], key: key)
    #expect(empty?.description == "\(path) is too short to be a sealed store")
    let text = Array(String(repeating: "Grüße, a text. ", count: 1000).utf8.prefix(8192))
    let told = try test.failure(unsealing: text, key: key)
    #expect(told?.description == "\(path) is a text, not a sealed store")
    #expect(try !SQLCipherFile.mayBeSealed(path))
    try DurableFile.write(Array(try Files.read(test.plain).dropLast(4096)), to: path)
    #expect(throws: SQLCipherError.truncated(path: path, page: count, pages: count)) {
      try SQLCipherFile.seal(path, to: test.opened, key: key)
    }
    #expect(!Files.exists(test.opened))
  }

  @Test func `a wrong key is distinguished from damage, and no error shows a key`() throws {
    let test = try SealedStore(elements: 20)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    let bytes = try Files.read(test.sealed)
    let path = test.directory.file("tried.sqlite")
    for key in [try test.key("another secret"), try test.key(iterations: 4001)] {
      let failure = try test.failure(unsealing: bytes, key: key)
      #expect(failure == .wrongKey(path: path))
      #expect(failure?.description.contains("page 1") == true)
      #expect(failure?.description.contains("another secret") == false)
    }
    let outside = try test.key(header: .plain(salt: Array(bytes.prefix(16))))
    #expect(try test.failure(unsealing: bytes, key: outside) == .wrongKey(path: path))
    let plain = try Files.read(test.plain)
    #expect(try test.failure(unsealing: plain, key: test.key()) == .notSealed(path: path))
    #expect(throws: SQLCipherError.notPlain(path: test.sealed)) {
      try SQLCipherFile.seal(test.sealed, to: test.opened, key: test.key())
    }
    #expect(throws: SQLCipherError.self) { _ = try test.key("") }
    #expect(throws: SQLCipherError.self) { _ = try test.key(header: .plain(salt: [1, 2])) }
    let secret = "\(try test.key("another secret"))"
    #expect(!secret.contains("another secret"))
  }

  @Test(arguments: ["-wal", "-journal"])
  func `a file with pending changes next to it is rejected`(_ companion: String) throws {
    let test = try SealedStore(elements: 1)
    let key = try test.key()
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: key)
    for path in [test.plain, test.sealed] {
      try DurableFile.write([1], to: path + companion)
      let failure = SQLCipherError.pending(path: path, companion: path + companion)
      #expect(throws: failure) { try SQLCipherFile.seal(path, to: test.opened, key: key) }
      #expect(throws: failure) { try SQLCipherFile.unseal(path, to: test.opened, key: key) }
    }
    try DurableFile.write([], to: test.sealed + companion)
    try SQLCipherFile.unseal(test.sealed, to: test.opened, key: key)
  }

  @Test func `an existing target is kept`() throws {
    let test = try SealedStore(elements: 1)
    try DurableFile.write([7], to: test.sealed)
    #expect(throws: SQLCipherError.self) {
      try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    }
    #expect(try Files.read(test.sealed) == [7])
  }

  @Test(arguments: [(4096, 0), (4096, 32), (1024, 0), (8192, 80)], ["delete", "wal"])
  func `a file without reserved bytes in its pages is rebuilt first`(
    _ shape: (page: Int, reserved: Int), _ mode: String
  ) throws {
    let test = try SealedStore(.android, elements: 80)
    let file = try test.made(
      elsewhere: "made elsewhere.db", pageSize: shape.page, reserved: shape.reserved)
    let other = try Connection(file)
    try other.execute("PRAGMA journal_mode = \(mode)")
    #expect(try other.reservedBytes() == Int32(shape.reserved))
    other.close()
    let before = try Files.read(file)

    #expect(try SQLCipherFile.seal(file, to: test.sealed, key: test.key()).wasRebuilt)
    #expect(try Files.read(file) == before)
    try SQLCipherFile.unseal(test.sealed, to: test.opened, key: test.key())
    #expect(try StoreCheck(origin: .server, platform: .android).violations(at: test.opened) == [])
    let names = ["made elsewhere.db", "opened.sqlite", "plain.sqlite", "sealed.sqlite"]
    #expect(try test.names() == names)
  }

  @Test func `a seed gives the same bytes again, and others for other content`() throws {
    let test = try SealedStore(elements: 40)
    let key = try test.key()
    let secret = RandomBytes.make(32)
    let seed = key.seed(secret, context: ["stamp", "1", "digest"])
    var made: [[UInt8]] = []
    for _ in 0..<2 {
      try SQLCipherFile.seal(
        test.plain, to: test.sealed, key: key, randomness: .derived(seed: seed))
      made.append(try Files.read(test.sealed))
      try Files.remove(test.sealed)
    }
    #expect(made[0] == made[1])
    #expect(Array(made[0].prefix(16)) == SQLCipherFile.salt(seed: seed))
    #expect(try test.failure(unsealing: made[0], key: key) == nil)
    // No IV is used twice.
    let ivs = stride(from: 4016, to: made[0].count, by: 4096).map { Array(made[0][$0..<$0 + 16]) }
    #expect(Set(ivs).count == ivs.count)
    let others = [
      key.seed(secret, context: ["stamp", "1", "digest 2"]),
      key.seed(secret, context: ["stamp1", "", "digest"]),
      try test.key("another").seed(secret, context: ["stamp", "1", "digest"]),
      try test.key(iterations: 9).seed(secret, context: ["stamp", "1", "digest"]),
    ]
    #expect(Set(others + [seed]).count == 5)
  }

  @Test func `the page of the lock byte has no content in either form`() throws {
    #expect(SQLCipherPages.lockPage == 262_145)
    let test = try SealedStore()
    let plain = RandomBytes.make(4096)
    var page = [UInt8](repeating: 9, count: 4096)
    var pages = try SQLCipherPages(test.key(), salt: RandomBytes.make(16), lockPage: 3)
    try plain.withUnsafeBytes { plain in
      try page.withUnsafeMutableBytes { try pages.seal(3, plain, into: $0) }
    }
    #expect(page == [UInt8](repeating: 0, count: 4096))
    var opened = plain
    let garbage = RandomBytes.make(4096)
    let isSound = try garbage.withUnsafeBytes { garbage in
      try opened.withUnsafeMutableBytes { try pages.unseal(3, garbage, into: $0) }
    }
    #expect(isSound)
    #expect(opened == [UInt8](repeating: 0, count: 4096))
  }
}
