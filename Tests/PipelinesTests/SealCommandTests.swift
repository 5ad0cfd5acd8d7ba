import SQLite
import SmartStore
import System
import TestSupport
import Testing

@Suite struct SealCommandTests {
  let directory = TemporaryDirectory("seal")
  let passphrase = "a word that is in no argument"

  struct Outcome {
    let status: Int32
    let output: String
    let error: String
  }

  func attache(_ arguments: String..., passphrase: String? = nil) throws -> Outcome {
    var variables = ProcessEnvironment.variables()
    variables["STORE_KEY"] = passphrase ?? self.passphrase
    let result = try ChildProcess.run(ChildRun.executable, arguments, environment: variables)
    let outcome = Outcome(
      status: result.status, output: String(decoding: result.output, as: UTF8.self),
      error: String(decoding: result.error, as: UTF8.self))
    #expect(!(outcome.output + outcome.error).contains(self.passphrase))
    return outcome
  }

  func store() throws -> String {
    let path = directory.file("plain.sqlite")
    let store = try Store(creating: path, platform: .android)
    try store.registerSoup("notes", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    _ = try store.upsert([["Id": "1"]], into: "notes")
    try store.close()
    return path
  }

  @Test func `a store is sealed and unsealed with a passphrase of a variable or file`() throws {
    let (plain, sealed) = (try store(), directory.file("sealed.sqlite"))
    let first = try attache(
      "store", "seal", plain, "--out", sealed, "--passphrase-env", "STORE_KEY")
    #expect(first.status == 0)
    #expect(first.output.contains("sealed.sqlite is sealed"))
    #expect(first.error.isEmpty)
    let file = directory.file("key")
    try DurableFile.write(Array((passphrase + "\n").utf8), to: file)
    let opened = directory.file("opened.sqlite")
    let second = try attache(
      "store", "unseal", sealed, "--out", opened, "--passphrase-file", file, "--json")
    #expect(second.status == 0)
    #expect(second.output.hasPrefix(#"{"pages":"#))
    #expect(try Files.read(opened) == Files.read(plain))
  }

  @Test func `a plain header keeps its salt, and other iterations must be given`() throws {
    let (plain, sealed) = (try store(), directory.file("sealed.sqlite"))
    let made = try attache(
      "store", "seal", plain, "--out", sealed, "--passphrase-env", "STORE_KEY", "--plain-header",
      "--kdf-iterations", "7")
    let salt = try #require(made.output.split(separator: "salt ").last?.prefix { $0 != "\n" })
    let opened = directory.file("opened.sqlite")
    let wrong = try attache(
      "store", "unseal", sealed, "--out", opened, "--passphrase-env", "STORE_KEY", "--salt",
      String(salt))
    #expect(wrong.status == 8)
    let right = try attache(
      "store", "unseal", sealed, "--out", opened, "--passphrase-env", "STORE_KEY", "--salt",
      String(salt), "--kdf-iterations", "7")
    #expect(right.status == 0)
    #expect(try Files.read(opened) == Files.read(plain))
  }

  @Test func `a wrong passphrase and damage exit with 8 and name the page`() throws {
    let (plain, sealed) = (try store(), directory.file("sealed.sqlite"))
    _ = try attache("store", "seal", plain, "--out", sealed, "--passphrase-env", "STORE_KEY")
    let opened = directory.file("opened.sqlite")
    let words = ["store", "unseal", sealed, "--out", opened, "--passphrase-env", "STORE_KEY"]
    let wrong = try attache(
      words[0], words[1], words[2], words[3], words[4], words[5], words[6], passphrase: "other")
    #expect(wrong.status == 8)
    #expect(wrong.error.contains("page 1 of"))
    #expect(wrong.error.contains("give the passphrase that the store was sealed with"))
    for command in ["soups", "check"] {
      let read = try attache("store", command, sealed)
      #expect(read.status == 8, "\(command)")
      #expect(read.error.contains("attache store unseal \(sealed) --out PLAIN"), "\(read.error)")
    }
    var bytes = try Files.read(sealed)
    bytes[2 * 4096 + 7] ^= 1
    try DurableFile.write(bytes, to: sealed)
    let damaged = try attache(words[0], words[1], words[2], words[3], words[4], words[5], words[6])
    #expect(damaged.status == 8)
    #expect(damaged.error.contains("page 3 of"))
    #expect(!Files.exists(opened))
  }

  @Test func `a rebuilt store is reported, and a missing passphrase is a usage error`() throws {
    let bare = directory.file("bare.sqlite")
    let connection = try Connection(bare, mode: .create)
    try connection.execute("CREATE TABLE soup_attrs (x)")
    connection.close()
    let sealed = directory.file("sealed.sqlite")
    let made = try attache("store", "seal", bare, "--out", sealed, "--passphrase-env", "STORE_KEY")
    #expect(made.status == 0)
    #expect(made.error.contains("was rebuilt"))
    #expect(try attache("store", "seal", bare, "--out", directory.file("x")).status == 2)
    let unset = try attache(
      "store", "seal", bare, "--out", directory.file("x"), "--passphrase-env", "NO_SUCH_KEY")
    #expect(unset.status == 4)
    let there = try attache("store", "seal", bare, "--out", sealed, "--passphrase-env", "STORE_KEY")
    #expect(there.status == 1 && there.error.contains("name another file with --out"))
  }
}
