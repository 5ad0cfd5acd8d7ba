import SQLite
import SmartStore
import TestSupport
import Testing

final class TestStore {
  let directory = TemporaryDirectory()
  let store: Store
  var now: Int64 = 1_700_000_000_000
  init(_ platform: Platform) throws {
    store = try Store(creating: directory.file("store.sqlite"), platform: platform)
    store.clock = { [unowned self] in self.now }
  }

  func rows(_ sql: String) throws -> [[SQLiteValue]] { try store.connection.all(SQL(sql)) }

  /// The name and text of every object in the schema, in the order of creation.
  func schema() throws -> [String] {
    try store.connection.texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
  }
}

@Suite struct StoreTests {
  // SDK: testMetaDataTableCreated (Android), testMetaDataTablesCreated (iOS)
  @Test(arguments: Platform.allCases)
  func `a new store has meta tables and reserved bytes for sealing`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    let connection = test.store.connection
    #expect(try connection.reservedBytes() == 80)
    #expect(try connection.integer("PRAGMA page_size") == 4096)
    #expect(try connection.integer("PRAGMA user_version") == (platform == .android ? 3 : 0))
    let names = try connection.texts("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite%'")
    let extra = platform == .android ? ["soup_index_map_0"] : []
    #expect(
      names == ["soup_index_map"] + extra + [
        "soup_attrs", "soup_attrs_0", "long_operations_status",
      ])
  }

  // SDK: testRegisterDropSoup (Android), testRegisterRemoveSoupWithStringIndexes (iOS)
  // SDK: testRegisterRemoveSoupWithJSON1Indexes (iOS)
  @Test(arguments: Platform.allCases)
  func `a soup has the tables and index texts of its platform`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("first", indexSpecs: [IndexSpec(path: "a", type: .string)])
    let before = try test.schema().count
    let specs = [
      IndexSpec(path: "key", type: .string), IndexSpec(path: "n", type: .integer),
      IndexSpec(path: "address.city", type: .json1), IndexSpec(path: "f", type: .floating),
      IndexSpec(path: "t", type: .fullText),
    ]
    try test.store.registerSoup("third soup", indexSpecs: specs)
    let on = platform == .ios ? "ON" : "on"
    let expected = [
      "CREATE TABLE TABLE_2 (id INTEGER PRIMARY KEY AUTOINCREMENT, soup TEXT, created INTEGER, "
        + "lastModified INTEGER, TABLE_2_0 TEXT , TABLE_2_1 INTEGER , TABLE_2_3 REAL , "
        + "TABLE_2_4 TEXT )", "CREATE VIRTUAL TABLE TABLE_2_fts USING fts5(TABLE_2_4)",
      "CREATE TABLE 'TABLE_2_fts_data'(id INTEGER PRIMARY KEY, block BLOB)",
      "CREATE TABLE 'TABLE_2_fts_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID",
      "CREATE TABLE 'TABLE_2_fts_content'(id INTEGER PRIMARY KEY, c0)",
      "CREATE TABLE 'TABLE_2_fts_docsize'(id INTEGER PRIMARY KEY, sz BLOB)",
      "CREATE TABLE 'TABLE_2_fts_config'(k PRIMARY KEY, v) WITHOUT ROWID",
      "CREATE INDEX TABLE_2_created_idx \(on) TABLE_2 ( created )",
      "CREATE INDEX TABLE_2_lastModified_idx \(on) TABLE_2 ( lastModified )",
      "CREATE INDEX TABLE_2_0_idx \(on) TABLE_2 ( TABLE_2_0 )",
      "CREATE INDEX TABLE_2_1_idx \(on) TABLE_2 ( TABLE_2_1 )",
      "CREATE INDEX TABLE_2_2_idx \(on) TABLE_2 ( json_extract(soup, '$.address.city') )",
      "CREATE INDEX TABLE_2_3_idx \(on) TABLE_2 ( TABLE_2_3 )",
      "CREATE INDEX TABLE_2_4_idx \(on) TABLE_2 ( TABLE_2_4 )",
    ]
    #expect(Array(try test.schema().dropFirst(before)) == expected)
    #expect(
      try test.rows(
        "SELECT path, columnName, columnType FROM soup_index_map WHERE soupName = 'third soup'")
        == [
          ["key", "TABLE_2_0", "string"], ["n", "TABLE_2_1", "integer"],
          ["address.city", "json_extract(soup, '$.address.city')", "json1"],
          ["f", "TABLE_2_3", "floating"], ["t", "TABLE_2_4", "full_text"],
        ])
    #expect(try test.store.indexSpecs(of: "third soup") == specs)
    #expect(try test.store.soupNames() == ["first", "third soup"])
    try test.store.removeSoup("third soup")
    #expect(try test.schema().count == before)
    #expect(try test.store.hasSoup("third soup") == false)
    try test.store.removeSoup("third soup")
    try test.store.registerSoup("again", indexSpecs: specs)
    #expect(try test.rows("SELECT id FROM soup_attrs") == [[1], [3]])
  }

  // SDK: testMultipleRegisterSameSoup (iOS)
  @Test func `registering again changes nothing`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .string)])
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "b", type: .integer)])
    #expect(try test.store.indexSpecs(of: "s").map(\.path) == ["a"])
    #expect(try test.rows("SELECT count(*) FROM soup_attrs") == [[1]])
  }

  // SDK: testBadRegisterSoup (iOS)
  @Test func `a definition that would break a device is rejected`() throws {
    let test = try TestStore(.android)
    let store = test.store
    let a = IndexSpec(path: "a", type: .string)
    #expect(throws: StoreError.emptySoupName) { try store.registerSoup("", indexSpecs: [a]) }
    #expect(throws: StoreError.noIndexSpecs(soup: "s")) {
      try store.registerSoup("s", indexSpecs: [])
    }
    #expect(throws: StoreError.duplicatePath(soup: "s", path: "a")) {
      try store.registerSoup("s", indexSpecs: [a, IndexSpec(path: "a", type: .json1)])
    }
    #expect(try store.soupNames() == [])
  }

  @Test(arguments: Platform.allCases)
  func `a store is reopened with its platform`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .fullText)])
    try test.store.upsert([#"{"a":"x"}"#], into: "s")
    try test.store.close()
    #expect(try Store(opening: test.store.path).platform == platform)
    let readOnly = try Store(opening: test.store.path, readOnly: true)
    #expect(throws: StoreError.self) { try readOnly.clearSoup("s") }
    let untrusted = try Store(untrusted: test.store.path)
    #expect(untrusted.platform == platform)
    #expect(try untrusted.count(of: "s") == 1)
    #expect(throws: StoreError.self) { try Store(creating: test.store.path, platform: platform) }
    let other = try Connection(test.directory.file("other.db"), mode: .create)
    try other.execute("CREATE TABLE soup_attrs (a)")
    let error = #expect(throws: StoreError.self) { try Store(opening: other.path) }
    #expect(
      error?.description == "\(other.path) is not a SmartStore: it has no table soup_index_map")
  }

  @Test func `a failed change leaves nothing`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .string)])
    #expect(throws: StoreError.self) {
      try test.store.transaction {
        try test.store.registerSoup("t", indexSpecs: [IndexSpec(path: "a", type: .string)])
        try test.store.upsert([#"{"a":1}"#], into: "s")
        try test.store.upsert(["[]"], into: "s")
      }
    }
    #expect(try test.store.soupNames() == ["s"])
    #expect(try test.store.count(of: "s") == 0)
  }
}
