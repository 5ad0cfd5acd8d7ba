import Foundation
import JSON
import SQLite
import SmartStore
import Testing

@Suite struct AlterResumeTests {
  static let steps: [(Platform, SoupAlteration.Step)] = Platform.allCases.flatMap { platform in
    SoupAlteration.Step.allCases.filter { $0 < .last(on: platform) }.map { (platform, $0) }
  }

  /// A soup that was altered without interruption.
  func whole(_ platform: Platform, reIndexData: Bool) throws -> TestStore {
    let test = try Altering.make(platform, Altering.old)
    try test.store.alterSoup("s", indexSpecs: Altering.new, reIndexData: reIndexData)
    return test
  }

  func contents(_ connection: Connection) throws -> [[SQLiteValue]] {
    try ["TABLE_1", "TABLE_1_fts", "soup_index_map", "soup_attrs", "sqlite_sequence"]
      .flatMap { table -> [[SQLiteValue]] in
        let sql = "SELECT '\(table)', * FROM \(table) ORDER BY 1, 2"
        return try connection.all(SQL(sql))
      }
  }

  // SDK: testAlterSoupResumeAfterRenameOldSoupTable, testAlterSoupResumeAfterDropOldIndexes (iOS)
  // SDK: testAlterSoupResumeAfterDropOldIndexed (Android)
  // SDK: testAlterSoupResumeAfterRegisterSoupUsingTableName, testAlterSoupResumeAfterCopyTable
  // SDK: testAlterSoupResumeAfterReIndexSoup, testAlterSoupResumeAfterDropOldTable
  @Test(arguments: AlterResumeTests.steps) func `an alteration is resumed when the store is opened`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    for reIndexData in [true, false] {
      let test = try Altering.make(platform, Altering.old)
      try Altering.interrupt(test.store, Altering.new, after: step, reIndexData: reIndexData)
      let row = try #require(
        try test.rows("SELECT type, status, details FROM long_operations_status").first)
      let names = [
        "STARTING", "RENAME_OLD_SOUP_TABLE", "DROP_OLD_INDEXES", "REGISTER_SOUP_USING_TABLE_NAME",
        "COPY_TABLE", "RE_INDEX_SOUP", "DROP_OLD_TABLE",
      ]
      // Without reindexing, no SDK records this step.
      let written = step == .reIndexSoup && !reIndexData ? step.rawValue - 1 : step.rawValue
      let status = platform == .ios ? String(written) : names[written]
      #expect(Array(row[..<2]) == [platform == .ios ? "AlterSoup" : "alterSoup", .text(status)])
      let details = try JSONValue(parsing: row[2].text ?? "")
      #expect(details["soupName"] == "s")
      #expect(details["soupTableName"] == "TABLE_1")
      #expect(
        details["oldIndexSpecs"] == [
          ["path": "lastName", "type": "string", "columnName": "TABLE_1_0"]
        ])
      #expect(details["reIndexData"] == .bool(reIndexData))
      test.store.connection.close()
      let store = try Store(opening: test.store.path)
      let expected = try whole(platform, reIndexData: reIndexData)
      #expect(try contents(store.connection) == contents(expected.store.connection))
      #expect(try store.connection.all("SELECT * FROM long_operations_status") == [])
      #expect(try store.indexSpecs(of: "s") == Altering.new)
      try store.close()
      let found = try StoreCheck(origin: .server).violations(at: test.store.path)
      #expect(found.isEmpty == reIndexData, "\(found)")
    }
  }

  @Test(arguments: AlterResumeTests.steps) func `a resumed alteration can be interrupted too`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    for later in SoupAlteration.Step.allCases where later > step && later < .last(on: platform) {
      let test = try Altering.make(platform, Altering.old)
      var alteration = SoupAlteration(
        platform: platform, old: try test.store.soup("s"), specs: Altering.new, reIndexData: true)
      let row = try test.store.begin(alteration)
      try test.store.run(&alteration, row: row, through: step)
      try test.store.run(&alteration, row: row, through: later)
      test.store.connection.close()
      let store = try Store(opening: test.store.path)
      let expected = try whole(platform, reIndexData: true)
      #expect(try contents(store.connection) == contents(expected.store.connection))
    }
  }

  @Test(arguments: AlterResumeTests.steps)
  func `a soup is unchanged if our own alteration is killed`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    struct Kill: Error {}
    let test = try Altering.make(platform, Altering.old)
    let before = try test.schema()
    let elements = try test.rows("SELECT * FROM TABLE_1")
    let copy = test.directory.file("copy.sqlite")
    #expect(throws: Kill.self) {
      try test.store.transaction {
        try Altering.interrupt(test.store, Altering.new, after: step)
        // A killed process leaves the file and its hot journal.
        for suffix in ["", "-journal"] {
          try FileManager.default.copyItem(atPath: test.store.path + suffix, toPath: copy + suffix)
        }
        throw Kill()
      }
    }
    for store in [test.store, try Store(opening: copy)] {
      #expect(try store.indexSpecs(of: "s") == Altering.old)
      #expect(
        try store.connection.texts("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL") == before)
      #expect(try store.connection.all("SELECT * FROM TABLE_1") == elements)
      #expect(try store.connection.all("SELECT * FROM long_operations_status") == [])
    }
  }

  @Test(arguments: Platform.allCases)
  func `an old full-text table is resumed under its platform's name`(_ platform: Platform) throws {
    for step in SoupAlteration.Step.allCases where step < .last(on: platform) {
      let specs = [IndexSpec(path: "lastName", type: .fullText)]
      let test = try Altering.make(platform, specs)
      try Altering.interrupt(test.store, Altering.new, after: step)
      if step >= .renameOldSoupTable, step < .dropOldTable {
        let name = platform == .ios ? "TABLE_1_fts_old" : "TABLE_1_old_fts"
        #expect(try test.rows("SELECT count(*) FROM sqlite_schema WHERE name = '\(name)'") == [[1]])
      }
      test.store.connection.close()
      let store = try Store(opening: test.store.path)
      #expect(try store.indexSpecs(of: "s") == Altering.new)
      try store.close()
      #expect(try StoreCheck(origin: .server).violations(at: test.store.path) == [])
    }
  }

  /// Rows that no SDK writes, some of them malicious.
  static let strange = [
    "type = 'other'", "status = 'x'", "status = '-1'", "status = NULL", "details = '{'",
    "details = json_set(details, '$.soupTableName', 'TABLE_1; DROP TABLE soup_attrs')",
    "details = json_set(details, '$.soupTableName', 'TABLE_2')",
    "details = json_set(details, '$.soupName', 'nobody')",
    "details = json_set(details, '$.newIndexSpecs', json('[]'))",
    "details = json_set(details, '$.newIndexSpecs[0].type', 'date')",
    "details = json_remove(details, '$.oldIndexSpecs[0].path')",
  ]

  @Test(arguments: Platform.allCases)
  func `a row that no SDK writes is rejected, and nothing is changed`(_ platform: Platform) throws {
    for change in Self.strange {
      let test = try Altering.make(platform, Altering.old)
      try Altering.interrupt(test.store, Altering.new, after: .dropOldIndexes)
      try test.store.connection.execute("UPDATE long_operations_status SET \(change)")
      test.store.connection.close()
      let before = try read(test.store.path)
      let error = #expect(throws: StoreError.self, "\(change)") {
        try Store(opening: test.store.path)
      }
      #expect(error?.description.contains("long_operations_status contains a change") == true)
      #expect(try read(test.store.path) == before)
    }
  }

  @Test(arguments: AlterResumeTests.steps)
  func `a soup between two steps is read if its tables are complete, otherwise rejected`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    let test = try Altering.make(platform, Altering.old)
    try test.store.registerSoup("beside", indexSpecs: Altering.old)
    try Altering.interrupt(test.store, Altering.new, after: step)
    test.store.connection.close()
    let reader = try Store(opening: test.store.path, readOnly: true)
    let named = QuerySpec(soupName: "s", .exact(path: "lastName", matchKey: "Doe"))
    if step < .renameOldSoupTable || step >= .reIndexSoup {
      #expect(try reader.count(of: "s") == 3)
      #expect(try reader.query(named).count == 1)
    } else {
      let refusal = StoreError.interrupted(path: test.store.path, soup: "s")
      #expect(throws: refusal) { try reader.count(of: "s") }
      #expect(throws: refusal) { try reader.query(named) }
      #expect(throws: refusal) { try reader.count(QuerySpec(smartSQL: "select 1 from {s}")) }
    }
    #expect(try reader.soupNames() == ["s", "beside"])
    #expect(try reader.count(of: "beside") == 0)
  }
}
