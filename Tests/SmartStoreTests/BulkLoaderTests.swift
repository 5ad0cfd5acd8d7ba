import JSON
import SmartStore
import Testing

func load(
  _ mode: BulkLoader.Mode, _ pages: [String], into tests: [TestStore], specs: [IndexSpec],
  skip: Set<String> = [], syncID: Int64? = 7
) throws -> (pages: [BulkLoader.PageLoad], summary: BulkLoader.LoadSummary) {
  let options = BulkLoader.Options(soup: "s", specs: specs, syncID: syncID, now: tests[0].now)
  let loader = try BulkLoader(
    mode, destinations: tests.map { .init($0.store, skip: skip) }, options: options)
  let loads = try pages.map { page in
    let container: RecordScanner.Container = page.hasPrefix("[") ? .array : .member("records")
    return try loader.load(Array(page.utf8), in: container)
  }
  return (loads, try loader.finish())
}

func changes(
  _ page: String, against test: TestStore, specs: [IndexSpec], skip: Set<String> = []
) throws -> BulkLoader.PageChanges {
  let options = BulkLoader.Options(soup: "s", specs: specs, syncID: 7, now: test.now)
  return try Array(page.utf8).withUnsafeBytes {
    try BulkLoader.changes(
      in: $0, .member("records"), against: test.store, options: options, skip: skip)
  }
}

@Suite struct BulkLoaderTests {
  let specs = [
    IndexSpec(path: "Name", type: .fullText), IndexSpec(path: "Id", type: .string),
    IndexSpec(path: "Amount", type: .floating), IndexSpec(path: "Count", type: .integer),
    IndexSpec(path: "Owner.Name", type: .string), IndexSpec(path: "Active", type: .string),
    IndexSpec(path: "Lines.records.Name", type: .string), IndexSpec(path: "City", type: .json1),
    IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
    IndexSpec(path: "__locally_deleted__", type: .integer),
  ]

  func record(_ id: Int, _ members: String = "", date: Int = 1) -> String {
    #"{"attributes":{"type":"T"},"Id":"a0\#(id)","LastModifiedDate":"2024-01-0\#(date)"#
      + #"T00:00:00.000+0000"\#(members.isEmpty ? "" : "," + members)}"#
  }

  func page(_ records: [String]) -> String {
    #"{"totalSize":9,"done":true,"records":["# + records.joined(separator: ", ") + "]}"
  }

  let odd = [
    #""Name":"Plain","Amount":1.50,"Count":3,"Active":true,"Owner":{"Name":"Ada"},"City":"Köln""#,
    #""Name":"Esc\"aped \u00e9\n","Amount":2,"Count":2.9,"Active":false,"Owner":null"#,
    #""Name":null,"Amount":"12","Count":"12","Active":"yes","Owner":{"Name":"\u0000x"}"#,
    #""Name":1.0e25,"Amount":true,"Count":false,"Active":5,"Owner":{"Name":{"a":"b/c"}}"#,
    #""Name":["x",2.0],"Amount":{"a":1},"Count":9223372036854775808,"Active":-0.00001"#,
    #""Lines":{"records":[{"Name":"one"},{"Other":1},{"Name":"two"}]},"Amount":1e400"#,
    #""Lines":[{"records":[{"Name":1}]},{"records":{"Name":2}}],"Count":-9e99"#, "",
  ]

  @Test(arguments: Platform.allCases)
  func `a cold load writes the same as upserts`(_ platform: Platform) throws {
    let loaded = try TestStore(platform)
    let upserted = try TestStore(platform)
    // More records than rows in a statement.
    let records = (0..<80).map { record($0, odd[$0 % odd.count]) }
    let result = try load(
      .cold, [page(Array(records[..<50])), page(Array(records[50...]))], into: [loaded],
      specs: specs)
    #expect(result.summary.records == 80)
    #expect(result.summary.destinations == [.init(inserted: 80)])
    #expect(result.summary.latestModification == "2024-01-01T00:00:00.000+0000")
    try upserted.store.registerSoup("s", indexSpecs: specs)
    let flags =
      #","__local__":false,"__locally_created__":false,"__locally_updated__":false,"#
      + #""__locally_deleted__":false,"__sync_id__":7}"#
    try upserted.store.upsert(records.map { $0.dropLast() + flags }, into: "s")
    let columns = specs.indices.filter { specs[$0].type != .json1 }.map { "TABLE_1_\($0)" }
    let query =
      "SELECT id, created, lastModified, \(columns.joined(separator: ", ")) FROM TABLE_1 ORDER BY id"
    #expect(try loaded.rows(query) == upserted.rows(query))
    func elements(_ test: TestStore) throws -> [JSONValue] {
      try test.rows("SELECT soup FROM TABLE_1 ORDER BY id").map {
        try JSONValue(parsing: $0[0].text ?? "")
      }
    }
    #expect(try elements(loaded) == elements(upserted))
    let words = "SELECT rowid, * FROM TABLE_1_fts ORDER BY rowid"
    #expect(try loaded.rows(words) == upserted.rows(words))
    #expect(try Set(loaded.schema()) == Set(upserted.schema()))
    let sequence = "SELECT * FROM sqlite_sequence ORDER BY name"
    #expect(try loaded.rows(sequence) == upserted.rows(sequence))
    #expect(try loaded.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test func `another spelling of a number is not a change`() throws {
    let test = try TestStore(.ios)
    _ = try load(
      .cold, [page([record(1, #""Amount":1.0E7,"Count":3"#)])], into: [test], specs: specs)
    let other = try changes(
      page([record(1, #""Amount":10000000,"Count":3.0"#)]), against: test, specs: specs)
    #expect(other.isEmpty)
    let another = try changes(
      page([record(1, #""Amount":10000001,"Count":3"#)]), against: test, specs: specs)
    #expect(another.changed == [0])
  }

  @Test func `one page is written to both platforms`() throws {
    let tests = [try TestStore(.ios), try TestStore(.android)]
    let result = try load(.cold, [page([record(1, #""Active":true"#)])], into: tests, specs: specs)
    #expect(result.summary.destinations.map(\.written) == [1, 1])
    let query = "SELECT TABLE_1_5, TABLE_1_8, TABLE_1_10 FROM TABLE_1"
    #expect(try tests[0].rows(query) == [["1", "0", 0]])
    #expect(try tests[1].rows(query) == [["true", "false", nil]])
    let element = try tests[0].rows("SELECT soup FROM TABLE_1")
    #expect(
      element == [
        [
          .text(
            #"{"attributes":{"type":"T"},"Id":"a01","LastModifiedDate":"2024-01-01T00:00:00.000+0000","#
              + #""Active":true,"__local__":false,"__locally_created__":false,"#
              + #""__locally_updated__":false,"__locally_deleted__":false,"__sync_id__":7,"#
              + #""_soupEntryId":1,"_soupLastModifiedDate":1700000000000}"#)
        ]
      ])
    #expect(try tests[1].rows("SELECT soup FROM TABLE_1") == element)
  }

  @Test(arguments: [BulkLoader.Mode.cold, .incremental])
  func `members with reserved names are replaced`(_ mode: BulkLoader.Mode) throws {
    let test = try TestStore(.android)
    _ = try load(
      mode,
      [
        page([record(1, #""__local__":true,"_soupEntryId":99,"__last_error__":"x","b" : [1 , 2] "#)]
        )
      ], into: [test], specs: specs)
    let element = try test.store.retrieve([1], from: "s")
    #expect(element.first?.hasPrefix(#"{"attributes":{"type":"T"},"Id":"a01","#) == true)
    #expect(element.first?.contains(#""b":[1,2],"__local__":false,"#) == true)
    #expect(element.first?.contains("99") == false)
    #expect(element.first?.contains("__last_error__") == false)
  }

  @Test func `the later of two records with one ID is kept`() throws {
    for mode in [BulkLoader.Mode.cold, .incremental] {
      let test = try TestStore(.ios)
      let pages = [
        page([
          record(1, #""Name":"old""#, date: 1), record(2), record(3, #""Name":"new""#, date: 5),
        ]), page([record(1, #""Name":"new""#, date: 2), record(3, #""Name":"old""#, date: 4)]),
        page([record(4, #""Name":"old""#, date: 1), record(4, #""Name":"new""#, date: 2)]),
      ]
      let result = try load(mode, pages, into: [test], specs: specs)
      #expect(result.summary.destinations[0].doubles == 3)
      #expect(
        try test.rows("SELECT TABLE_1_1, TABLE_1_0 FROM TABLE_1 ORDER BY 1") == [
          ["a01", "new"], ["a02", nil], ["a03", "new"], ["a04", "new"],
        ])
      #expect(try test.rows("SELECT count(*) FROM TABLE_1_fts") == [[4]])
      #expect(try test.rows("SELECT id FROM TABLE_1 EXCEPT SELECT rowid FROM TABLE_1_fts") == [])
    }
  }

  @Test(arguments: Platform.allCases)
  func `two elements of one record become one after a sync down`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: specs)
    try test.store.upsert([record(1, #""Name":"one""#), record(1, #""Name":"two""#)], into: "s")
    test.now += 1000
    let result = try load(
      .incremental, [page([record(1, #""Name":"new""#), record(2)])], into: [test], specs: specs)
    #expect(result.summary.destinations == [.init(inserted: 1, updated: 1, doubles: 1)])
    #expect(
      try test.rows("SELECT id, TABLE_1_1, TABLE_1_0 FROM TABLE_1 ORDER BY id") == [
        [1, "a01", "new"], [3, "a02", nil],
      ])
  }

  @Test(arguments: Platform.allCases) func `only changes are written`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    let all = (0..<40).map { record($0, odd[$0 % odd.count]) }
    _ = try load(.cold, [page(all)], into: [test], specs: specs)
    test.now += 1000
    #expect(try changes(page(all), against: test, specs: specs).isEmpty)
    let same = try load(.incremental, [page(all)], into: [test], specs: specs)
    #expect(same.summary.destinations == [.init(unchanged: 40)])
    #expect(try test.rows("SELECT count(*) FROM TABLE_1 WHERE lastModified > created") == [[0]])
    let changed = [
      record(3, #""Name":"Neu","Count":8"#, date: 2), record(1, odd[1]), record(77, odd[0]),
      record(2, #""Name":"dirty""#, date: 2),
    ]
    let found = try changes(page(changed), against: test, specs: specs, skip: ["a02"])
    #expect(found.changed == [0, 2])
    #expect(found.latestModification == "2024-01-02T00:00:00.000+0000")
    let result = try load(.incremental, [page(changed)], into: [test], specs: specs, skip: ["a02"])
    #expect(
      result.summary.destinations == [.init(inserted: 1, updated: 1, unchanged: 1, skipped: 1)])
    #expect(
      try test.rows(
        "SELECT id, TABLE_1_0, TABLE_1_3, lastModified - created FROM TABLE_1 "
          + "WHERE TABLE_1_1 IN ('a03', 'a077') ORDER BY id") == [
          [4, "Neu", 8, 1000], [41, "Plain", 3, 0],
        ])
    #expect(try test.rows("SELECT rowid FROM TABLE_1_fts WHERE TABLE_1_fts MATCH 'neu'") == [[4]])
    #expect(try test.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test func `an array shows which IDs arrived and counts nulls`() throws {
    let test = try TestStore(.ios)
    let result = try load(
      .incremental, ["[" + record(1) + ",null," + record(2) + ",null]"], into: [test], specs: specs)
    #expect(result.pages[0].nulls == 2)
  }

  @Test func `a page that cannot be stored is rejected as a whole`() throws {
    let test = try TestStore(.ios)
    _ = try load(.incremental, [page([record(1)])], into: [test], specs: specs)
    let bad = [
      page([record(2), #"{"Name":"no id"}"#]), page([record(2), "{\"Id\":\"a03\""]), "",
      #"{"other":[]}"#, page([record(2), #"{"Id":true}"#]),
    ]
    for page in bad {
      #expect(throws: StoreError.self, "\(page)") {
        try load(.incremental, [page], into: [test], specs: specs)
      }
    }
    #expect(try test.store.count(of: "s") == 1)
    #expect(throws: StoreError.noIndex(soup: "s", path: "Id")) {
      try load(
        .cold, [], into: [try TestStore(.ios)], specs: [IndexSpec(path: "Name", type: .string)])
    }
  }

  @Test func `the bytes of a replaced record are gone`() throws {
    let test = try TestStore(.ios)
    let many = (0..<300).map { record($0, #""Name":"word\#($0) canary\#($0)x""#) }
    _ = try load(.cold, [page(many)], into: [test], specs: specs)
    test.now += 1
    _ = try load(
      .incremental, [page([record(7, #""Name":"clean""#, date: 2)])], into: [test], specs: specs)
    try test.store.close()
    let bytes = String(decoding: try read(test.store.path), as: UTF8.self)
    #expect(!bytes.contains("canary7x"))
    #expect(bytes.contains("canary8x"))
  }
}
