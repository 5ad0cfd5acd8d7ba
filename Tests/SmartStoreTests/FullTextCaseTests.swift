import SmartStore
import Testing

/// The SDKs' own cases for full-text search, with the current full-text tables and those of old
/// SDKs.
@Suite struct FullTextCaseTests {
  static let people = [
    ("Christine", "Haas", "00010"), ("Michael", "Thompson", "00020"), ("Ali", "Haas", "00030"),
    ("Irving", "Stern", "00050"), ("Eva", "Pulaski", "00060"), ("Eileen", "Eva", "00070"),
  ]

  static func person(_ first: String, _ last: String, _ id: String) -> String {
    "{\"firstName\":\"\(first)\",\"lastName\":\"\(last)\",\"employeeId\":\"\(id)\"}"
  }

  func make(
    _ platform: Platform, _ words: FullTextGrammar, _ elements: [String]
  ) throws -> TestStore {
    let test = try TestStore(platform)
    try test.store.registerSoup(
      "employees",
      indexSpecs: [
        IndexSpec(path: "firstName", type: .fullText), IndexSpec(path: "lastName", type: .fullText),
        IndexSpec(path: "employeeId", type: .string),
      ])
    if words == .fts4 {
      try test.store.connection.execute(
        "DROP TABLE TABLE_1_fts; CREATE VIRTUAL TABLE TABLE_1_fts USING fts4(TABLE_1_0,TABLE_1_1)")
    }
    try test.store.upsert(elements, into: "employees")
    return test
  }

  /// The IDs that a search finds.
  func found(
    _ test: TestStore, _ path: String?, _ key: String, order: String? = nil
  ) throws -> [Int64] {
    try test.store.queryValues(
      QuerySpec(
        soupName: "employees", .match(path: path, matchKey: key), orderPath: order, pageSize: 25)
    ).compactMap { $0["_soupEntryId"]?.int }
  }

  // SDK: testRegisterDropSoupFts4, testRegisterDropSoupFts5
  @Test(arguments: Platform.allCases, FullTextGrammar.allCases)
  func `words come and go with the soup`(_ platform: Platform, _ words: FullTextGrammar) throws {
    let test = try make(platform, words, [])
    #expect(
      try test.store.connection.texts("SELECT name FROM pragma_table_info('TABLE_1_fts')").prefix(2)
        == ["TABLE_1_0", "TABLE_1_1"])
    #expect(
      try test.store.soup("employees").columnNames == ["TABLE_1_0", "TABLE_1_1", "TABLE_1_2"])
    try test.store.removeSoup("employees")
    #expect(try test.rows("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'TABLE%'") == [[0]])
  }

  // SDK: testInsertWithFts4, testInsertWithFts5, testUpdateWithFts4, testUpdateWithFts5
  // SDK: testDeleteWithFts4, testDeleteWithFts5, testClearWithFts4, testClearWithFts5
  @Test(arguments: Platform.allCases, FullTextGrammar.allCases)
  func `the words are those of the columns`(_ platform: Platform, _ words: FullTextGrammar) throws {
    let test = try make(
      platform, words,
      [
        Self.person("Christine", "Haas", "1"), Self.person("Michael", "Thompson", "2"),
        #"{"firstName":null,"employeeId":"3"}"#,
      ])
    func agree(_ count: Int) throws {
      let soup = try test.rows("SELECT id, TABLE_1_0, TABLE_1_1 FROM TABLE_1 ORDER BY id")
      #expect(
        try test.rows("SELECT rowid, TABLE_1_0, TABLE_1_1 FROM TABLE_1_fts ORDER BY rowid") == soup)
      #expect(soup.count == count)
    }
    try agree(3)
    #expect(try test.rows("SELECT TABLE_1_0 FROM TABLE_1_fts WHERE rowid = 3") == [[.null]])
    try test.store.upsert(
      [#"{"_soupEntryId":1,"firstName":"Carla","lastName":null,"employeeId":"1"}"#],
      into: "employees")
    try agree(3)
    #expect(try found(test, nil, "Haas") == [])
    #expect(try found(test, nil, "Carla") == [1])
    try test.store.remove([2], from: "employees")
    try agree(2)
    try test.store.clearSoup("employees")
    try agree(0)
    #expect(try Altering.violations(test) == [])
  }

  /// Searches: the path, the key, the order, the employees found.
  static let searches: [(String?, String, String?, [Int64])] = [
    // SDK: testSearchSingleFiedlNoResultsWithFts4 (Android)
    // SDK: testSearchSingleFieldNoResultsWithFts5 (Android)
    // SDK: testSearchSingleFielNoResultsWithFts4 (iOS), testSearchSingleFielNoResultsWithFts5 (iOS)
    ("firstName", "Christina", nil, []), ("lastName", "Sternn", nil, []),
    ("firstName", "Christo*", nil, []), ("lastName", "Stel*", nil, []),
    ("firstName", "Ei* NOT Eileen", nil, []),
    // SDK: testSearchSingleFieldSingleResultWithFts4, testSearchSingleFieldSingleResultWithFts5
    ("firstName", "Christine", nil, [1]), ("lastName", "Stern", nil, [4]),
    ("firstName", "Christ*", nil, [1]), ("lastName", "Ste*", nil, [4]),
    ("firstName", "E* NOT Eva", nil, [6]),
    // SDK: testSearchSingleFieldMultipleResultsWithFts4
    // SDK: testSearchSingleFieldMultipleResultsWithFts5
    ("lastName", "Haas", "employeeId", [1, 3]), ("lastName", "Haas", "firstName", [3, 1]),
    ("firstName", "E*", "employeeId", [5, 6]), ("firstName", "E*", "firstName", [6, 5]),
    ("firstName", "Eva OR Eileen", "employeeId", [5, 6]),
    ("firstName", "Eva OR Eileen", "firstName", [6, 5]),
    // SDK: testSearchAllFieldsNoResultsWithFts4, testSearchAllFieldsNoResultsWithFts5
    (nil, "Sternn", nil, []), (nil, "Stel*", nil, []), (nil, "Haas Christina", nil, []),
    (nil, "Christine NOT Haas", nil, []),
    // SDK: testSearchAllFieldsSingleResultWithFts4, testSearchAllFieldsSingleResultWithFts5
    (nil, "Stern", nil, [4]), (nil, "St*", nil, [4]), (nil, "Haas Christine", nil, [1]),
    (nil, "Haas NOT Christine", nil, [3]),
    // SDK: testSearchAllFieldMultipleResultsWithFts4, testSearchAllFieldMultipleResultsWithFts5
    (nil, "Eva", "employeeId", [5, 6]), (nil, "Eva", "lastName", [6, 5]),
    (nil, "Ev*", "employeeId", [5, 6]), (nil, "Thompson OR Ali", "employeeId", [2, 3]),
    (nil, "Thompson OR Ali", "firstName", [3, 2]),
    (nil, "Eva OR Haas NOT Ali", "employeeId", [1, 5, 6]),
    (nil, "Eva OR Haas NOT Ali", "firstName", [1, 6, 5]),
    // SDK: testSearchWithFieldColonQueriesWithFts4, testSearchWithFieldColonQueriesWithFts5
    (nil, "{employees:firstName}:Haas", nil, []), (nil, "{employees:firstName}:Eva", nil, [5]),
    (nil, "{employees:lastName}:Eva", nil, [6]),
    (nil, "{employees:lastName}:Haas", "employeeId", [1, 3]),
    (nil, "{employees:firstName}:E*", "employeeId", [5, 6]),
    (nil, "{employees:lastName}:H*", "employeeId", [1, 3]),
    (nil, "{employees:lastName}:Thompson OR {employees:firstName}:Ali", "employeeId", [2, 3]),
    (nil, "{employees:lastName}:Eva OR Haas NOT Ali", "employeeId", [1, 6]),
    (nil, "{employees:lastName}:Eva OR Haas NOT Ali", "lastName", [6, 1]),
  ]

  @Test(arguments: Platform.allCases, FullTextGrammar.allCases)
  func `a search finds the same elements as on a device`(
    _ platform: Platform, _ words: FullTextGrammar
  ) throws {
    let test = try make(platform, words, Self.people.map(Self.person))
    for (path, key, order, expected) in Self.searches {
      #expect(try found(test, path, key, order: order) == expected, "\(path ?? "-") \(key)")
    }
  }
}
