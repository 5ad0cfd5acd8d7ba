import SmartStore
import Testing

@Suite struct AcceptedStoreTests {
  private func store(_ platform: Platform, _ sql: String) throws -> TestStore {
    let test = try TestStore(platform)
    try test.store.registerSoup(
      "own",
      indexSpecs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "day", type: .string),
        IndexSpec(path: "__local__", type: .string),
      ])
    try test.store.upsert([#"{"Id":"a","day":"2024-01-01","__local__":false}"#], into: "own")
    try test.store.connection.execute(sql)
    try test.store.close()
    return test
  }

  private static let dated = "UPDATE soup_index_map SET columnType = 'date' WHERE path = 'day'"

  @Test func `an index of a type unknown to iOS is text, and keeps its name`() throws {
    let test = try store(.ios, Self.dated)
    let path = test.store.path
    let untrusted = try Store(untrusted: path)
    #expect(try untrusted.indexSpecs(of: "own")[1] == IndexSpec(path: "day", type: .string))
    try untrusted.close()
    #expect(try StoreCheck(platform: .ios).violations(at: path) == [])
    #expect(try IndependentReader.violations([path], .ios) == [])
    let opened = try Store(opening: path)
    try opened.upsert([#"{"Id":"b","day":5}"#], into: "own")
    #expect(try opened.elements(in: "own", where: "day", is: "5").count == 1)
    let types = try opened.connection.texts("SELECT columnType FROM soup_index_map")
    #expect(types == ["string", "date", "string"])
    try opened.close()
  }

  @Test func `an index of a type unknown to Android is damage`() throws {
    let test = try store(.android, Self.dated)
    #expect(throws: StoreError.self) { try Store(untrusted: test.store.path) }
    #expect(try !StoreCheck(platform: .android).violations(at: test.store.path).isEmpty)
  }

  @Test func `the table that Android's SQLite creates does not invalidate a store`() throws {
    let sql = "CREATE TABLE android_metadata (locale TEXT);"
    let rows = "INSERT INTO android_metadata VALUES ('en_US')"
    let test = try store(.android, sql + rows)
    let path = test.store.path
    try Store(untrusted: path).close()
    #expect(try StoreCheck(platform: .android).violations(at: path) == [])
    #expect(try IndependentReader.violations([path], .android) == [])
    // Only this table is accepted, and only on Android.
    for (platform, sql) in [
      (Platform.ios, sql), (.android, "CREATE TABLE android_metadata (locale TEXT, more TEXT)"),
      (.android, "CREATE TABLE android_metadata (locale TEXT DEFAULT 'en_US')"),
      (.android, "CREATE VIEW android_metadata AS SELECT 'en_US' AS locale"),
      (.android, "CREATE TABLE other (locale TEXT)"),
    ] {
      let test = try store(platform, sql)
      #expect(throws: StoreError.self, "\(sql)") { try Store(untrusted: test.store.path) }
    }
  }

  /// The query by which a platform's SDK finds edits, and the index types with which it works.
  private static let finders: [(Platform, String, Set<IndexType>)] = [
    (.android, "true", [.string, .fullText]),
    (.ios, "1", [.string, .fullText, .integer, .floating]),
  ]

  @Test func `an index on the local flag is a string, and no other is needed`() throws {
    for (platform, flag, finding) in Self.finders {
      for type in IndexType.allCases {
        let indexes = [IndexSpec(path: "__local__", type: type)]
        let test = try TestStore(platform)
        try test.store.registerSoup("s", indexSpecs: indexes)
        try test.store.upsert([#"{"__local__":true}"#], into: "s")
        let query = QuerySpec(
          smartSQL: "SELECT {s:_soupEntryId} FROM {s} WHERE {s:__local__} = '\(flag)'",
          pageSize: 10)
        #expect(try test.store.query(query).count == (finding.contains(type) ? 1 : 0))
        // The messages about the other types are true.
        let config = StoreConfig(soups: [StoreConfig.Soup(soupName: "t", indexes: indexes)])
        if type == .string {
          try test.store.register(config)
          continue
        }
        let error = #expect(throws: StoreError.self) { try test.store.register(config) }
        let words = error?.description ?? ""
        #expect(words.contains("no SDK finds") == (type == .json1))
        let isNumber = type == .integer || type == .floating
        #expect(words.contains("only finds edits on iOS") == isNumber)
        try test.store.close()
        let found = try StoreCheck(platform: platform).violations(at: test.store.path)
        #expect(found.map(\.path) == ["__local__"])
      }
    }
  }
}
