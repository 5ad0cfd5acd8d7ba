import Crypto
import SQLite
import SmartStore
import System
import TestSupport
import Testing

/// SQLCipher itself reads files that attache seals, and attache unseals files that SQLCipher
/// writes.
@Suite(
  .enabled(if: ForeignSQLCipher.isThere, "SQLCipher's Python package is missing: make deps-test"))
struct SQLCipherAgreementTests {
  @Test(arguments: Platform.allCases, [1, 4000])
  func `SQLCipher reads, checks and writes sealed files`(_ platform: Platform, _ rounds: Int)
    throws
  {
    let test = try SealedStore(platform, elements: 300, iterations: rounds)
    for header in [SQLCipherKey.Header.sealed, .plain(salt: RandomBytes.make(16))] {
      let key = try test.key(header: header)
      let outcome = try SQLCipherFile.seal(test.plain, to: test.sealed, key: key)
      let salt = header == .sealed ? nil : Hex.encode(outcome.salt)
      let answers = try ForeignSQLCipher.run(
        test.sealed, passphrase: test.passphrase, iterations: rounds, salt: salt,
        "PRAGMA cipher_integrity_check", "PRAGMA integrity_check", "PRAGMA user_version",
        "SELECT count(*) FROM TABLE_1",
        "SELECT rowid FROM TABLE_1_fts WHERE TABLE_1_fts MATCH 'word42'",
        "SELECT count(*) FROM TABLE_1 WHERE json_extract(soup, '$.address.city') = 'city 3'")
      let version = platform == .android ? "[[3]]" : "[[0]]"
      #expect(answers == ["[]", #"[["ok"]]"#, version, "[[300]]", "[[43]]", "[[43]]"])
      // SQLCipher writes, and attache reads the result.
      _ = try ForeignSQLCipher.run(
        test.sealed, passphrase: test.passphrase, iterations: rounds, salt: salt,
        "UPDATE TABLE_1 SET soup = json_set(soup, '$.text', 'written by SQLCipher') WHERE id = 42",
        "UPDATE TABLE_1_fts SET TABLE_1_1 = 'written by SQLCipher' WHERE rowid = 42",
        "UPDATE TABLE_1 SET TABLE_1_1 = 'written by SQLCipher' WHERE id = 42",
        "CREATE TABLE big (x)",
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
          + "INSERT INTO big SELECT randomblob(1000) FROM n", "DROP TABLE big")
      try SQLCipherFile.unseal(test.sealed, to: test.opened, key: key)
      let connection = try Connection(test.opened, mode: .readOnly)
      #expect(try connection.quickCheck() == [])
      let texts = try connection.texts(
        "SELECT json_extract(soup, '$.text') FROM TABLE_1 WHERE id IN "
          + "(SELECT rowid FROM TABLE_1_fts WHERE TABLE_1_fts MATCH 'written')")
      #expect(texts == ["written by SQLCipher"])
      connection.close()
      try Files.remove(test.sealed)
      try Files.remove(test.opened)
    }
  }

  @Test func `a file that an app exports through SQLCipher is unsealed`() throws {
    let test = try SealedStore(.android, elements: 100)
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key("the device's key"))
    let exported = test.directory.file("exported.db")
    _ = try ForeignSQLCipher.run(
      test.sealed, passphrase: "the device's key",
      "ATTACH DATABASE '\(exported)' AS returned KEY '\(test.passphrase)'",
      "PRAGMA returned.kdf_iter = 4000", "SELECT sqlcipher_export('returned')",
      "DETACH DATABASE returned")
    try SQLCipherFile.unseal(exported, to: test.opened, key: test.key())
    let violations = try StoreCheck(origin: .device).violations(at: test.opened)
    // The only thing that an export omits.
    let version = "file: user_version is not 3, so Android would not open it"
    #expect(violations.map(\.description) == [version])
    let store = try Store(untrusted: test.opened)
    #expect(store.platform == .android)
    try store.close()
  }

  @Test func `a key in hexadecimal digits is used directly`() throws {
    let test = try SealedStore(elements: 10)
    let raw = "x'" + Hex.encode(RandomBytes.make(32)) + "'"
    try SQLCipherFile.seal(test.plain, to: test.sealed, key: test.key(raw))
    let answers = try ForeignSQLCipher.run(
      test.sealed, passphrase: raw, "SELECT count(*) FROM TABLE_1")
    #expect(answers == ["[[10]]"])
  }

  @Test func `SQLCipher accepts a file rebuilt for sealing`() throws {
    let test = try SealedStore(elements: 100)
    let bare = try test.made(elsewhere: "bare.sqlite")
    #expect(try SQLCipherFile.seal(bare, to: test.sealed, key: test.key()).wasRebuilt)
    let answers = try ForeignSQLCipher.run(
      test.sealed, passphrase: test.passphrase, "PRAGMA cipher_integrity_check",
      "PRAGMA integrity_check", "SELECT count(*) FROM TABLE_1")
    #expect(answers == ["[]", #"[["ok"]]"#, "[[100]]"])
  }
}
