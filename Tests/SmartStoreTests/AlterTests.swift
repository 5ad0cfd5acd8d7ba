import SQLite
import SmartStore
import Testing

enum Altering {
  static let elements = [
    #"{"lastName":"Doe","address":{"city":"San Francisco","street":"1 market"}}"#,
    #"{"lastName":"Jackson","address":{"city":"Los Angeles","street":"100 mission"}}"#,
    #"{"lastName":"Watson","address":{"city":"London","street":"50 market"}}"#,
  ]
  static let cities = [
    #"{"city":"San Francisco","country":"usa"}"#, #"{"city":"Paris","country":"france"}"#,
  ]

  static func make(
    _ platform: Platform, _ specs: [IndexSpec], _ elements: [String] = elements
  ) throws -> TestStore {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: specs)
    try test.store.upsert(elements, into: "s")
    return test
  }

  /// Runs an alteration up to a step, the state after an app is killed.
  static func interrupt(
    _ store: Store, _ specs: [IndexSpec], after step: SoupAlteration.Step, reIndexData: Bool = true
  ) throws {
    var alteration = SoupAlteration(
      platform: store.platform, old: try store.soup("s"), specs: specs, reIndexData: reIndexData)
    let row = try store.begin(alteration)
    try store.run(&alteration, row: row, through: step)
  }

  static func violations(_ test: TestStore) throws -> [String] {
    try test.store.close()
    return try StoreCheck(origin: .server).violations(at: test.store.path).map(\.description)
  }

  static let old = [IndexSpec(path: "lastName", type: .string)]
  static let new = [
    IndexSpec(path: "lastName", type: .string), IndexSpec(path: "address.city", type: .string),
    IndexSpec(path: "address.street", type: .fullText),
  ]
}

@Suite struct AlterTests {
  func make(_ platform: Platform, _ specs: [IndexSpec], _ elements: [String] = Altering.elements)
    throws -> TestStore
  { try Altering.make(platform, specs, elements) }

  // SDK: testGetSoupIndexSpecs
  @Test(arguments: Platform.allCases)
  func `index specs are read as given`(_ platform: Platform) throws {
    let specs = [
      IndexSpec(path: "lastName", type: .string), IndexSpec(path: "address.city", type: .string),
      IndexSpec(path: "n", type: .json1),
    ]
    let test = try make(platform, specs)
    #expect(try test.store.indexSpecs(of: "s") == specs)
    #expect(
      try test.store.soup("s").columnNames
        == ["TABLE_1_0", "TABLE_1_1", "json_extract(soup, '$.n')"])
    #expect(throws: StoreError.unknownSoup("t")) { try test.store.indexSpecs(of: "t") }
  }

  // SDK: testAlterSoupNoReIndexing, testAlterSoupWithReIndexing
  @Test(arguments: Platform.allCases, [false, true])
  func `a new index is filled on request`(_ platform: Platform, _ reIndexData: Bool) throws {
    let test = try make(
      platform,
      [IndexSpec(path: "lastName", type: .string), IndexSpec(path: "address.city", type: .string)])
    let before = try test.rows("SELECT id, soup, created, lastModified FROM TABLE_1")
    test.now += 1000
    let specs = [
      IndexSpec(path: "lastName", type: .string), IndexSpec(path: "address.street", type: .string),
    ]
    try test.store.alterSoup("s", indexSpecs: specs, reIndexData: reIndexData)
    #expect(try test.store.indexSpecs(of: "s") == specs)
    #expect(try test.rows("SELECT id, soup, created, lastModified FROM TABLE_1") == before)
    let streets: [SQLiteValue] =
      reIndexData ? ["1 market", "100 mission", "50 market"] : [.null, .null, .null]
    #expect(
      try test.rows("SELECT TABLE_1_0, TABLE_1_1 FROM TABLE_1 ORDER BY id")
        == zip(["Doe", "Jackson", "Watson"], streets).map { [$0, $1] })
    #expect(try test.rows("SELECT * FROM long_operations_status") == [])
    #expect(
      try Altering.violations(test).map { $0.contains("path address.street: the column does not") }
        == (reIndexData ? [] : [true, true, true]))
  }

  // SDK: testAlterSoupTypeChangeStringToInteger
  @Test(arguments: Platform.allCases)
  func `a number indexed as text is then ordered as a number`(_ platform: Platform) throws {
    func specs(_ type: IndexType) -> [IndexSpec] {
      [IndexSpec(path: "name", type: .string), IndexSpec(path: "population", type: type)]
    }
    let test = try make(
      platform, specs(.string),
      [#"{"name":"San Francisco","population":825863}"#, #"{"name":"Paris","population":2234105}"#])
    let query = QuerySpec(
      soupName: "s", .all, selectPaths: ["name"], orderPath: "population", pageSize: 2)
    #expect(try test.store.query(query) == [#"["Paris"]"#, #"["San Francisco"]"#])
    try test.store.alterSoup("s", indexSpecs: specs(.integer), reIndexData: true)
    #expect(try test.store.query(query) == [#"["San Francisco"]"#, #"["Paris"]"#])
    #expect(try Altering.violations(test) == [])
  }

  // SDK: testAlterSoupTypeChangeStringToFullText, testAlterSoupTypeChangeFullTextToString
  // SDK: testAlterSoupTypeChangeStringToJSON1, testAlterSoupTypeChangeFullTextToJSON1
  // SDK: testAlterSoupTypeChangeJSON1toString (Android), testAlterSoupTypeChangeJSON1ToString (iOS)
  // SDK: testAlterSoupTypeChangeJSON1toFullText (Android), testAlterSoupTypeChangeJSON1ToFullText (iOS)
  @Test(arguments: Platform.allCases, IndexType.allCases)
  func `every type becomes every other, by path`(_ platform: Platform, _ from: IndexType) throws {
    for to in IndexType.allCases {
      func specs(_ city: IndexType, _ country: IndexType) -> [IndexSpec] {
        [IndexSpec(path: "city", type: city), IndexSpec(path: "country", type: country)]
      }
      let test = try make(platform, specs(from, from), Altering.cities)
      for next in [specs(from, to), specs(to, to)] {
        try test.store.alterSoup("s", indexSpecs: next, reIndexData: true)
        let fresh = try make(platform, next, Altering.cities)
        let query = "SELECT * FROM TABLE_1 ORDER BY id"
        #expect(try test.rows(query) == fresh.rows(query), "\(from) to \(to)")
        #expect(try Set(test.schema()) == Set(fresh.schema()))
        let meta = "SELECT path, columnName, columnType FROM soup_index_map"
        #expect(try test.rows(meta) == fresh.rows(meta))
        guard next.contains(where: { $0.type == .fullText }) else { continue }
        let words = "SELECT rowid, * FROM TABLE_1_fts ORDER BY rowid"
        #expect(try test.rows(words) == fresh.rows(words))
      }
      #expect(try Altering.violations(test) == [])
    }
  }

  @Test(arguments: Platform.allCases)
  func `values copied without reindexing are as on the platform`(_ platform: Platform) throws {
    let specs = zip(["a", "b", "c", "d"], [IndexType.json1, .string, .fullText, .integer])
      .map(IndexSpec.init)
    let test = try make(platform, specs, [#"{"a":true,"b":"x","c":"y","d":5}"#])
    try test.store.alterSoup(
      "s",
      indexSpecs: zip(["a", "b", "c", "d"], [IndexType.string, .fullText, .string, .floating])
        .map(IndexSpec.init), reIndexData: false)
    // iOS forgets the values of json1 indexes; Android copies the result of json_extract, not its
    // own `true`.
    let flag: SQLiteValue = platform == .ios ? .null : "1"
    #expect(
      try test.rows("SELECT TABLE_1_0, TABLE_1_1, TABLE_1_2, TABLE_1_3 FROM TABLE_1")
        == [[flag, "x", "y", .null]])
    #expect(try test.rows("SELECT rowid, TABLE_1_1 FROM TABLE_1_fts") == [[1, "x"]])
  }

  // SDK: testAlterSoupWithStringIndexesToGetIndexesOnCreatedAndLastModified
  // SDK: testAlterSoupWithJSON1IndexesToGetIndexesOnCreatedAndLastModified
  // SDK: testAlterSoupWithFullTextIndexesToGetIndexesOnCreatedAndLastModified
  @Test(arguments: Platform.allCases, [IndexType.string, .json1, .fullText])
  func `the same specs rebuild an old soup's data`(_ platform: Platform, _ type: IndexType) throws {
    let specs = [IndexSpec(path: "city", type: type), IndexSpec(path: "country", type: type)]
    let test = try make(platform, specs, Altering.cities)
    let whole = try Set(test.schema())
    try test.store.connection.execute(
      "DROP INDEX TABLE_1_created_idx; DROP INDEX TABLE_1_lastModified_idx")
    try test.store.alterSoup("s", indexSpecs: specs, reIndexData: true)
    #expect(try Set(test.schema()) == whole)
    #expect(try Altering.violations(test) == [])
  }

  // SDK: testAlterSoupwithFullTextIndexesFromFts4ToFts5
  @Test(arguments: Platform.allCases)
  func `words of an old SDK are read, checked and converted to FTS5`(_ platform: Platform) throws {
    let specs = [
      IndexSpec(path: "city", type: .fullText), IndexSpec(path: "country", type: .fullText),
    ]
    let test = try make(platform, specs, Altering.cities)
    try test.store.connection.execute(
      """
      DROP TABLE TABLE_1_fts; CREATE VIRTUAL TABLE TABLE_1_fts USING fts4(TABLE_1_0,TABLE_1_1);
      INSERT INTO TABLE_1_fts (rowid, TABLE_1_0, TABLE_1_1)
        SELECT id, TABLE_1_0, TABLE_1_1 FROM TABLE_1
      """)
    let paris = QuerySpec(
      soupName: "s", .match(path: "city", matchKey: "paris"), selectPaths: ["country"])
    #expect(try test.store.query(paris) == [#"["france"]"#])
    try test.store.upsert([#"{"city":"Lyon","country":"france"}"#], into: "s")
    try test.store.remove([1], from: "s")
    #expect(try Altering.violations(test) == [])
    let untrusted = try Store(untrusted: test.store.path)
    #expect(try untrusted.count(of: "s") == 2)
    try untrusted.close()
    let store = try Store(opening: test.store.path)
    try store.connection.execute("UPDATE TABLE_1_fts SET TABLE_1_0 = 'x' WHERE rowid = 2")
    #expect(
      try StoreCheck().violations(at: test.store.path).map(\.description)
        == ["TABLE_1_fts row 2 path city: the words do not match the column"])
    try store.alterSoup("s", indexSpecs: specs, reIndexData: true)
    #expect(
      try store.connection.text("SELECT sql FROM sqlite_schema WHERE name = 'TABLE_1_fts'")
        == "CREATE VIRTUAL TABLE TABLE_1_fts USING fts5(TABLE_1_0,TABLE_1_1)")
    #expect(try store.query(paris) == [#"["france"]"#])
    try store.close()
    #expect(try StoreCheck(origin: .server).violations(at: test.store.path) == [])
  }

  // SDK: testReIndexSoup (Android)
  @Test(arguments: Platform.allCases)
  func `indexes are filled from the elements, one path at a time`(_ platform: Platform) throws {
    let test = try make(platform, Altering.old)
    let specs = Altering.new + [IndexSpec(path: "address", type: .json1)]
    try test.store.alterSoup("s", indexSpecs: specs, reIndexData: false)
    func found(_ path: String, _ value: String) throws -> Int {
      try test.store.count(QuerySpec(soupName: "s", .exact(path: path, matchKey: value)))
    }
    #expect(try found("address.city", "London") == 0)
    try test.store.reIndexSoup("s", paths: ["address.city"])
    #expect(try found("address.city", "London") == 1)
    #expect(try found("address.street", "50 market") == 0)
    try test.store.reIndexSoup("s", paths: ["address.street", "address", "nothing", "lastName"])
    #expect(try found("address.street", "50 market") == 1)
    let words = QuerySpec(
      soupName: "s", .match(path: "address.street", matchKey: "market"), pageSize: 9)
    #expect(try test.store.count(words) == 2)
    #expect(throws: StoreError.unknownSoup("t")) { try test.store.reIndexSoup("t", paths: ["a"]) }
    #expect(try Altering.violations(test) == [])
  }

  @Test(arguments: Platform.allCases)
  func `an element that is not valid JSON keeps its columns`(_ platform: Platform) throws {
    let test = try make(platform, Altering.old)
    try test.store.connection.execute("UPDATE TABLE_1 SET soup = '{' WHERE id = 2")
    try test.store.reIndexSoup("s", paths: ["lastName"])
    #expect(try test.rows("SELECT TABLE_1_0 FROM TABLE_1") == [["Doe"], ["Jackson"], ["Watson"]])
  }

  @Test(arguments: Platform.allCases)
  func `IDs are not reused after an alteration`(_ platform: Platform) throws {
    let test = try make(platform, Altering.old)
    try test.store.remove([2, 3], from: "s")
    try test.store.alterSoup("s", indexSpecs: Altering.new, reIndexData: true)
    try test.store.upsert(["{}"], into: "s")
    #expect(try test.rows("SELECT id FROM TABLE_1") == [[1], [4]])
    try test.store.clearSoup("s")
    try test.store.alterSoup("s", indexSpecs: Altering.old, reIndexData: true)
    try test.store.upsert(["{}"], into: "s")
    #expect(try test.rows("SELECT id FROM TABLE_1") == [[5]])
    #expect(try test.rows("SELECT count(*) FROM sqlite_sequence WHERE name LIKE '%old'") == [[0]])
  }

  @Test func `an alteration that no device could use is rejected and changes nothing`() throws {
    let test = try make(.ios, Altering.old)
    let before = try test.schema()
    let a = IndexSpec(path: "a", type: .string)
    func alter(_ name: String, _ specs: [IndexSpec]) throws {
      try test.store.alterSoup(name, indexSpecs: specs, reIndexData: true)
    }
    #expect(throws: StoreError.unknownSoup("t")) { try alter("t", [a]) }
    #expect(throws: StoreError.noIndexSpecs(soup: "s")) { try alter("s", []) }
    #expect(throws: StoreError.duplicatePath(soup: "s", path: "a")) { try alter("s", [a, a]) }
    #expect(throws: StoreError.emptyPath(soup: "s")) {
      try alter("s", [IndexSpec(path: "", type: .json1)])
    }
    #expect(try test.schema() == before)
  }
}
