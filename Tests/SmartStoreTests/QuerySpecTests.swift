import JSON
import SQLite
import SmartStore
import Testing

@Suite struct QuerySpecTests {
  // SDK: testAllQuerySmartSql, testAllQueryCountSmartSql, testAllQueryIdsSmartSql
  // SDK: testExactQuerySmartSqlWithSelectPaths, testExactQueryCountSmartSql, testExactQueryIdsSmartSql
  // SDK: testRangeQueryCountSmartSql, testLikeQuerySmartSql, testMatchQueryIdsSmartSql
  // SDK: testSmartQueryCountSmartSql, testSmartQueryIdsSmartSql
  @Test func `every kind has the SDK's Smart SQL`() {
    func sql(_ kind: QuerySpec.Kind, _ paths: [String] = [], order: String? = nil) -> [String] {
      let spec = QuerySpec(
        soupName: "S", kind, selectPaths: paths, orderPath: order, order: .descending)
      return [spec.smartSQL, spec.countSmartSQL, spec.idsSmartSQL]
    }
    #expect(
      sql(.all, order: "o") == [
        "SELECT {S:_soup} FROM {S} ORDER BY {S:o} DESC ", "SELECT count(*) FROM {S} ",
        "SELECT id FROM {S} ORDER BY {S:o} DESC ",
      ])
    #expect(
      sql(.exact(path: "p", matchKey: "k"), ["a", "b"]) == [
        "SELECT {S:a}, {S:b} FROM {S} WHERE {S:p} = ? ",
        "SELECT count(*) FROM {S} WHERE {S:p} = ? ", "SELECT id FROM {S} WHERE {S:p} = ? ",
      ])
    #expect(
      sql(.like(path: "p", likeKey: "k%"))[0] == "SELECT {S:_soup} FROM {S} WHERE {S:p} LIKE ? ")
    #expect(
      sql(.range(path: "p", beginKey: "a", endKey: nil))[1]
        == "SELECT count(*) FROM {S} WHERE {S:p} >= ? ")
    #expect(
      sql(.range(path: "p", beginKey: nil, endKey: "z"))[1]
        == "SELECT count(*) FROM {S} WHERE {S:p} <= ? ")
    #expect(
      sql(.range(path: "p", beginKey: "a", endKey: "z"))[1]
        == "SELECT count(*) FROM {S} WHERE {S:p} >= ? AND {S:p} <= ? ")
    #expect(
      sql(.match(path: nil, matchKey: "it's"))[2] == "SELECT id FROM {S} WHERE {S:_soupEntryId} IN "
        + "(SELECT rowid FROM {S}_fts WHERE {S}_fts MATCH 'it''s') ")
    #expect(
      sql(.smart("select 1 from {S}", arguments: [])) == [
        "select 1 from {S}", "SELECT count(*) FROM (select 1 from {S})",
        "SELECT id FROM (select 1 from {S})",
      ])
  }

  // SDK: testAllQuerySmartSqlWithSelectPaths, testRangeQuerySmartSql, testRangeQueryIdsSmartSql
  // SDK: testRangeQuerySmartSqlWithSelectPaths, testExactQuerySmartSql, testMatchQuerySmartSql
  // SDK: testMatchQuerySmartSqlWithSelectPaths, testMatchQueryCountSmartSql
  // SDK: testLikeQueryCountSmartSql, testLikeQueryIdsSmartSql
  // SDK: testLikeQuerySmartSqlWithSelectPaths (iOS)
  @Test func `every kind supports select paths, counts and IDs`() {
    let match =
      "WHERE {S:_soupEntryId} IN (SELECT rowid FROM {S}_fts WHERE {S}_fts MATCH '{S:p}:k') "
    let kinds: [(QuerySpec.Kind, String)] = [
      (.all, ""), (.exact(path: "p", matchKey: "k"), "WHERE {S:p} = ? "),
      (.range(path: "p", beginKey: "a", endKey: "b"), "WHERE {S:p} >= ? AND {S:p} <= ? "),
      (.like(path: "p", likeKey: "k"), "WHERE {S:p} LIKE ? "),
      (.match(path: "p", matchKey: "k"), match),
    ]
    for (kind, condition) in kinds {
      var spec = QuerySpec(soupName: "S", kind, orderPath: "o")
      let order = "ORDER BY {S:o} ASC "
      #expect(spec.smartSQL == "SELECT {S:_soup} FROM {S} \(condition)\(order)")
      #expect(spec.countSmartSQL == "SELECT count(*) FROM {S} \(condition)")
      #expect(spec.idsSmartSQL == "SELECT id FROM {S} \(condition)\(order)")
      spec.selectPaths = ["f1", "f2"]
      #expect(spec.smartSQL == "SELECT {S:f1}, {S:f2} FROM {S} \(condition)\(order)")
    }
  }

  // SDK: testQuerySpecPageSize (iOS)
  @Test func `a page has ten rows by default`() throws {
    #expect(QuerySpec(soupName: "s", .all).pageSize == 10)
    #expect(try QuerySpec(soupName: "s", reading: ["queryType": "range"]).pageSize == 10)
    #expect(
      try QuerySpec(soupName: "s", reading: ["queryType": "range", "pageSize": 3]).pageSize == 3)
  }

  // SDK: testNonSmartQueryUsingWhereArgs
  @Test func `only Smart SQL accepts values for question marks`() throws {
    let smart: JSONValue = [
      "queryType": "smart", "smartSql": "select 1 where 'a' = ?", "whereArgs": ["a"],
    ]
    #expect(
      try QuerySpec(soupName: "", reading: smart).kind
        == .smart("select 1 where 'a' = ?", arguments: ["a"]))
    let error = #expect(throws: StoreError.self) {
      try QuerySpec(soupName: "s", reading: ["queryType": "range", "whereArgs": ["a"]])
    }
    #expect(error?.description == "whereArgs is only allowed for smart queries")
  }

  // SDK: testInvalidQueryWithStoreCursor (iOS)
  // SDK: testInvalidQueryWithStoreCursorWithRawJsonCheckOn (iOS)
  @Test func `a cursor on a missing soup is an error`() throws {
    let test = try TestStore(.ios)
    #expect(throws: StoreError.self) { try test.store.cursor(QuerySpec(soupName: "no", .all)) }
    #expect(throws: StoreError.self) { try test.store.query(QuerySpec(soupName: "no", .all)) }
  }

  // SDK: testQualifyMatchKey
  @Test(arguments: [
    ("abc", "{s:p}:abc"), ("abc OR def", "{s:p}:abc OR {s:p}:def"),
    ("abc and (def Not ghi)", "{s:p}:abc and ({s:p}:def Not {s:p}:ghi)"),
    ("{s:q}:abc xyz", "{s:q}:abc {s:p}:xyz"), ("E* NOT Eva", "{s:p}:E* NOT {s:p}:Eva"), ("", ""),
    ("android", "{s:p}:android"), ("  a", "  {s:p}:a"),
  ])
  func `words of a search get their field`(_ key: String, _ expected: String) {
    #expect(QuerySpec.qualify(key, by: "{s:p}") == expected)
  }

  @Test(arguments: Platform.allCases, [IndexType.string, .json1])
  func `queries are ordered and paged`(_ platform: Platform, _ type: IndexType) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "key", type: type)])
    try test.store.upsert(
      [#"{"key":"ka2","v":2}"#, #"{"key":"ka1","v":1}"#, #"{"key":"kb3","v":null}"#], into: "s")
    func keys(_ spec: QuerySpec, page: Int = 0) throws -> [String] {
      try test.store.queryValues(spec, page: page).map { $0["key"]?.string ?? $0.text }
    }
    let all = QuerySpec(soupName: "s", .all, orderPath: "key", pageSize: 2)
    #expect(try keys(all) == ["ka1", "ka2"])
    #expect(try keys(all, page: 1) == ["kb3"])
    #expect(try keys(QuerySpec(soupName: "s", .exact(path: "key", matchKey: "ka2"))) == ["ka2"])
    #expect(try keys(QuerySpec(soupName: "s", .exact(path: "key", matchKey: nil))) == [])
    let range = QuerySpec(
      soupName: "s", .range(path: "key", beginKey: "ka1", endKey: "ka3"),
      selectPaths: ["key", "v"], orderPath: "key", order: .descending)
    #expect(try keys(range) == [#"["ka2",2]"#, #"["ka1",1]"#])
    let like = QuerySpec(soupName: "s", .like(path: "key", likeKey: "%b%"), selectPaths: ["v"])
    #expect(try keys(like) == ["[null]"])
    #expect(try test.store.count(all) == 3)
    let plan = try test.store.connection.all(
      SQL(
        "EXPLAIN QUERY PLAN " + (try test.store.sql(ofSmartSQL: range.smartSQL)),
        bindings: ["a", "b"]))
    #expect(plan.first?[3].text?.contains("TABLE_1_0_idx") == true)
  }

  // SDK: testValidQueryWithStoreCursor (iOS)
  @Test func `a cursor moves over the pages`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "n", type: .integer)])
    try test.store.upsert((1...5).map { "{\"n\":\($0)}" }, into: "s")
    var cursor = try test.store.cursor(
      QuerySpec(soupName: "s", .all, selectPaths: ["n"], orderPath: "n", pageSize: 2))
    #expect([cursor.totalEntries, cursor.totalPages] == [5, 3])
    let moved = cursor.move(toPage: 2)
    #expect(moved)
    #expect(try cursor.entries(in: test.store) == ["[5]"])
    let movedOn = cursor.moveToNextPage()
    #expect(!movedOn)
    #expect(
      try cursor.json(id: "c", in: test.store).text
        == #"{"cursorId":"c","currentPageIndex":2,"pageSize":2,"totalEntries":5,"totalPages":3,"#
        + #""currentPageOrderedEntries":[[5]]}"#)
  }

  // SDK: testDeleteByQuery (Android), testRemoveEntriesByQuery (iOS)
  @Test func `removing by query uses the page size`() throws {
    let test = try TestStore(.android)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "n", type: .integer)])
    try test.store.upsert((1...5).map { "{\"n\":\($0)}" }, into: "s")
    let spec = QuerySpec(
      soupName: "s", .range(path: "n", beginKey: "2", endKey: nil), orderPath: "n", pageSize: 2)
    #expect(try test.store.remove(spec, from: "s") == 2)
    #expect(
      try test.store.query(QuerySpec(soupName: "s", .all, selectPaths: ["n"]))
        == ["[1]", "[4]", "[5]"])
  }

  @Test func `a query spec is parsed in the format of apps`() throws {
    let json = try JSONValue(
      parsing: #"{"queryType":"range","indexPath":"a","beginKey":"x","orderPath":"a","#
        + #""order":"descending","pageSize":3,"selectPaths":["a","b"]}"#)
    #expect(
      try QuerySpec(soupName: "s", reading: json)
        == QuerySpec(
          soupName: "s", .range(path: "a", beginKey: "x", endKey: nil), selectPaths: ["a", "b"],
          orderPath: "a", order: .descending, pageSize: 3))
    #expect(try QuerySpec(soupName: "s", reading: ["queryType": "range"]).kind == .all)
    #expect(throws: StoreError.self) { try QuerySpec(soupName: "s", reading: ["queryType": "x"]) }
    #expect(throws: StoreError.self) {
      try QuerySpec(soupName: "s", reading: ["queryType": "like", "indexPath": "a"])
    }
  }
}
