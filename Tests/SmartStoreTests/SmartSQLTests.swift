import JSON
import SmartStore
import TestSupport
import Testing

@Suite struct SmartSQLTests {
  /// The fixture of the SDKs' own tests: 7 employees of 2 departments.
  func make(_ platform: Platform) throws -> TestStore {
    let test = try TestStore(platform)
    try test.store.registerSoup(
      "employees",
      indexSpecs: [
        IndexSpec(path: "firstName", type: .string), IndexSpec(path: "lastName", type: .string),
        IndexSpec(path: "deptCode", type: .string), IndexSpec(path: "employeeId", type: .string),
        IndexSpec(path: "managerId", type: .string), IndexSpec(path: "salary", type: .integer),
        IndexSpec(path: "education", type: .json1), IndexSpec(path: "isManager", type: .json1),
      ])
    try test.store.registerSoup(
      "departments",
      indexSpecs: [
        IndexSpec(path: "deptCode", type: .string), IndexSpec(path: "name", type: .string),
        IndexSpec(path: "budget", type: .integer), IndexSpec(path: "building", type: .json1),
      ])
    try test.store.upsert(
      [
        person("Christine", "Haas", "A00", "00010", nil, 200_000, manager: true),
        person("Michael", "Thompson", "A00", "00020", "00010", 120_000, manager: false),
        person("Sally", "Kwan", "A00", "00310", "00010", 100_000, manager: false),
        person("John", "Geyer", "A00", "00040", "00310", 102_000, manager: true),
        person("Irving", "Stern", "B00", "00050", "00010", 100_000, manager: true),
        person("Eva", "Pulaski", "B00", "00060", "00050", 80_000, manager: false),
        person("Eileen", "Evans", "B00", "00070", "00050", 70_000, manager: false),
      ], into: "employees")
    try test.store.upsert(
      [
        #"{"deptCode":"A00","name":"Sales","budget":1000000,"building":1}"#,
        #"{"deptCode":"B00","name":"R&D","budget":2000000,"building":2}"#,
      ], into: "departments")
    return test
  }

  func person(
    _ first: String, _ last: String, _ department: String, _ id: String, _ boss: String?,
    _ salary: Int, manager: Bool
  ) -> String {
    let above = boss.map { ",\"managerId\":\"\($0)\"" } ?? ""
    return "{\"firstName\":\"\(first)\",\"lastName\":\"\(last)\",\"deptCode\":\"\(department)\","
      + "\"employeeId\":\"\(id)\",\"salary\":\(salary),\"isManager\":\(manager)\(above)}"
  }

  static let translations = pairs(
    """
    // SDK: testSimpleConvertSmartSql
    select {employees:firstName}, {employees:lastName} from {employees} order by {employees:lastName}
    > select TABLE_1_0, TABLE_1_1 from TABLE_1 order by TABLE_1_1
    // SDK: testConvertSmartSqlWithJoin
    select {departments:name}, {employees:firstName} from {employees}, {departments} where {departments}.{departments:deptCode} = {employees}.{employees:deptCode}
    > select TABLE_2_1, TABLE_1_0 from TABLE_1, TABLE_2 where TABLE_2.TABLE_2_0 = TABLE_1.TABLE_1_2
    // SDK: testConvertSmartSqlWithSelfJoin
    select mgr.{employees:lastName}, e.{employees:lastName} from {employees} as mgr, {employees} as e where mgr.{employees:employeeId} = e.{employees:managerId}
    > select mgr.TABLE_1_1, e.TABLE_1_1 from TABLE_1 as mgr, TABLE_1 as e where mgr.TABLE_1_3 = e.TABLE_1_4
    // SDK: testConvertSmartSqlWithSelfJoinAndJsonExtractedField
    // SDK: testConvertSmartSqlWithSelfJoinAndJsonExtractedFieldNoLeadingSpace (Android)
    // SDK: testConvertSmartSqlWithSelfJoinAndJsonExtractedFieldNoLeadingSpaces (iOS)
    select e.{employees:education},m.{employees:education} from {employees} as e, {employees} as m where not (e.{employees:education} = m.{employees:education})
    > select json_extract(e.soup, '$.education'),json_extract(m.soup, '$.education') from TABLE_1 as e, TABLE_1 as m where not (json_extract(e.soup, '$.education') = json_extract(m.soup, '$.education'))
    // SDK: testConvertSmartSqlWithSpecialColumns
    select {employees:_soupEntryId}, {employees:_soupLastModifiedDate}, {employees:_soup}, {employees:_soupCreatedDate} from {employees}
    > select TABLE_1.id, TABLE_1.lastModified, TABLE_1.soup, TABLE_1.created from TABLE_1
    // SDK: testConvertSmartSqlWithSpecialColumnsAndSelfJoin
    select mgr.{employees:_soupEntryId}, e.{employees:_soup} from {employees} as mgr, {employees} as e
    > select mgr.id, e.soup from TABLE_1 as mgr, TABLE_1 as e
    // SDK: testConvertSmartSqlWithJSON1AndTableQualifiedColumn
    select {employees}.{employees:education} from {employees}
    > select json_extract(TABLE_1.soup, '$.education') from TABLE_1
    // SDK: testConvertSmartSqlForNonIndexedColumns
    select {employees:address.zipcode} from {employees} where {employees:it's} = 1
    > select json_extract(soup, '$.address.zipcode') from TABLE_1 where json_extract(soup, '$.it''s') = 1
    // SDK: testConvertSmartSqlWithQuotedCurlyBraces, testConvertSmartSqlWithMultipleQuotedCurlyBraces
    select {employees:firstName} from {employees} where {employees:firstName} like 'Jo%{no:such}%' and 'it''s {x}' <> {employees:lastName}
    > select TABLE_1_0 from TABLE_1 where TABLE_1_0 like 'Jo%{no:such}%' and 'it''s {x}' <> TABLE_1_1
    // SDK: testConvertSmartSqlWithQuotedUnbalancedCurlyBraces (Android)
    // SDK: testConvertSmartSqlWithQuotedUnbalancedCurlyBrace (iOS)
    select {employees:firstName} from {employees} where '{' = {employees:lastName} or '}' = '{'
    > select TABLE_1_0 from TABLE_1 where '{' = TABLE_1_1 or '}' = '{'
    select {employees:_soupEntryId} in (select rowid from {employees}_fts where {employees}_fts MATCH '{employees:lastName}:Haas') from {employees}
    > select TABLE_1.id in (select rowid from TABLE_1_fts where TABLE_1_fts MATCH 'TABLE_1_1:Haas') from TABLE_1
    // The SDKs' pattern accepts one or more spaces.
    select {employees:_soupEntryId} in (select rowid from {employees}_fts where {employees}_fts MATCH   '{employees:lastName}:Haas') from {employees}
    > select TABLE_1.id in (select rowid from TABLE_1_fts where TABLE_1_fts MATCH   'TABLE_1_1:Haas') from TABLE_1
    select {employees:firstName} from {employees} where MATCH'{no:such}' = ''
    > select TABLE_1_0 from TABLE_1 where MATCH'{no:such}' = ''
    {employees:_soup} from {employees}
    > TABLE_1.soup from TABLE_1
    // SDK: testConvertSmartSqlWithSpecialColumnsAndJoin
    select {employees:_soupEntryId}, {departments:_soupEntryId} from {employees}, {departments}
    > select TABLE_1.id, TABLE_2.id from TABLE_1, TABLE_2
    // SDK: testConvertSmartSqlWithJSON1
    select {employees:lastName}, {employees:education} from {employees} where {employees:education} = 'MIT'
    > select TABLE_1_1, json_extract(soup, '$.education') from TABLE_1 where json_extract(soup, '$.education') = 'MIT'
    // SDK: testConvertSmartSqlWithJSON1AndTableAliases
    select e.{employees:education}, {departments:building} from {employees} as e, {departments}
    > select json_extract(e.soup, '$.education'), json_extract(soup, '$.building') from TABLE_1 as e, TABLE_2
    // SDK: testConvertOtherComplexSmartSql
    SELECT json_set('{}', '$.a', (SELECT json_group_array(json_set('{}', '$.node.Id', (json_extract('A.JSON', '$.Id.value')))) FROM (SELECT 'A'.TABLE_1_1 as 'A.JSON' FROM {employees} as 'A' WHERE (json_extract('A.JSON', '$.name') = '{"x:y"}')))) as json
    > SELECT json_set('{}', '$.a', (SELECT json_group_array(json_set('{}', '$.node.Id', (json_extract('A.JSON', '$.Id.value')))) FROM (SELECT 'A'.TABLE_1_1 as 'A.JSON' FROM TABLE_1 as 'A' WHERE (json_extract('A.JSON', '$.name') = '{"x:y"}')))) as json
    select '{' , 1, {}, { from x
    > select '{' , 1, {}, { from x
    """)

  @Test(arguments: translations)
  func `Smart SQL becomes the SDK's SQL`(_ smart: String, _ sql: String) throws {
    let test = try make(.ios)
    let store = test.store
    #expect(try SmartSQL(text: smart).translated(for: .ios) { try store.find($0) } == sql)
  }

  // SDK: testConvertSmartSqlWithInsertUpdateDelete
  @Test(arguments: [
    "insert into {employees} values (1)", "  UPDATE {employees} SET id = 1",
    "\nDelete from {employees}", "DROP TABLE soup_attrs", "PRAGMA user_version = 4",
    "with x as (select 1) delete from {employees}",
  ])
  func `only reading is possible`(_ text: String) throws {
    let test = try make(.ios)
    let store = test.store
    #expect(throws: StoreError.self) { try store.query(QuerySpec(smartSQL: text)) }
    #expect(throws: StoreError.self) { try store.sql(ofSmartSQL: text) }
  }

  @Test func `an invalid reference is reported with its position`() throws {
    let test = try make(.ios)
    let store = test.store
    func message(_ text: String) -> String? {
      #expect(throws: StoreError.self) { try store.sql(ofSmartSQL: text) }?.description
    }
    #expect(
      message("select {nobody:x} from {employees}")
        == #"Smart SQL: {nobody:x} at character 8: unknown soup "nobody""#)
    #expect(
      message("select {employees:a:b}") == "Smart SQL: {employees:a:b} at character 8: "
        + "invalid soup/path reference, write {soup:path}")
  }

  func rows(_ platform: Platform, _ sql: String, _ arguments: [String] = []) throws -> [String] {
    let test = try make(platform)
    return try test.store.query(QuerySpec(smartSQL: sql, arguments: arguments, pageSize: 100))
  }

  @Test(arguments: Platform.allCases)
  func `Smart SQL returns the same as on a device`(_ platform: Platform) throws {
    // SDK: testSmartQueryDoingCount, testSmartQueryDoingSum
    #expect(try rows(platform, "select count(*) from {employees}") == ["[7]"])
    #expect(try rows(platform, "select sum({employees:salary}) from {employees}") == ["[772000]"])
    #expect(
      try rows(
        platform,
        "select {departments:name}, count(*) from {employees}, {departments} where "
          + "{employees}.{employees:deptCode} = {departments}.{departments:deptCode} "
          + "group by 1 order by 1") == [#"["R&D",3]"#, #"["Sales",4]"#])
    // SDK: testSmartQueryMachingBooleanInJSON1Field
    #expect(
      try rows(
        platform,
        "select {employees:lastName} from {employees} where {employees:isManager} = 1 "
          + "order by 1") == [#"["Geyer"]"#, #"["Haas"]"#, #"["Stern"]"#])
    #expect(
      try rows(
        platform, "select {employees:lastName} from {employees} where {employees:managerId} is null"
      ) == [#"["Haas"]"#])
    // SDK: testSmartQueryUsingWhereArgs
    #expect(
      try rows(
        platform, "select {employees:lastName} from {employees} where {employees:firstName} = ?",
        ["Eva"]) == [#"["Pulaski"]"#])
    // SDK: testSelectUnderscoreSoupFromMultipleSoups
    let both = try rows(
      platform,
      "select {employees:_soup}, {departments:_soup}, {employees:_soup} as e from {employees}, "
        + "{departments} where {employees:employeeId} = '00010' and {departments:name} = 'Sales'")
    let row = try JSONValue(parsing: both[0])
    #expect(row[0]?["lastName"] == "Haas")
    #expect(row[1]?["budget"] == 1_000_000)
    #expect(row[2]?.string?.hasPrefix("{\"firstName\"") == true)
  }

  @Test func `text of any language is found`() throws {
    let test = try make(.android)
    try test.store.upsert([#"{"lastName":"Ağaoğlu","note":"한국어 {x}"}"#], into: "employees")
    let spec = QuerySpec(
      smartSQL: "select {employees:lastName} from {employees} where {employees:note} like '한국%'")
    #expect(try test.store.query(spec) == [#"["Ağaoğlu"]"#])
  }

  func first(_ test: TestStore, _ sql: String, size: Int = 100, page: Int = 0) throws -> [String] {
    try test.store.query(QuerySpec(smartSQL: sql, pageSize: size), page: page)
  }

  // SDK: testSmartQueryReturningOneRowWithOneInteger, testSmartQueryReturningOneRowWithTwoIntegers
  // SDK: testSmartQueryReturningTwoRowsWithOneIntegerEach
  // SDK: testSmartQueryReturningSoupStringAndInteger, testSmartQueryWithSpecialFields
  @Test(arguments: Platform.allCases)
  func `rows have the requested columns`(_ platform: Platform) throws {
    let test = try make(platform)
    let haas = "from {employees} where {employees:lastName} = 'Haas'"
    #expect(try first(test, "select {employees:salary} \(haas)") == ["[200000]"])
    #expect(
      try first(
        test,
        "select mgr.{employees:salary}, e.{employees:salary} from {employees} as mgr, "
          + "{employees} as e where e.{employees:lastName} = 'Thompson' "
          + "and mgr.{employees:employeeId} = e.{employees:managerId}") == ["[200000,120000]"])
    #expect(
      try first(
        test,
        "select {employees:salary} from {employees} where {employees:managerId} = '00010' "
          + "order by {employees:firstName} limit 2") == ["[100000]", "[120000]"])
    let element = try JSONValue(parsing: test.store.retrieve([1], from: "employees")[0])
    let row = try test.store.queryValues(
      QuerySpec(
        smartSQL: "select {employees:_soup}, {employees:firstName}, {employees:salary}, "
          + "{employees:_soupEntryId}, {employees:_soupLastModifiedDate} \(haas)"))
    #expect(row == [.array([element, "Christine", 200_000, 1, JSONValue(test.now)])])
  }

  // SDK: testSmartQueryWithPaging
  @Test(arguments: Platform.allCases) func `Smart SQL is paged`(_ platform: Platform) throws {
    let test = try make(platform)
    let sql = "select {employees:firstName} from {employees} order by {employees:firstName}"
    #expect(try test.store.count(QuerySpec(smartSQL: sql, pageSize: 1)) == 7)
    let names = ["Christine", "Eileen", "Eva", "Irving", "John", "Michael", "Sally"]
    for (page, name) in names.enumerated() {
      #expect(try first(test, sql, size: 1, page: page) == ["[\"\(name)\"]"])
    }
    #expect(try first(test, sql, size: 1, page: 7) == [])
  }

  // SDK: testSmartQueryMatchingNullField (Android), testSmartQueryWithNullField (iOS)
  @Test(arguments: Platform.allCases)
  func `null and missing are null, an empty text is not`(_ platform: Platform) throws {
    let test = try make(platform)
    try test.store.clearSoup("employees")
    try test.store.upsert(
      [
        #"{"employeeId":"001","deptCode":"xyz"}"#, #"{"employeeId":"002","deptCode":null}"#,
        #"{"employeeId":"003","deptCode":""}"#, #"{"employeeId":"004"}"#,
      ], into: "employees")
    func ids(_ condition: String) throws -> [String] {
      try first(
        test,
        "select {employees:employeeId} from {employees} where {employees:deptCode} \(condition) "
          + "order by {employees:employeeId}")
    }
    #expect(try ids("is not null") == [#"["001"]"#, #"["003"]"#])
    #expect(try ids("is null") == [#"["002"]"#, #"["004"]"#])
    #expect(try ids("= \"\"") == [#"["003"]"#])
  }

  // SDK: testSmartQueryMachingNonAsciiInStringField, testSmartQueryMachingNonAsciiInJSON1Field
  // SDK: testSmartQueryMachingNonAsciiInNonIndexedField
  // SDK: testSmartQueryFilteringByNonIndexedField, testSmartQueryReturningNonIndexedField
  @Test(arguments: Platform.allCases)
  func `a field in any language is found, indexed or not`(_ platform: Platform) throws {
    let test = try make(platform)
    try test.store.clearSoup("employees")
    for (id, word) in [("1", "turkish Ağaoğlu ŞşİıÇç"), ("2", "한국어 테스트"), ("3", "plain")] {
      try test.store.upsert(
        [
          "{\"employeeId\":\"\(id)\",\"lastName\":\"\(word)\",\"education\":\"\(word)\","
            + "\"address\":{\"city\":\"\(word)\"}}"
        ], into: "employees")
    }
    for path in ["lastName", "education", "address.city"] {
      for (pattern, id) in [("%ğaoğlu Şşİ%", "1"), ("한국%", "2"), ("PLAIN", "3")] {
        #expect(
          try first(
            test,
            "select {employees:employeeId}, {employees:address.city} from {employees} "
              + "where {employees:\(path)} like '\(pattern)'"
          ).map { $0.hasPrefix("[\"\(id)\",") } == [true], "\(path) \(pattern)")
      }
    }
  }

  // SDK: testCleanupRegexpFaster
  @Test func `the time of a translation is linear in the text`() throws {
    let test = try make(.ios)
    let quoted = String(repeating: "'it''s {x}' || ", count: 20_000)
    let sql = "select \(quoted) {employees:firstName} from {employees}"
    let start = ContinuousClock.now
    let translated = try SmartSQL(text: sql).translated(for: .ios) { try test.store.find($0) }
    let time = ContinuousClock.now - start
    #expect(translated == "select \(quoted) TABLE_1_0 from TABLE_1")
    // Backtracking would take minutes.
    #expect(time < .seconds(10))
  }
}
