import JSON
import SQLite
import SmartStore
import System
import TestSupport

struct SealedStore {
  let directory = TemporaryDirectory("sealed")
  let passphrase = "cGFzc3BocmFzZSBvZiBhIHRlc3QsIDMyIGJ5dGVzIQ=="
  var iterations = 4000
  var plain: String { directory.file("plain.sqlite") }
  var sealed: String { directory.file("sealed.sqlite") }
  var opened: String { directory.file("opened.sqlite") }
  init(_ platform: Platform = .ios, elements: Int = 200, iterations: Int = 4000) throws {
    self.iterations = iterations
    let store = try Store(creating: plain, platform: platform)
    try store.registerSoup(
      "notes",
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "text", type: .fullText),
        IndexSpec(path: "address.city", type: .json1),
      ])
    let notes = (0..<elements).map { number -> JSONValue in
      [
        "Id": .string("id\(number)"), "text": .string("word\(number) common"),
        "address": ["city": .string("city \(number % 7)")],
        "long": .string(String(repeating: "x", count: number % 13 == 0 ? 9000 : 20)),
      ]
    }
    if !notes.isEmpty { _ = try store.upsert(notes, into: "notes") }
    try store.close()
  }

  func key(
    _ passphrase: String? = nil, iterations: Int? = nil, header: SQLCipherKey.Header = .sealed
  ) throws -> SQLCipherKey {
    try SQLCipherKey(
      passphrase: Secret(passphrase ?? self.passphrase),
      iterations: iterations ?? self.iterations, header: header)
  }

  func names() throws -> [String] { try Files.list(directory.path) }

  /// The error of unsealing `bytes`; nil if it succeeds.
  func failure(unsealing bytes: [UInt8], key: SQLCipherKey) throws -> SQLCipherError? {
    let file = directory.file("tried.sqlite")
    try DurableFile.write(bytes, to: file)
    do { try SQLCipherFile.unseal(file, to: opened, key: key) } catch { return error }
    try Files.remove(opened)
    return nil
  }

  /// The same store in a file with other settings, as programs without sealing create it.
  func made(elsewhere name: String, pageSize: Int = 4096, reserved: Int = 0) throws -> String {
    let file = directory.file(name)
    let copy = try Connection(file, mode: .create)
    defer { copy.close() }
    try copy.execute("PRAGMA page_size = \(pageSize)")
    try copy.reserveBytes(Int32(reserved))
    try copy.execute("ATTACH \(SQL.quoted(text: plain)) AS other")
    let version = try copy.integer("PRAGMA other.user_version") ?? 0
    try copy.execute("PRAGMA user_version = \(version)")
    for row in try copy.all("SELECT type, name, sql FROM other.sqlite_schema ORDER BY rowid") {
      guard let name = row[1].text, let sql = row[2].text, !name.hasPrefix("sqlite_") else {
        continue
      }
      // Its virtual table creates a shadow table.
      if name.contains("_fts_") { continue }
      try copy.execute(sql)
      guard row[0].text == "table" else { continue }
      let columns = sql.contains("VIRTUAL") ? "rowid, *" : "*"
      let places = sql.contains("VIRTUAL") ? "(rowid, TABLE_1_1)" : ""
      try copy.execute("INSERT INTO main.\(name)\(places) SELECT \(columns) FROM other.\(name)")
    }
    try copy.execute(
      "DELETE FROM main.sqlite_sequence; "
        + "INSERT INTO main.sqlite_sequence SELECT * FROM other.sqlite_sequence; DETACH other")
    return file
  }
}
