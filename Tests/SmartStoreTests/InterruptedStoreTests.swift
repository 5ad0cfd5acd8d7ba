import Foundation
import SQLite
import SmartStore
import Testing

/// Untrusted files whose device was interrupted while altering a soup: they are read at every step,
/// and never written.
@Suite struct InterruptedStoreTests {
  static let olds: [[IndexSpec]] = [
    Altering.old,
    [
      IndexSpec(path: "lastName", type: .fullText), IndexSpec(path: "address.city", type: .json1),
      IndexSpec(path: "gone", type: .integer),
    ],
  ]

  /// A closed file in which `s` was being altered, with another soup that has an edit.
  func interrupted(
    _ platform: Platform, _ step: SoupAlteration.Step, from old: [IndexSpec] = Altering.old,
    reIndexData: Bool = true
  ) throws -> TestStore {
    let test = try Altering.make(platform, old)
    try test.store.remove([3], from: "s")
    try test.store.registerSoup(
      "beside",
      indexSpecs: [
        IndexSpec(path: "__local__", type: .string), IndexSpec(path: "t", type: .fullText),
      ])
    try test.store.upsert(
      [#"{"t":"kept","__local__":false}"#, #"{"t":"edited","__local__":true}"#], into: "beside")
    try Altering.interrupt(test.store, Altering.new, after: step, reIndexData: reIndexData)
    // A killed app closes nothing.
    test.store.connection.close()
    return test
  }

  static let tables = [
    "TABLE_1", "TABLE_1_fts", "TABLE_2", "TABLE_2_fts", "soup_index_map", "soup_attrs",
    "long_operations_status",
  ]

  func contents(_ path: String, _ tables: [String] = tables) throws -> [[SQLiteValue]] {
    let connection = try Connection(path, mode: .readOnly)
    defer { connection.close() }
    return try tables.flatMap { table -> [[SQLiteValue]] in
      let sql = "SELECT '\(table)', * FROM \(table) ORDER BY 1, 2"
      return try connection.all(SQL(sql))
    } + connection.all("SELECT * FROM sqlite_sequence WHERE name LIKE 'TABLE%' ORDER BY name")
  }

  @Test(arguments: AlterResumeTests.steps)
  func `the copy equals the one that the app would have made`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    for (old, reIndexData) in Self.olds.flatMap({ [($0, true), ($0, false)] }) {
      let test = try interrupted(platform, step, from: old, reIndexData: reIndexData)
      let before = try read(test.store.path)
      #expect(throws: StoreError.interrupted(path: test.store.path, soup: "s")) {
        try Store(untrusted: test.store.path)
      }
      let copy = test.directory.file("copy.sqlite")
      #expect(try Store.finishAlterations(untrusted: test.store.path, to: copy) == ["s"])
      #expect(try read(test.store.path) == before)
      let store = try Store(untrusted: copy)
      #expect(try store.indexSpecs(of: "s") == Altering.new)
      #expect(try store.retrieve([1, 2, 3], from: "s").count == 2)
      #expect(try store.count(of: "beside", .dirty) == 1)
      try store.close()
      // The app resumes in place, with the full-text module and ALTER TABLE.
      try Store(opening: test.store.path).close()
      #expect(try contents(copy) == contents(test.store.path), "\(step) \(reIndexData)")
      let found = try StoreCheck(origin: .server).violations(at: copy)
      let device = try StoreCheck(origin: .server).violations(at: test.store.path)
      #expect(found == device)
      #expect(!reIndexData || found.isEmpty, "\(found)")
    }
  }

  @Test(arguments: AlterResumeTests.steps) func `a check names the soup, the step and the fix`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    for old in Self.olds {
      let test = try interrupted(platform, step, from: old)
      let name = step.status(on: platform)
      #expect(
        try StoreCheck().violations(at: test.store.path).map(\.description) == [
          "long_operations_status: a change of the indexes of soup \"s\" was interrupted after step "
            + "\(name); open the store in its app once, or let attache ingest it"
        ])
      // The other soups are checked as before.
      let connection = try Connection(test.store.path)
      try connection.execute("UPDATE TABLE_2 SET created = 'x' WHERE id = 1")
      connection.close()
      #expect(try StoreCheck().violations(at: test.store.path).count == 2)
    }
  }

  @Test func `a file without interruptions needs no copy`() throws {
    let test = try Altering.make(.ios, Altering.old)
    try test.store.close()
    let copy = test.directory.file("copy.sqlite")
    #expect(try Store.finishAlterations(untrusted: test.store.path, to: copy) == [])
    #expect(!FileManager.default.fileExists(atPath: copy))
  }

  /// No copy is left, and the file is not written.
  private func expectRefusal(_ test: TestStore, _ change: String) throws {
    let connection = try Connection(test.store.path)
    try connection.execute(change)
    connection.close()
    let before = try read(test.store.path)
    let copy = test.directory.file("copy.sqlite")
    let error = #expect(throws: StoreError.self, "\(change)") {
      try Store.finishAlterations(untrusted: test.store.path, to: copy)
    }
    #expect(error?.description.isEmpty == false)
    #expect(throws: StoreError.self, "\(change)") { try Store(untrusted: test.store.path) }
    #expect(try !StoreCheck().violations(at: test.store.path).isEmpty)
    #expect(try read(test.store.path) == before)
    let names = try FileManager.default.contentsOfDirectory(atPath: test.directory.path)
    #expect(names == ["store.sqlite"])
  }

  @Test(arguments: Platform.allCases)
  func `a row that no SDK writes is rejected`(_ platform: Platform) throws {
    for change in AlterResumeTests.strange {
      try expectRefusal(
        interrupted(platform, .dropOldIndexes), "UPDATE long_operations_status SET \(change)")
    }
  }

  /// Content that does not belong in a file at the step `registerSoupUsingTableName`.
  static let foreign = [
    "CREATE TRIGGER t AFTER INSERT ON TABLE_1 BEGIN SELECT 1; END",
    "CREATE TRIGGER t AFTER DELETE ON TABLE_1_old BEGIN SELECT 1; END",
    "CREATE VIEW v AS SELECT 1", "CREATE TABLE other (a)", "DROP TABLE TABLE_1_old",
    "DROP TABLE TABLE_1", "ALTER TABLE TABLE_1_old ADD COLUMN extra TEXT",
    "ALTER TABLE TABLE_1_old RENAME TO TABLE_9_old", "DROP INDEX TABLE_1_0_idx",
    "CREATE INDEX more ON TABLE_1_old ( soup )", "CREATE VIRTUAL TABLE TABLE_3_fts USING fts5(a)",
    "CREATE VIRTUAL TABLE TABLE_1_old_fts USING fts5(TABLE_1_0)",
    "DELETE FROM soup_index_map WHERE soupName = 's'",
    "UPDATE soup_index_map SET columnName = 'TABLE_1_9' WHERE columnName = 'TABLE_1_0'",
    // The previous and the next step leave another schema.
    "UPDATE long_operations_status SET status = CASE status WHEN '3' THEN '2' "
      + "ELSE 'DROP_OLD_INDEXES' END",
    "UPDATE long_operations_status SET status = CASE status WHEN '3' THEN '1' "
      + "ELSE 'RENAME_OLD_SOUP_TABLE' END",
    "UPDATE long_operations_status SET status = CASE status WHEN '3' THEN '6' "
      + "ELSE 'DROP_OLD_TABLE' END",
    "UPDATE long_operations_status SET status = CASE status WHEN '3' THEN '0' ELSE 'STARTING' END",
    "UPDATE long_operations_status SET details = replace(details, 'address.city', 'address.town')",
    "DELETE FROM long_operations_status",
  ]

  @Test(arguments: foreign)
  func `a schema that does not match the step is rejected`(_ change: String) throws {
    for platform in Platform.allCases {
      try expectRefusal(interrupted(platform, .registerSoupUsingTableName), change)
    }
  }

  @Test func `an element that cannot be indexed leaves no copy`() throws {
    let specs = [IndexSpec(path: "lastName", type: .json1)]
    let test = try Altering.make(.android, Altering.old)
    try Altering.interrupt(test.store, specs, after: .renameOldSoupTable)
    test.store.connection.close()
    let connection = try Connection(test.store.path)
    try connection.execute("UPDATE TABLE_1_old SET soup = '{' WHERE id = 2")
    connection.close()
    let copy = test.directory.file("copy.sqlite")
    #expect(throws: StoreError.self) {
      try Store.finishAlterations(untrusted: test.store.path, to: copy)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: test.directory.path)
    #expect(names == ["store.sqlite"])
  }

  // MARK: an app continues after its alteration failed

  /// Elements that the app wrote into the new table while the old one still existed, with their
  /// flags.
  private func write(_ elements: [(name: String, isEdit: Bool)], _ test: TestStore) throws {
    // The SDK logs that it could not resume, and opens the store.
    let store = Store(try Connection(test.store.path), platform: test.store.platform)
    for element in elements {
      try store.upsert(
        ["{\"lastName\":\"\(element.name)\",\"__local__\":\(element.isEdit)}"], into: "s")
    }
    store.connection.close()
  }

  private func names(_ store: Store) throws -> [String] {
    try store.queryValues(QuerySpec(soupName: "s", .all, orderPath: "_soupEntryId", pageSize: 100))
      .map { $0["lastName"]?.string ?? "" }
  }

  /// The IDs of rows with edits in the old table, the elements that the app wrote into the new
  /// table, and the result; nil if the file is rejected.
  static let continued: [(old: [Int], written: [(name: String, isEdit: Bool)], kept: [String]?)] = [
    // The rows of the new table replace clean rows with the same IDs.
    ([], [("x", true), ("y", false)], ["x", "y", "Watson"]),
    ([3], [("x", true), ("y", false)], ["x", "y", "Watson"]),
    ([], [("x", true), ("y", false), ("z", true), ("more", true)], ["x", "y", "z", "more"]),
    // Both tables have an edit with the same ID, so the meaning is ambiguous.
    ([1], [("x", true)], nil), ([2], [("x", false), ("y", false)], nil),
  ]

  @Test(arguments: Platform.allCases, continued.indices)
  func `rows of both tables of a soup are read, unless both have edits`(
    _ platform: Platform, _ index: Int
  ) throws {
    let (old, written, kept) = Self.continued[index]
    let test = try Altering.make(platform, Altering.old)
    for id in old {
      let name = ["Doe", "Jackson", "Watson"][id - 1]
      try test.store.upsert(
        ["{\"_soupEntryId\":\(id),\"lastName\":\"\(name)\",\"__local__\":true}"], into: "s")
    }
    // Before this step and after the next one, only one table has elements.
    try Altering.interrupt(test.store, Altering.new, after: .registerSoupUsingTableName)
    test.store.connection.close()
    try write(written, test)
    let copy = test.directory.file("copy.sqlite")
    guard let kept else {
      let refusal = #expect(throws: StoreError.self) {
        try Store.finishAlterations(untrusted: test.store.path, to: copy)
      }
      #expect(refusal?.description.contains("soup \"s\"") == true)
      let before = try read(test.store.path)
      let live = #expect(throws: StoreError.self) { try Store(opening: test.store.path) }
      #expect(live == refusal)
      #expect(live?.description.contains("UNIQUE") == false)
      #expect(try read(test.store.path) == before)
      return
    }
    #expect(try Store.finishAlterations(untrusted: test.store.path, to: copy) == ["s"])
    let finished = try Store(untrusted: copy)
    #expect(try names(finished) == kept)
    try finished.close()
    // The live store is resumed by the same rule.
    let live = try Store(opening: test.store.path)
    #expect(try names(live) == kept)
    try live.close()
    let tables = ["TABLE_1", "TABLE_1_fts"]
    #expect(try contents(copy, tables) == contents(live.path, tables))
    for path in [copy, live.path] { #expect(try StoreCheck().violations(at: path) == []) }
  }

  @Test(arguments: Platform.allCases, [SoupAlteration.Step.copyTable, .reIndexSoup])
  func `an edit that only the old table has is refused, whatever the status says`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    // Another row of the new table may have the ID of the edit.
    for (isEdit, isReplaced) in [(false, false), (true, false), (true, true)] {
      let test = try Altering.make(platform, Altering.old)
      let edit = "{\"_soupEntryId\":3,\"lastName\":\"Watson\",\"__local__\":\(isEdit)}"
      try test.store.upsert([edit], into: "s")
      try Altering.interrupt(test.store, Altering.new, after: step)
      let changes =
        isReplaced
        ? ["UPDATE TABLE_1 SET created = created + 1 WHERE id = 3"]
        : ["DELETE FROM TABLE_1 WHERE id = 3", "DELETE FROM TABLE_1_fts WHERE rowid = 3"]
      for change in changes { try test.store.connection.execute("\(raw: change)") }
      test.store.connection.close()
      let copy = test.directory.file("copy.sqlite")
      var error: (any Error)?
      do { _ = try Store.finishAlterations(untrusted: test.store.path, to: copy) } catch let refusal
      { error = refusal }
      #expect("\(String(describing: error))".contains("row 3 of TABLE_1_old is an edit") == isEdit)
      let check = try StoreCheck().violations(at: test.store.path).map(\.description)
      #expect(check.contains { $0.hasPrefix("TABLE_1_old row 3: is an edit that") } == isEdit)
      let before = try read(test.store.path)
      var live: (any Error)?
      do { try Store(opening: test.store.path).close() } catch { live = error }
      #expect(live as? StoreError == error as? StoreError && (live != nil) == isEdit)
      #expect(try (read(test.store.path) == before) == isEdit)
      #expect(
        FileManager.default.fileExists(atPath: copy) != isEdit, "\(String(describing: error))")
    }
  }

  /// The state after a second call of `alterSoup`, which cannot rename a table while the old one
  /// exists.
  @Test(arguments: AlterResumeTests.steps) func `a second row of the soup is accepted`(
    _ platform: Platform, _ step: SoupAlteration.Step
  ) throws {
    for isFirst in [false, true] {
      let test = try interrupted(platform, step)
      let device = try Connection(test.store.path)
      let id = isFirst ? -1 : 100
      try device.run(
        """
        INSERT INTO long_operations_status (id, type, details, status)
        SELECT \(id), type, details, \(SoupAlteration.Step.starting.status(on: platform))
        FROM long_operations_status
        """)
      if platform == .android {
        try device.execute(
          "CREATE TABLE android_metadata (locale TEXT); INSERT INTO android_metadata VALUES ('en')")
      }
      device.close()
      let copy = test.directory.file("copy.sqlite")
      #expect(try Store.finishAlterations(untrusted: test.store.path, to: copy) == ["s"])
      let store = try Store(untrusted: copy)
      #expect(try store.retrieve([1, 2, 3], from: "s").count == 2)
      #expect(try store.indexSpecs(of: "s") == Altering.new)
      try store.close()
      try Store(opening: test.store.path).close()
      #expect(try StoreCheck().violations(at: test.store.path) == [])
    }
  }
}
