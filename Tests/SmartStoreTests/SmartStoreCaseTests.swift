import Foundation
import JSON
import SQLite
import SmartStore
import Testing

/// The SDKs' own cases for soups and queries, as behavior.
@Suite struct SmartStoreCaseTests {
  func make(
    _ platform: Platform, _ specs: [IndexSpec], _ elements: [String] = []
  ) throws -> TestStore {
    try Altering.make(platform, specs, elements)
  }

  // SDK: testProjectTopLevel, testProjectNested
  // SDK: testProjectThroughArrays, testProjectMissingVsSetToNull (Android)
  @Test(arguments: [
    (#"{"a":"va","b":2,"c":[0,1,2],"d":{"d1":"vd1","d2":[1],"d3":{"e":5}}}"#, "a", #""va""#),
    (#"{"a":"va","b":2}"#, "b", "2"), (#"{"c":[0,1,2]}"#, "c", "[0,1,2]"),
    (#"{"d":{"d1":"vd1","d2":[1]}}"#, "d", #"{"d1":"vd1","d2":[1]}"#), (#"{"a":1}"#, "z", nil),
    (#"{"a":1}"#, "", #"{"a":1}"#), (#"{"d":{"d1":"vd1"}}"#, "d.d1", #""vd1""#),
    (#"{"d":{"d3":{"e":5}}}"#, "d.d3.e", "5"), (#"{"d":{"d1":"vd1"}}"#, "d.d1.x", nil),
    (
      #"{"c":[{"cc":"cc1"},{"cc":2},{"cc":[1]},{},{"cc":{"e":5}}]}"#, "c.cc",
      #"["cc1",2,[1],{"e":5}]"#
    ),
    (#"{"c":[{"cc":"cc1"},{"cc":2},{},{"cc":{"e":5}}]}"#, "c.cc.e", "[5]"),
    (
      #"{"d":[{"dd":[{"f":"11"},{"f":"12"}]},{"dd":[{"f":"21"}]},{"dd":[{"f":"31"},{"g":"32"}]}]}"#,
      "d.dd.f", #"[["11","12"],["21"],["31"]]"#
    ),
    (#"{"d":[{"dd":[{"f":"1"}]},{"dd":[{"f":"2"},{"g":"32"}]}]}"#, "d.dd.g", #"[["32"]]"#),
    (#"{"a":null,"b":{"bb":null}}"#, "a", "null"), (#"{"b":{"bb":null}}"#, "b.bb", "null"),
    (#"{"a":null}"#, "a1", nil), (#"{"b":{"bb":null}}"#, "b.bb1", nil),
  ])
  func `a path leads through objects and arrays`(
    _ element: String, _ path: String, _ expected: String?
  ) throws {
    let value = JSONProjection.project(path, from: try JSONValue(parsing: element))
    #expect(value?.text == expected)
  }

  // SDK: testGetAllSoupNames (Android), testDropAllSoups (Android), testHasSoup (Android)
  // SDK: testRegisterSoup (iOS)
  @Test(arguments: Platform.allCases)
  func `soups are created, found and dropped`(_ platform: Platform) throws {
    let test = try make(platform, Altering.old)
    try test.store.registerSoup("other", indexSpecs: [IndexSpec(path: "a", type: .fullText)])
    #expect(try test.store.soupNames() == ["s", "other"])
    #expect(try test.store.hasSoup("s") && !test.store.hasSoup("S"))
    for name in try test.store.soupNames() { try test.store.removeSoup(name) }
    #expect(try test.store.soupNames() == [])
    #expect(try test.rows("SELECT * FROM soup_index_map") == [])
    #expect(try test.rows("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'TABLE%'") == [[0]])
  }

  // SDK: testRegisterSoupWithJSON1 (Android)
  @Test(arguments: Platform.allCases)
  func `a json1 index has a number and no column`(_ platform: Platform) throws {
    let test = try make(
      platform,
      [
        IndexSpec(path: "lastName", type: .json1), IndexSpec(path: "address.city", type: .json1),
        IndexSpec(path: "address.zipcode", type: .string),
      ], [#"{"lastName":"Doe","address":{"city":"SF","zipcode":"94105"}}"#])
    #expect(
      try test.store.connection.texts("SELECT name FROM pragma_table_info('TABLE_1')")
        == ["id", "soup", "created", "lastModified", "TABLE_1_2"])
    #expect(
      try test.store.connection.texts(
        "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'TABLE_1'")
        == ["created", "lastModified", "0", "1", "2"].map { "TABLE_1_\($0)_idx" })
    let query = QuerySpec(
      soupName: "s", .exact(path: "address.city", matchKey: "SF"), selectPaths: ["lastName"])
    #expect(try test.store.query(query) == [#"["Doe"]"#])
  }

  static let letters = [
    #"{"key":"ka1","value":"va1"}"#, #"{"key":"ka2","value":"va2"}"#,
    #"{"key":"ka3","value":"va3"}"#,
  ]

  // SDK: testAllQueryWithStringIndex, testAllQueryWithJSON1Index
  // SDK: testExactQueryWithStringIndex (Android), testExactQueryWithJSON1Index (Android)
  // SDK: testRangeQueryWithStringIndex, testRangeQueryWithJSON1Index
  // SDK: testLikeQueryWithStringIndex, testLikeQueryWithJSON1Index
  // SDK: testSmartQueryWithStringIndex (iOS), testSmartQueryWithJSON1Index (iOS), testQuery (iOS)
  @Test(arguments: Platform.allCases, [IndexType.string, .json1])
  func `each kind of query uses the index, is ordered and paged`(
    _ platform: Platform, _ type: IndexType
  ) throws {
    let test = try make(platform, [IndexSpec(path: "key", type: type)], Self.letters)
    func keys(_ spec: QuerySpec, page: Int = 0, plan verb: String) throws -> [String] {
      let sql = try test.store.translated(spec.smartSQL, spec.arguments)
      let plan = try test.store.connection.all(
        SQL("EXPLAIN QUERY PLAN SELECT * FROM (\(sql.text)) LIMIT 0,9", bindings: sql.bindings))
      let steps = plan.compactMap { $0[3].text }.filter { $0.hasPrefix(verb) }
      #expect(steps.contains { $0.contains("TABLE_1_0_idx") }, "\(plan)")
      if !spec.selectPaths.isEmpty, type == .string {
        #expect(steps.contains { $0.contains("COVERING INDEX") }, "\(plan)")
      }
      return try test.store.queryValues(spec, page: page).map {
        $0["key"]?.string ?? $0[0]?.string ?? ""
      }
    }
    func spec(
      _ kind: QuerySpec.Kind, _ paths: [String] = [], order: QuerySpec.Order = .ascending,
      size: Int = 10
    ) -> QuerySpec {
      QuerySpec(
        soupName: "s", kind, selectPaths: paths, orderPath: "key", order: order, pageSize: size)
    }
    let small = spec(.all, size: 2)
    #expect(try keys(small, plan: "SCAN") == ["ka1", "ka2"])
    #expect(try keys(small, page: 1, plan: "SCAN") == ["ka3"])
    #expect(try keys(spec(.all, ["key"]), plan: "SCAN") == ["ka1", "ka2", "ka3"])
    let exact = QuerySpec.Kind.exact(path: "key", matchKey: "ka2")
    #expect(try keys(spec(exact), plan: "SEARCH") == ["ka2"])
    #expect(try keys(spec(exact, ["key"]), plan: "SEARCH") == ["ka2"])
    let range = QuerySpec.Kind.range(path: "key", beginKey: "ka2", endKey: "ka3")
    #expect(try keys(spec(range), plan: "SEARCH") == ["ka2", "ka3"])
    #expect(try keys(spec(range, order: .descending), plan: "SEARCH") == ["ka3", "ka2"])
    #expect(try keys(spec(range, ["key"]), plan: "SEARCH") == ["ka2", "ka3"])
    for (pattern, found) in [
      ("ka%", ["ka1", "ka2", "ka3"]), ("%3", ["ka3"]), ("%a%", ["ka1", "ka2", "ka3"]), ("a", []),
    ] {
      let like = QuerySpec.Kind.like(path: "key", likeKey: pattern)
      #expect(try keys(spec(like), plan: "SCAN") == found)
      #expect(try keys(spec(like, ["key"]), plan: "SCAN") == found)
    }
    let smart = QuerySpec(smartSQL: "SELECT {s:key} FROM {s} WHERE {s:key} = 'ka1'")
    #expect(try test.store.query(smart) == [#"["ka1"]"#])
  }

  // SDK: testQueryDataWithSpecialCharactersWithStringIndex
  // SDK: testQueryDataWithSpecialCharactersWithJSON1Index
  // SDK: testReadMultiByteCharacterAroundBufferBoundary (iOS)
  @Test(arguments: Platform.allCases, [IndexType.string, .json1])
  func `text with any character is read back`(_ platform: Platform, _ type: IndexType) throws {
    var special = ""
    for code in 1..<1000 as Range<UInt32> {
      special.unicodeScalars.append(Unicode.Scalar(code) ?? " ")
    }
    let texts = ["abcd" + special, "defg" + special, String(repeating: "a", count: 4095) + "é€🚀"]
    let test = try make(
      platform, [IndexSpec(path: "key", type: type), IndexSpec(path: "value", type: type)],
      texts.enumerated().map { index, text in
        JSONValue.object(["key": JSONValue(index), "value": .string(text)]).text
      })
    let rows = try test.store.queryValues(
      QuerySpec(smartSQL: "SELECT {s:value} FROM {s} ORDER BY {s:key}"))
    #expect(rows.map { $0[0]?.string } == texts)
    #expect(
      try test.store.queryValues(QuerySpec(soupName: "s", .all)).map { $0["value"]?.string }
        == texts)
  }

  // SDK: testSelectUnderscoreSoup, testSelectUnderscoreSoupFromMultipleSoups
  @Test(arguments: Platform.allCases)
  func `whole elements are columns of a row`(_ platform: Platform) throws {
    let test = try make(platform, [IndexSpec(path: "key", type: .string)], Self.letters)
    try test.store.registerSoup("o", indexSpecs: [IndexSpec(path: "key", type: .string)])
    try test.store.upsert([#"{"key":"xa1"}"#], into: "o")
    let one = try test.store.queryValues(
      QuerySpec(smartSQL: "SELECT {s:_soup} FROM {s} WHERE {s:key} = 'ka1'"))
    #expect(one.map { $0[0]?["value"] } == ["va1"])
    let two = try test.store.queryValues(
      QuerySpec(smartSQL: "SELECT {s:_soup}, {o:_soup} FROM {s}, {o} WHERE {s}.{s:key} = 'ka2'"))
    #expect(two.count == 1)
    #expect(two[0][0]?["key"] == "ka2" && two[0][1]?["key"] == "xa1")
  }

  // SDK: testSelectWithNullInStringIndexedField (Android)
  // SDK: testSelectWithNullInJSON1IndexedField (Android)
  // SDK: testUpsertWithNullInStringIndexedField (Android)
  // SDK: testUpsertWithNullInJSON1IndexedField (Android)
  @Test(arguments: Platform.allCases, [IndexType.string, .json1])
  func `null is stored and found as null`(_ platform: Platform, _ type: IndexType) throws {
    let test = try make(
      platform, [IndexSpec(path: "key", type: type)], [#"{"key":"ka"}"#, #"{"key":null}"#])
    let query = QuerySpec(smartSQL: "select {s:key} from {s} order by {s:_soupEntryId}")
    #expect(try test.store.query(query) == [#"["ka"]"#, "[null]"])
    try test.store.upsert([#"{"_soupEntryId":1,"key":null}"#], into: "s")
    #expect(try test.store.query(query) == ["[null]", "[null]"])
    #expect(try test.store.retrieve([1], from: "s")[0].contains(#""key":null"#))
  }

  // SDK: testAggregateQueryOnFloatingIndexedField, testAggregateQueryOnJSON1IndexedField
  @Test(arguments: Platform.allCases, [IndexType.floating, .json1])
  func `numbers are summed`(_ platform: Platform, _ type: IndexType) throws {
    let test = try make(
      platform, [IndexSpec(path: "amount", type: type)], [#"{"amount":10.2}"#, #"{"amount":9.9}"#])
    let row = try test.store.queryValues(QuerySpec(smartSQL: "SELECT SUM({s:amount}) FROM {s}"))[0]
    #expect(Double(row[0]?.text ?? "") == 10.2 + 9.9)
  }

  // SDK: testCountQueryWithGroupByUsingStringIndexes (Android)
  // SDK: testCountQueryWithGroupByUsingJSON1Indexes (Android)
  @Test(arguments: Platform.allCases, [IndexType.string, .json1])
  func `groups are counted`(_ platform: Platform, _ type: IndexType) throws {
    let elements = ["a", "b", "c", "a", "c"].map { "{\"key\":\"\($0)\",\"value\":\"v\"}" }
    let test = try make(
      platform, [IndexSpec(path: "key", type: type), IndexSpec(path: "value", type: type)], elements
    )
    let spec = QuerySpec(
      smartSQL: "SELECT {s:key}, count(*) FROM {s} GROUP BY {s:key} ORDER BY {s:key}")
    #expect(spec.countSmartSQL == "SELECT count(*) FROM (\(spec.smartSQL))")
    #expect(try test.store.count(spec) == 3)
    #expect(try test.store.query(spec) == [#"["a",2]"#, #"["b",1]"#, #"["c",2]"#])
  }

  // SDK: testIntegerIndexedField (Android), testFloatingIndexedField (Android)
  // SDK: testIntegerIndexedFieldWithSmartSql (Android)
  // SDK: testFloatingIndexedFieldWithSmartSql (Android)
  // SDK: testNumberFieldWithJSON1IndexWithSmartSql (Android)
  @Test(arguments: Platform.allCases)
  func `numbers reach the ends of their ranges`(_ platform: Platform) throws {
    let test = try make(
      platform,
      [
        IndexSpec(path: "i", type: .integer), IndexSpec(path: "f", type: .floating),
        IndexSpec(path: "j", type: .json1),
      ])
    func row(_ number: String) throws -> [SQLiteValue] {
      let stored = try test.store.upsert(
        ["{\"i\":\(number),\"f\":\(number),\"j\":\(number)}"], into: "s")
      #expect(stored[0].contains("\"i\":\(number),"))
      let sql = try test.store.sql(ofSmartSQL: "select {s:i}, {s:f}, {s:j} from {s}")
      return try test.rows(sql + " ORDER BY id DESC LIMIT 1")[0]
    }
    for value in [Int64(Int32.min), Int64(Int32.max), .min, .max] {
      let cells: [SQLiteValue] = [.integer(value), .real(Double(value)), .integer(value)]
      #expect(try row(String(value)) == cells)
    }
    // Android truncates a fraction to an integer; iOS leaves it to the column.
    let small = Double.leastNonzeroMagnitude
    let isAndroid = platform == .android
    #expect(try row("4.9E-324")[..<2] == [isAndroid ? 0 : .real(small), .real(small)])
    let large = Double.greatestFiniteMagnitude
    #expect(try row("\(large)")[..<2] == [isAndroid ? .integer(.max) : .real(large), .real(large)])
    #expect(try row("3.141592653589793")[2] == .real(.pi))
  }

  // SDK: testDeleteAgainstChangedSoup (Android), testUpsertAgainstChangedSoup (Android)
  // SDK: testExactQueryAgainstChangedSoup (Android)
  @Test(arguments: Platform.allCases)
  func `a changed soup is queried, updated and emptied`(_ platform: Platform) throws {
    let test = try make(platform, [IndexSpec(path: "key", type: .string)], Self.letters)
    var keys = ["ka1", "ka2", "ka3"]
    let changes = [
      ("value", [IndexSpec(path: "value", type: .string)]),
      ("key", [IndexSpec(path: "key", type: .json1)]),
      ("key", [IndexSpec(path: "key", type: .json1), IndexSpec(path: "value", type: .string)]),
    ]
    for (number, (path, specs)) in changes.enumerated() {
      try test.store.alterSoup("s", indexSpecs: specs, reIndexData: true)
      let key = path == "key" ? "ka2" : "va2"
      let exact = QuerySpec(soupName: "s", .exact(path: path, matchKey: key))
      #expect(try test.store.queryValues(exact).map { $0["key"] } == ["ka2"])
      let new = "{\"key\":\"kb\(number)\",\"value\":\"vb\(number)\"}"
      let id = try test.store.upsert([new], into: "s", externalIDPath: path)
      keys.append("kb\(number)")
      let all = QuerySpec(soupName: "s", .all, orderPath: path, pageSize: 99)
      #expect(try test.store.queryValues(all).compactMap { $0["key"]?.string } == keys)
      let entry = try #require(try JSONValue(parsing: id[0])["_soupEntryId"]?.int)
      try test.store.remove([entry], from: "s")
      keys.removeLast()
      #expect(try test.store.count(all) == keys.count)
    }
    #expect(try Altering.violations(test) == [])
  }

  // SDK: testSetupGlobalStoreFromDefaultConfig, testSetupUserStoreFromDefaultConfig
  @Test(arguments: Platform.allCases)
  func `a configuration registers missing soups`(_ platform: Platform) throws {
    func soup(_ number: Int) -> String {
      let indexes = ["string", "integer", "floating", "json1", "full_text"].map { type in
        let name = type == "full_text" ? "fts" : type
        return "{\"path\":\"\(name)Field\(number)\",\"type\":\"\(type)\"}"
      }
      return "{\"soupName\":\"userSoup\(number)\",\"indexes\":[\(indexes.joined(separator: ","))]}"
    }
    let text = "{\"soups\":[\(soup(1)),\(soup(2))]}"
    let config = try StoreConfig(json: Array(text.utf8), file: "userstore.json")
    let test = try TestStore(platform)
    #expect(try test.store.register(config) == ["userSoup1", "userSoup2"])
    for number in [1, 2] {
      #expect(
        try test.store.soup("userSoup\(number)").columnNames == [
          "TABLE_\(number)_0", "TABLE_\(number)_1", "TABLE_\(number)_2",
          "json_extract(soup, '$.json1Field\(number)')", "TABLE_\(number)_4",
        ])
    }
    let other = StoreConfig(soups: [
      .init(soupName: "userSoup1", indexes: [IndexSpec(path: "x", type: .string)]),
      .init(soupName: "new", indexes: [IndexSpec(path: "x", type: .string)]),
    ])
    #expect(try test.store.register(other) == ["new"])
    #expect(try test.store.indexSpecs(of: "userSoup1").count == 5)
    #expect(try test.store.register(StoreConfig(soups: [])) == [])
  }

  @Test func `a configuration that would break an app is rejected as a whole`() throws {
    let test = try TestStore(.ios)
    let a = IndexSpec(path: "a", type: .string)
    let good = StoreConfig.Soup(soupName: "good", indexes: [a])
    for bad in [
      StoreConfig.Soup(soupName: "", indexes: [a]), .init(soupName: "b", indexes: []),
      .init(soupName: "b", indexes: [a, a]),
      .init(soupName: "b", indexes: [IndexSpec(path: "", type: .json1)]),
      .init(soupName: "b", indexes: [IndexSpec(path: "__local__", type: .integer)]),
      .init(soupName: "b", indexes: [IndexSpec(path: "__local__", type: .json1)]),
    ] {
      let error = #expect(throws: StoreError.self) {
        try test.store.register(StoreConfig(soups: [good, bad]))
      }
      #expect(error?.description.isEmpty == false)
      #expect(try test.store.soupNames() == [])
    }
    let unknown = #"{"soups":[{"soupName":"s","indexes":[{"path":"a","type":"date"}]}]}"#
    #expect(throws: (any Error).self) { try StoreConfig(json: Array(unknown.utf8), file: "f") }
  }
}
