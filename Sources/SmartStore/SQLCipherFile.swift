import Crypto
import SQLite
import System

/// Converts whole files between SQLite and SQLCipher 4, page by page.
///
/// The result is written under a temporary name in the same directory, synced and renamed, so it is
/// never partial. Memory use does not depend on the size of the file.
package enum SQLCipherFile {
  /// The source of a sealed file's salt and IVs.
  package enum Randomness: Sendable {
    /// The system's random generator: no two results are alike.
    case random
    /// A seed that belongs to one content under one passphrase, so that sealing it again gives the
    /// same bytes.
    ///
    /// CBC has two requirements for an IV. It must be unpredictable before the content is chosen:
    /// it is an HMAC with a key derived from the seed and the file's key, both of which are secret.
    /// And no two contents may share an IV under one key: the seed must also depend on the
    /// content's digest (`SQLCipherKey.seed`), so that different content gets a different salt, and
    /// with it different keys.
    case derived(seed: [UInt8])
  }

  /// The SHA-256 of the plain and the sealed file in hexadecimal digits, computed while the pages
  /// pass.
  package struct Digests: Sendable, Hashable {
    /// The digest of the plain file, or of the rebuilt one.
    package let plain: String
    /// The digest of the sealed file.
    package let sealed: String
  }

  /// The result of sealing or unsealing.
  package struct Outcome: Sendable, Hashable {
    /// The number of pages in the result.
    package let pages: Int
    /// The salt of the sealed file.
    package let salt: [UInt8]
    /// Whether the file had no reserved bytes in its pages and was rebuilt first.
    package let wasRebuilt: Bool
    /// The digests after sealing; nil after unsealing.
    package let digests: Digests?
  }

  /// The number of pages that are read and written at once.
  private static let chunkPages = 64

  /// Seals the plain file `path` as the new file `target`.
  ///
  /// The salt is that of the key's plain header, if it has one.
  @discardableResult
  package static func seal(
    _ path: String, to target: String, key: SQLCipherKey, randomness: Randomness = .random
  ) throws(SQLCipherError) -> Outcome {
    try SQLCipherError.mapping(path) {
      try requireNothingPending(path)
      try requireFree(target)
      let head = try StoreFileHeader(path: path)
      guard head.isDatabase else { throw SQLCipherError.notPlain(path: path) }
      if head.hasRoom {
        return try seal(path, named: path, to: target, key, randomness, wasRebuilt: false)
      }
      let rebuilt = DurableFile.temporaryName(for: target)
      defer { for end in ["", "-journal", "-wal"] { try? Files.remove(rebuilt + end) } }
      try rebuild(path, as: rebuilt)
      return try seal(rebuilt, named: path, to: target, key, randomness, wasRebuilt: true)
    }
  }

  /// Unseals `path` as the new plain file `target`.
  @discardableResult
  package static func unseal(
    _ path: String, to target: String, key: SQLCipherKey
  ) throws(SQLCipherError) -> Outcome {
    try SQLCipherError.mapping(path) {
      try requireNothingPending(path)
      try requireFree(target)
      let head = try StoreFileHeader(path: path)
      let salt: [UInt8]
      switch key.header {
      case .plain(let outside):
        salt = outside
        guard head.isDatabase else { throw SQLCipherError.wrongKey(path: path) }
      case .sealed:
        salt = Array(head.bytes.prefix(SQLCipherKey.saltBytes))
        if head.isDatabase { throw SQLCipherError.notSealed(path: path) }
        if try Files.size(of: path) < Int64(SQLCipherPages.size) {
          throw SQLCipherError.otherKind(path: path, reason: "is too short to be a sealed store")
        }
        if head.isText {
          throw SQLCipherError.otherKind(path: path, reason: "is a text, not a sealed store")
        }
      }
      let count = try wholePages(path, named: path)
      var pages = try SQLCipherPages(key, salt: salt)
      try transcode(path, to: target) { first, input, output in
        try eachPage(input, output) { index, page, plain in
          let number = first + index
          guard try pages.unseal(number, page, into: plain) else {
            // If the second page verifies, the key is right.
            let second = number == 1 && input.count >= 2 * SQLCipherPages.size
            let isKey = try second && pages.verifies(2, Self.page(1, of: input))
            throw number == 1 && !isKey
              ? SQLCipherError.wrongKey(path: path)
              : SQLCipherError.damagedPage(path: path, page: number)
          }
          if number == 1 { try requirePages(count, UnsafeRawBufferPointer(plain), path) }
        }
      }
      return Outcome(pages: count, salt: salt, wasRebuilt: false, digests: nil)
    }
  }

  /// Whether a file may be sealed: whole pages, and neither a plain header nor text.
  package static func mayBeSealed(_ path: String) throws(SQLCipherError) -> Bool {
    try SQLCipherError.mapping(path) {
      let head = try StoreFileHeader(path: path)
      return try head.isWhole && !head.isDatabase && !head.isText
        && Files.size(of: path) % Int64(SQLCipherPages.size) == 0
    }
  }

  /// Whether the first page of a sealed file verifies with a key.
  package static func opens(_ path: String, key: SQLCipherKey) throws(SQLCipherError) -> Bool {
    try SQLCipherError.mapping(path) {
      let file = try Files.openRegular(path)
      var page = [UInt8](repeating: 0, count: SQLCipherPages.size)
      let count = try page.withUnsafeMutableBytes { try file.read(into: $0) }
      guard count == SQLCipherPages.size else { return false }
      let inside = Array(page.prefix(SQLCipherKey.saltBytes))
      let salt: [UInt8] = if case .plain(let outside) = key.header { outside } else { inside }
      var pages = try SQLCipherPages(key, salt: salt)
      return try page.withUnsafeBytes { try pages.verifies(1, $0) }
    }
  }

  // MARK: Sealing

  private static func seal(
    _ path: String, named: String, to target: String, _ key: SQLCipherKey,
    _ randomness: Randomness, wasRebuilt: Bool
  ) throws -> Outcome {
    let count = try wholePages(path, named: named)
    let salt: [UInt8]
    let vectors: SQLCipherPages.Vectors
    switch randomness {
    case .random:
      salt = RandomBytes.make(SQLCipherKey.saltBytes)
      vectors = .random
    case .derived(let seed):
      salt = self.salt(seed: seed)
      vectors = .derived(seed)
    }
    let own: [UInt8] = if case .plain(let outside) = key.header { outside } else { salt }
    var pages = try SQLCipherPages(key, salt: own, vectors: vectors)
    var plainHash = SHA256Hasher()
    var sealedHash = SHA256Hasher()
    try transcode(path, to: target) { first, input, output in
      plainHash.update(input)
      try eachPage(input, output) { index, plain, page in
        if first + index == 1 { try requirePages(count, plain, named) }
        try pages.seal(first + index, plain, into: page)
      }
      sealedHash.update(UnsafeRawBufferPointer(output))
    }
    let digests = Digests(
      plain: Hex.encode(plainHash.finalize()), sealed: Hex.encode(sealedHash.finalize()))
    return Outcome(pages: count, salt: own, wasRebuilt: wasRebuilt, digests: digests)
  }

  /// The salt of a file sealed with a seed.
  package static func salt(seed: [UInt8]) -> [UInt8] {
    Array(HMAC.sha256(key: seed, Array("salt".utf8)).prefix(SQLCipherKey.saltBytes))
  }

  /// Copies a database into a new file with reserved bytes in its pages.
  private static func rebuild(_ path: String, as copy: String) throws {
    _ = try Files.createNew(copy)
    // Nothing is pending, so only the file needs to be read, and no other file is created.
    let connection = try Connection(path, mode: .immutable)
    defer { connection.close() }
    try connection.reserveBytes(StorePages.reservedBytes)
    try connection.execute("VACUUM INTO \(SQL.quoted(text: Connection.plain(copy)))")
    if try !StoreFileHeader(path: copy).hasRoom { try resizePages(copy) }
    guard try StoreFileHeader(path: copy).hasRoom else {
      throw SQLCipherError.rebuild(path: path, reason: "SQLite did not change the pages")
    }
  }

  /// SQLite keeps the page size of a file that is opened as immutable.
  private static func resizePages(_ copy: String) throws {
    let connection = try Connection(copy)
    defer { connection.close() }
    // The order matters: the pragma resets the reserved bytes.
    try connection.execute("PRAGMA page_size = \(StorePages.size)")
    try connection.reserveBytes(StorePages.reservedBytes)
    try connection.execute("VACUUM")
  }

  // MARK: Files

  private static func requireNothingPending(_ path: String) throws {
    for end in ["-wal", "-journal"] {
      guard let status = try? Files.status(path + end), status.kind != .regular || status.size > 0
      else { continue }
      throw SQLCipherError.pending(path: path, companion: path + end)
    }
  }

  private static func requireFree(_ target: String) throws {
    guard Files.exists(target) else { return }
    throw SystemError.alreadyThere(target)
  }

  private static func wholePages(_ path: String, named: String) throws -> Int {
    let size = Int(try Files.size(of: path))
    let count = size / SQLCipherPages.size
    guard size % SQLCipherPages.size == 0, count > 0 else {
      throw SQLCipherError.truncated(path: named, page: count + 1, pages: 0)
    }
    return count
  }

  /// Compares the file's length with the page count in page 1: a code protects a page, not the
  /// number of pages.
  private static func requirePages(
    _ count: Int, _ plain: UnsafeRawBufferPointer, _ path: String
  ) throws {
    func word(_ at: Int) -> Int {
      (0..<4).reduce(0) { $0 << 8 | Int(plain[at + $1]) }
    }
    // SQLite trusts the number only if both change counters agree.
    guard word(24) == word(92), word(28) > count else { return }
    throw SQLCipherError.truncated(path: path, page: count + 1, pages: word(28))
  }

  /// Reads, converts and writes chunks of pages; the target gets its name at the end.
  private static func transcode(
    _ path: String, to target: String,
    _ convert: (_ first: Int, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    let bytes = chunkPages * SQLCipherPages.size
    let input = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
    let output = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 64)
    defer {
      input.deallocate()
      output.deallocate()
    }
    let temporary = DurableFile.temporaryName(for: target)
    do {
      let source = try Files.openRegular(path)
      let file = try Files.createNew(temporary)
      var first = 1
      while true {
        let count = try source.read(into: input)
        guard count % SQLCipherPages.size == 0 else {
          throw SQLCipherError.truncated(
            path: path, page: first + count / SQLCipherPages.size, pages: 0)
        }
        if count == 0 { break }
        let place = UnsafeMutableRawBufferPointer(rebasing: output[..<count])
        try convert(first, UnsafeRawBufferPointer(rebasing: input[..<count]), place)
        try file.write(UnsafeRawBufferPointer(place))
        first += count / SQLCipherPages.size
      }
      try DurableFile.move(temporary, toNew: target)
    } catch {
      // The first error is the one to report.
      try? Files.remove(temporary)
      throw error
    }
  }

  private static func eachPage(
    _ input: UnsafeRawBufferPointer, _ output: UnsafeMutableRawBufferPointer,
    _ body: (Int, UnsafeRawBufferPointer, UnsafeMutableRawBufferPointer) throws -> Void
  ) throws {
    for index in 0..<(input.count / SQLCipherPages.size) {
      let range = index * SQLCipherPages.size..<(index + 1) * SQLCipherPages.size
      try body(
        index, page(index, of: input), UnsafeMutableRawBufferPointer(rebasing: output[range]))
    }
  }

  private static func page(
    _ index: Int, of buffer: UnsafeRawBufferPointer
  ) -> UnsafeRawBufferPointer {
    let start = index * SQLCipherPages.size
    return UnsafeRawBufferPointer(rebasing: buffer[start..<start + SQLCipherPages.size])
  }
}

extension StoreFileHeader {
  /// Whether a database has SQLCipher's page size and enough reserved bytes.
  fileprivate var hasRoom: Bool {
    pageSize == SQLCipherPages.size && reservedBytes == Int(StorePages.reservedBytes)
  }
}
