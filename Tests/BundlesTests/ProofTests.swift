import Archive
import JSON
import Returns
import SQLite
import SmartStore
import Snapshots
import System
import TestSupport
import Testing

@Suite struct ProofTests {
  private let issued: Issued
  init() throws { issued = try Issued(.ios) }

  let directory = TemporaryDirectory()

  private func validate(
    _ path: String, _ expectation: ReturnValidator.Expectation = Issued.expectation()
  ) throws -> ValidatedReturn { try Issued.validate(path, expectation, in: directory) }

  private func refusal(
    _ path: String, _ expectation: ReturnValidator.Expectation = Issued.expectation()
  ) throws -> Refusal? { #expect(throws: Refusal.self) { _ = try validate(path, expectation) } }

  /// Changes an element on the device and leaves the change in the `-wal`.
  private func edit(_ path: String, inLog: Bool) throws {
    // The connection stays open: closing it would checkpoint the log.
    let device = try Connection(path)
    if inLog { try device.execute("PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0") }
    try device.execute(
      """
      UPDATE TABLE_1 SET soup = json_set(soup, '$.Name', 'from the device') WHERE id = 1
      """)
    let copy = directory.file("returned.db")
    try Files.copy(path, to: copy)
    if inLog { try Files.copy(path + "-wal", to: copy + "-wal") }
    device.close()
  }

  private func name(in store: ValidatedStore) throws -> String? {
    let opened = try Store(untrusted: store.path)
    let text = try opened.retrieve([1], from: "accounts").first ?? "{}"
    try opened.close()
    return try JSONValue(parsing: text)["Name"]?.string
  }

  @Test(arguments: Platform.allCases, [true, false])
  func `a bare store is validated with its log's edit`(platform: Platform, inLog: Bool) throws {
    let issued = try Issued(platform)
    try edit(issued.storePath, inLog: inLog)
    let before = try Files.read(directory.file("returned.db"))
    let validated = try validate(directory.file("returned.db"))
    #expect(validated.platform == platform)
    #expect(validated.stamp == Issued.stamp(platform))
    #expect(validated.sourceName == "returned.db")
    #expect(validated.stores.map(\.storeName) == ["default"])
    #expect(validated.stores[0].unknownSoups == [] && validated.stores[0].missingSoups == [])
    #expect(try name(in: validated.stores[0]) == "from the device")
    #expect(!Files.exists(validated.stores[0].path + "-wal"))
    #expect(
      try Files.read(directory.file("returned.db")) == before, "what came in is kept as it was")
  }

  @Test func `a returned bundle is validated with the log next to its store`() throws {
    let issued = try Issued(.android)
    try edit(issued.storePath, inLog: true)
    let store = directory.file("returned.db")
    let path = try issued.returned(
      in: directory,
      [
        (issued.entry.path + "-wal", store + "-wal"), (issued.entry.path, store),
        (issued.entry.path + "-shm", store),
      ])
    let validated = try validate(path)
    #expect(try name(in: validated.stores[0]) == "from the device")
    #expect(!validated.stores[0].isUntouched)
  }

  @Test func `an issued bundle that is returned unchanged is recognized as untouched`() throws {
    let validated = try validate(
      try issued.returned(in: directory, [(issued.entry.path, issued.storePath)]))
    #expect(validated.stores[0].isUntouched)
    #expect(validated.stores[0].scope == .user)
  }

  @Test(arguments: Platform.allCases)
  func `a checkpointed store and an exported one are validated`(platform: Platform) throws {
    let issued = try Issued(platform)
    let device = try Connection(issued.storePath)
    try device.execute("PRAGMA journal_mode = WAL")
    try device.execute("UPDATE TABLE_1 SET lastModified = 5 WHERE id = 1")
    try device.checkpointTruncate()
    try Files.copy(issued.storePath, to: directory.file("wal-mode.db"))
    // The result of `sqlcipher_export`: other pages, no reserved bytes, no version.
    try device.execute("VACUUM INTO '\(directory.file("exported.db"))'")
    device.close()
    let exported = try Connection(directory.file("exported.db"))
    try exported.execute("PRAGMA user_version = 0; PRAGMA page_size = 8192; VACUUM")
    exported.close()
    for name in ["wal-mode.db", "exported.db"] {
      let validated = try validate(directory.file(name))
      #expect(validated.platform == platform, "\(name)")
      let store = try Store(untrusted: validated.stores[0].path)
      #expect(try store.count(of: "accounts") == 20)
      try store.close()
    }
  }

  @Test func `the app's members of the stamp identify the lineage`() throws {
    let store = try Store(opening: issued.storePath)
    var stamp = try #require(Issued.stamp(.ios).json.object)
    stamp["_soupEntryId"] = 1
    stamp["install"] = "6f1c"
    stamp["handback"] = 2
    try store.upsert([JSONValue.object(stamp).text], into: "attache_stamp")
    try store.close()
    let validated = try validate(issued.storePath)
    #expect(validated.stamp.install == "6f1c" && validated.stamp.handback == 2)
  }

  @Test func `an app's own soup is listed, a missing or reindexed one is reported`() throws {
    let store = try Store(opening: issued.storePath)
    let specs = [IndexSpec(path: "x", type: .json1), IndexSpec(path: "y", type: .fullText)]
    try store.registerSoup("drafts", indexSpecs: specs)
    try store.registerSoup("syncs_soup", indexSpecs: specs)
    try store.removeSoup("cases")
    try store.removeSoup("accounts")
    try store.registerSoup("accounts", indexSpecs: specs)
    try store.close()
    let validated = try validate(issued.storePath).stores[0]
    #expect(validated.unknownSoups == ["drafts"])
    #expect(validated.missingSoups == ["cases"])
    #expect(validated.reindexedSoups == ["accounts"])
  }

  @Test func `a store without its stamp is assigned as the operator says`() throws {
    let issued = try Issued(.android)
    let store = try Store(opening: issued.storePath)
    try store.removeSoup("attache_stamp")
    try store.close()
    let refused = try refusal(issued.storePath)
    #expect(refused?.code == .noStamp)
    #expect(
      refused?.fix.hasSuffix("attache ingest PIPELINE --generation SNAPSHOT/GENERATION FILE")
        == true)
    try Files.remove(directory.file("root"))
    var expectation = Issued.expectation()
    expectation.asSnapshot = .init(user: Issued.user, generation: 3, key: Issued.key)
    #expect(try validate(issued.storePath, expectation).stamp == Issued.stamp(.android))
  }

  // MARK: Origin

  @Test func `another org, pipeline, user, key or platform is rejected with its code`() throws {
    func code(_ change: (inout ReturnValidator.Expectation) -> Void) throws -> Refusal.Code? {
      try Files.remove(directory.file("root"))
      var expectation = Issued.expectation()
      change(&expectation)
      return try refusal(issued.storePath, expectation)?.code
    }
    #expect(try code { $0.org = "00D000000000002EAA" } == .otherOrg)
    #expect(try code { $0.pipeline = "other" } == .otherPipeline)
    #expect(try code { $0.users = [] } == .otherUser)
    #expect(try code { $0.key = [1, 2, 3] } == .forgedStamp)
    #expect(try code { $0.accepts = [.bundle] } == .notAccepted)
    #expect(try code { $0.fileBytes = 10 } == .tooLarge)
    #expect(try code { $0.stores = [] } == .contradiction)
    let store = try Store(opening: issued.storePath)
    try Issued.stamp(.android).write(into: store)
    try store.close()
    #expect(try refusal(issued.storePath)?.code == .otherPlatform)
  }

  @Test func `a stamp that a user wrote is reported as forged`() throws {
    let store = try Store(opening: issued.storePath)
    let forged = Provenance(
      org: Issued.org, user: Issued.user, pipeline: Issued.pipeline, generation: 99,
      platform: .ios, key: [9])
    try forged.write(into: store)
    try store.close()
    #expect(try refusal(issued.storePath)?.code == .forgedStamp)
  }

  @Test func `an untrusted name cannot add lines or colors to the output`() {
    let refusal = Refusal(.damaged, "a\u{1B}[31m\nb\u{202E}c.db é", fix: "")
    #expect(refusal.sentence == "a?[31m?b?c.db é")
  }

  // MARK: Content

  @Test(arguments: [
    "CREATE TRIGGER t AFTER INSERT ON TABLE_1 BEGIN SELECT load_extension('x'); END",
    "CREATE VIEW v AS SELECT * FROM TABLE_1", "CREATE TABLE extra (a)",
    "CREATE VIRTUAL TABLE r USING rtree(id, a, b)", "CREATE VIRTUAL TABLE f USING fts5(a)",
    "CREATE INDEX i ON TABLE_1 (abs(id))", "CREATE INDEX i ON TABLE_1 (id) WHERE id > 1",
    "ALTER TABLE TABLE_1 ADD COLUMN g GENERATED ALWAYS AS (abs(id))",
    "ALTER TABLE TABLE_1 ADD COLUMN more TEXT",
    "ALTER TABLE soup_attrs ADD COLUMN more TEXT DEFAULT 'x'", "DROP INDEX TABLE_1_0_idx",
    "DROP TABLE TABLE_2", "UPDATE soup_index_map SET columnName = 'random()' WHERE path = 'Id'",
    "UPDATE soup_index_map SET columnType = 'integer' WHERE path = 'Id'",
    "INSERT INTO soup_attrs (soupName) VALUES ('accounts')",
    "INSERT INTO soup_attrs (soupName) VALUES ('ghost')",
    "DROP TABLE soup_index_map; CREATE VIEW soup_index_map AS SELECT 1 AS soupName",
  ])
  func `a schema that no SmartStore has is rejected`(sql: String) throws {
    let connection = try Connection(issued.storePath)
    try connection.execute(sql)
    connection.close()
    let refusal = try refusal(issued.storePath)
    #expect(
      refusal?.code == .notAStore || refusal?.code == .damaged, "\(String(describing: refusal))")
    #expect(refusal?.sentence.contains("store.sqlite") == true)
  }

  @Test func `a file that is not a sound database is rejected`() throws {
    let whole = try Files.read(issued.storePath)
    func code(_ name: String, _ bytes: [UInt8]) throws -> Refusal.Code? {
      try DurableFile.write(bytes, to: directory.file(name))
      return try refusal(directory.file(name))?.code
    }
    func changed(_ at: Int, _ value: UInt8) -> [UInt8] {
      var bytes = whole
      bytes[at] = value
      return bytes
    }
    #expect(try code("empty", []) == .notADatabase)
    #expect(try code("text", Array("hello".utf8)) == .notADatabase)
    #expect(
      try code("noise", (0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        == .notADatabase)
    #expect(try code("page size", changed(17, 3)) == .damaged)
    #expect(try code("page size lie", changed(16, 2)) == .damaged)
    #expect(try code("version", changed(18, 3)) == .damaged)
    #expect(try code("fractions", changed(21, 65)) == .damaged)
    #expect(try code("schema format", changed(47, 5)) == .damaged)
    #expect(try code("encoding", changed(59, 2)) == .damaged)
    #expect(try code("half", Array(whole[..<(whole.count / 2)])) == .damaged)
    #expect(try code("cut", Array(whole.dropLast(4096))) == .damaged)
    var torn = whole
    for at in 4096..<8192 { torn[at] = 0xFF }
    #expect(try code("torn page", torn) == .damaged)
  }

  @Test func `a store truncated at any length is rejected without a crash`() throws {
    let issued = try Issued(.android)
    let whole = try Files.read(issued.storePath)
    for length in stride(from: 1, to: whole.count - 1, by: 4999) {
      let path = directory.file("cut\(length)")
      try DurableFile.write(Array(whole[..<length]), to: path)
      #expect(throws: Refusal.self, "\(length) bytes") { _ = try validate(path) }
    }
  }

  @Test func `changed bytes are rejected or leave a readable store`() throws {
    let whole = try Files.read(issued.storePath)
    for place in stride(from: 0, to: whole.count, by: whole.count / 60) {
      var bytes = whole
      bytes[place] ^= 0x81
      let path = directory.file("flip\(place)")
      try DurableFile.write(bytes, to: path)
      do { _ = try validate(path).stores[0].path } catch is Refusal {}
    }
  }

  @Test func `a log of another file is not applied, and an invalid log is ignored`() throws {
    let path = directory.file("store.db")
    try Files.copy(issued.storePath, to: path)
    try DurableFile.write([UInt8](repeating: 0x37, count: 9000), to: path + "-wal")
    do {
      let validated = try validate(path)
      #expect(try name(in: validated.stores[0]) == "Account é 0")
    } catch is Refusal {}
  }

  @Test func `a journal is rejected`() throws {
    try DurableFile.write([1], to: issued.storePath + "-journal")
    #expect(try refusal(issued.storePath)?.code == .journal)
  }

  @Test func `a bundle with another file, no store or of another issue is rejected`() throws {
    let store = (issued.entry.path, issued.storePath)
    func code(_ files: [(String, String)], _ change: (inout Issued) -> Void = { _ in }) throws
      -> Refusal.Code?
    {
      try Files.remove(directory.file("root"))
      var changed = issued
      change(&changed)
      return try refusal(changed.returned(in: directory, files))?.code
    }
    #expect(try code([]) == .contents)
    #expect(try code([store, ("extra", issued.storePath)]) == .contents)
    #expect(try code([store, (store.0 + "-journal", issued.storePath)]) == .contents)
    #expect(try code([store]) { $0.manifest.generation = 4 } == .contradiction)
    #expect(try code([store]) { $0.manifest.stores[0].generation = 4 } == .contradiction)
    #expect(try code([store]) { $0.manifest.user = "other" } == .contradiction)
    #expect(try code([store]) { $0.manifest.platform = .android } == .contradiction)
    let path = directory.file("no.zip")
    let writer = try ArchiveWriter(path: path, format: .zip, modified: 0)
    try writer.add(name: "../store.sqlite".replacing("../", with: ""), file: issued.storePath)
    try writer.close()
    #expect(try refusal(path)?.code == .notABundle)
    let whole = try Files.read(path)
    try DurableFile.write(Array(whole.dropLast(30)), to: path)
    #expect(try refusal(path)?.code == .archive)
  }
}
