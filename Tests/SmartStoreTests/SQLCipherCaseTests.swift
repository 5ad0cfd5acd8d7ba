import SQLite
import SmartStore
import System
import TestSupport
import Testing

/// The SDKs' own cases of encrypted stores.
@Suite struct SQLCipherCaseTests {
  /// The number of rows that a connection without a key reads.
  private func plainCount(_ path: String) throws -> Int64? {
    let connection = try Connection(path, mode: .readOnly)
    defer { connection.close() }
    return try connection.integer("SELECT count(*) FROM TABLE_1")
  }

  // SDK: testEncryptDatabase (iOS)
  @Test(arguments: Platform.allCases)
  func `a sealed store opens only with its key`(_ platform: Platform) throws {
    let test = try SealedStore(platform, elements: 50)
    #expect(try plainCount(test.plain) == 50)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    let error = #expect(throws: SQLiteError.self) { try plainCount(test.sealed) }
    #expect(error?.isDamage == true)
    #expect(throws: SQLCipherError.wrongKey(path: test.sealed)) {
      try SQLCipherFile.unseal(test.sealed, to: test.opened, key: test.key("another"))
    }
    try SQLCipherFile.unseal(test.sealed, to: test.opened, key: test.key())
    #expect(try Files.read(test.opened) == Files.read(test.plain))
  }

  // SDK: testUnencryptDatabase (iOS)
  @Test(arguments: Platform.allCases)
  func `an unsealed store opens without a key, with all its content`(_ platform: Platform) throws {
    let test = try SealedStore(platform, elements: 50)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    try Files.remove(test.plain)
    try SQLCipherFile.unseal(test.sealed, to: test.opened, key: test.key())
    #expect(try plainCount(test.opened) == 50)
    let store = try Store(opening: test.opened)
    #expect(store.platform == platform)
    #expect(try store.count(QuerySpec(soupName: "notes", .exact(path: "Id", matchKey: "id7"))) == 1)
    try store.upsert([#"{"Id":"new"}"#], into: "notes")
    try store.close()
    #expect(try StoreCheck(origin: .server).violations(at: test.opened) == [])
  }

  // SDK: testSmartStoreIsRecreatedWhenKeyIsLost (iOS)
  @Test func `a store whose key is lost is rejected, kept, and replaced only on purpose`() throws {
    let test = try SealedStore(.ios, elements: 20)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    let before = try Files.read(test.sealed)
    #expect(throws: SQLCipherError.wrongKey(path: test.sealed)) {
      try SQLCipherFile.unseal(test.sealed, to: test.opened, key: test.key("new key"))
    }
    #expect(throws: StoreError.self) { try Store(opening: test.sealed) }
    #expect(throws: StoreError.self) { try Store(creating: test.sealed, platform: .ios) }
    #expect(try Files.read(test.sealed) == before)
    #expect(!Files.exists(test.opened))
    try Files.remove(test.sealed)
    let new = try Store(creating: test.opened, platform: .ios)
    #expect(try new.soupNames() == [])
    try new.close()
    try SQLCipherFile.seal(test.opened, to: test.sealed, key: test.key("new key"))
    try Files.remove(test.opened)
    try SQLCipherFile.unseal(test.sealed, to: test.opened, key: test.key("new key"))
    #expect(try Store(opening: test.opened).soupNames() == [])
  }
}

@Suite(
  .enabled(if: ForeignSQLCipher.isThere, "SQLCipher's Python package is missing: make deps-test"))
struct SQLCipherSettingsTests {
  // SDK: testRuntimeSettings
  @Test(arguments: Platform.allCases)
  func `a sealed store is readable with the SDK's settings`(_ platform: Platform) throws {
    let test = try SealedStore(platform, elements: 20)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    let settings = [
      "PRAGMA kdf_iter", "PRAGMA cipher_page_size", "PRAGMA cipher_use_hmac",
      "PRAGMA cipher_plaintext_header_size", "PRAGMA cipher_hmac_algorithm",
      "PRAGMA cipher_kdf_algorithm",
    ]
    let answers = try ForeignSQLCipher.run(
      test.sealed, passphrase: test.passphrase, "SELECT count(*) FROM TABLE_1", settings[0],
      settings[1], settings[2], settings[3], settings[4], settings[5])
    #expect(
      answers == [
        "[[20]]", #"[["4000"]]"#, #"[["4096"]]"#, #"[["1"]]"#, #"[["0"]]"#,
        #"[["HMAC_SHA512"]]"#, #"[["PBKDF2_HMAC_SHA512"]]"#,
      ])
    // If one setting differs, the file is not readable as a database.
    for other in [
      "PRAGMA kdf_iter = 256000", "PRAGMA cipher_page_size = 1024", "PRAGMA cipher_use_hmac = OFF",
      "PRAGMA cipher_hmac_algorithm = HMAC_SHA1", "PRAGMA cipher_kdf_algorithm = PBKDF2_HMAC_SHA1",
    ] {
      #expect(throws: ForeignSQLCipher.ForeignFailure.self, "\(other)") {
        try ForeignSQLCipher.run(
          test.sealed, passphrase: test.passphrase, other, "SELECT count(*) FROM TABLE_1")
      }
    }
  }

  // SDK: testSQLCipherVersion (Android)
  // SDK: testSqlCipherVersion (iOS)
  @Test(arguments: Platform.allCases)
  func `a sealed store has the format of SQLCipher 4 and no other`(_ platform: Platform) throws {
    let test = try SealedStore(platform, elements: 20)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key())
    let answers = try ForeignSQLCipher.run(
      test.sealed, passphrase: test.passphrase, "PRAGMA cipher_compatibility = 4",
      "PRAGMA kdf_iter = 4000", "SELECT count(*) FROM TABLE_1", "PRAGMA cipher_version")
    #expect(answers.dropLast().last == "[[20]]")
    #expect(answers.last?.hasPrefix(#"[["4."#) == true, "\(answers)")
    for version in 1...3 {
      #expect(throws: ForeignSQLCipher.ForeignFailure.self) {
        try ForeignSQLCipher.run(
          test.sealed, passphrase: test.passphrase, "PRAGMA cipher_compatibility = \(version)",
          "PRAGMA kdf_iter = 4000", "SELECT count(*) FROM TABLE_1")
      }
    }
  }
}
