import SQLite
import SmartStore
import TestSupport
import Testing

@Suite struct UpsertTests {
  let specs = [
    IndexSpec(path: "key", type: .string), IndexSpec(path: "address.city", type: .string),
  ]

  // SDK: testCreateOne (Android), testCreateMultiple (Android)
  @Test(arguments: Platform.allCases)
  func `an inserted element gets its ID and dates`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: specs)
    let stored = try test.store.upsert(
      [#"{"key":"ka1","address":{"city":"Berlin"},"big":12345678901234567890}"#, "{}"], into: "s")
    #expect(
      stored == [
        #"{"key":"ka1","address":{"city":"Berlin"},"big":12345678901234567890,"#
          + #""_soupEntryId":1,"_soupLastModifiedDate":1700000000000}"#,
        #"{"_soupEntryId":2,"_soupLastModifiedDate":1700000000000}"#,
      ])
    let now = SQLiteValue.integer(test.now)
    #expect(
      try test.rows("SELECT * FROM TABLE_1") == [
        [1, .text(stored[0]), now, now, "ka1", "Berlin"],
        [2, .text(stored[1]), now, now, nil, nil],
      ])
    #expect(try test.rows("SELECT * FROM sqlite_sequence WHERE name = 'TABLE_1'").first?[1] == 2)
  }

  // SDK: testUpdate (Android), testUpsert (Android), testUpsertWithExternalId (Android)
  @Test(arguments: Platform.allCases)
  func `an update replaces the element and keeps its creation time`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: specs)
    try test.store.upsert([#"{"key":"a","x":1}"#, #"{"key":"b"}"#], into: "s")
    test.now += 5
    try test.store.upsert([#"{"_soupEntryId":1,"key":"c"}"#], into: "s")
    try test.store.upsert(
      [#"{"key":"b","y":2}"#, #"{"key":"n"}"#], into: "s", externalIDPath: "key")
    #expect(
      try test.rows("SELECT id, TABLE_1_0, lastModified - created FROM TABLE_1") == [
        [1, "c", 5], [2, "b", 5], [3, "n", 0],
      ])
    #expect(
      try test.store.retrieve([2, 9, 1], from: "s") == [
        #"{"key":"b","y":2,"_soupEntryId":2,"_soupLastModifiedDate":1700000000005}"#,
        #"{"_soupEntryId":1,"key":"c","_soupLastModifiedDate":1700000000005}"#,
      ])
  }

  // SDK: testUpsertWithNonIndexedExternalId (Android)
  // SDK: testUpsertByUserDefinedExternalIdWithoutValue (Android)
  // SDK: testUpsertWithNonUniqueExternalId (Android)
  @Test(arguments: Platform.allCases)
  func `an external ID needs an index, a value and a single element`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: specs)
    try test.store.upsert([#"{"key":"a"}"#, #"{"key":"a"}"#], into: "s")
    func upsert(_ element: String, by path: String) throws {
      try test.store.upsert([#"{"key":"new"}"#, element], into: "s", externalIDPath: path)
    }
    #expect(throws: StoreError.noIndex(soup: "s", path: "other")) { try upsert("{}", by: "other") }
    #expect(throws: StoreError.externalIDMissing(soup: "s", path: "key", element: 1)) {
      try upsert("{}", by: "key")
    }
    #expect(throws: StoreError.externalIDNotUnique(soup: "s", path: "key", element: 1)) {
      try upsert(#"{"key":"a"}"#, by: "key")
    }
    #expect(throws: StoreError.noSuchEntry(soup: "s", soupEntryID: 7)) {
      try test.store.upsert([#"{"_soupEntryId":7}"#], into: "s")
    }
    #expect(try test.store.count(of: "s") == 2)
    if platform == .ios {
      try test.store.upsert([#"{"key":null}"#], into: "s", externalIDPath: "key")
      #expect(try test.store.count(of: "s") == 3)
    } else {
      #expect(throws: StoreError.externalIDMissing(soup: "s", path: "key", element: 0)) {
        try test.store.upsert([#"{"key":null}"#], into: "s", externalIDPath: "key")
      }
    }
  }

  @Test(arguments: Platform.allCases)
  func `a missing element cannot be replaced`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: specs)
    #expect(throws: StoreError.noSuchEntry(soup: "s", soupEntryID: 7)) {
      try test.store.upsert([#"{"key":"new"}"#, #"{"_soupEntryId":7,"key":"a"}"#], into: "s")
    }
    #expect(try test.store.count(of: "s") == 0)
  }

  // SDK: testRetrieve (Android), testDelete (Android), testClearSoup (Android)
  // SDK: testRemoveEntriesByIds (iOS)
  @Test func `removed IDs are never reused`() throws {
    let test = try TestStore(.android)
    try test.store.registerSoup("s", indexSpecs: specs)
    try test.store.upsert(["{}", "{}", "{}"], into: "s")
    try test.store.remove([2, 3, 99], from: "s")
    #expect(try test.store.count(of: "s") == 1)
    try test.store.clearSoup("s")
    try test.store.upsert(["{}"], into: "s")
    #expect(try test.rows("SELECT id FROM TABLE_1") == [[4]])
    #expect(throws: StoreError.unknownSoup("t")) { try test.store.clearSoup("t") }
  }

  @Test(arguments: Platform.allCases)
  func `full text follows the elements`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup(
      "s",
      indexSpecs: [
        IndexSpec(path: "a", type: .fullText), IndexSpec(path: "b", type: .string),
        IndexSpec(path: "c", type: .fullText),
      ])
    try test.store.upsert(
      [#"{"a":"Christine Haas","c":"CEO"}"#, "{}", #"{"a":"Eva Pulaski","c":"Sales"}"#], into: "s")
    func found(_ words: String) throws -> [SQLiteValue] {
      try test.rows("SELECT rowid FROM TABLE_1_fts WHERE TABLE_1_fts MATCH '\(words)'").map {
        $0[0]
      }
    }
    #expect(try found("haas") == [1])
    #expect(try test.rows("SELECT count(*) FROM TABLE_1_fts") == [[3]])
    try test.store.upsert([#"{"_soupEntryId":1,"a":"Christine Miller"}"#], into: "s")
    #expect(try found("haas") == [])
    #expect(try found("miller") == [1])
    let spec = QuerySpec(soupName: "s", .match(path: "a", matchKey: "eva"), pageSize: 1)
    #expect(try test.store.remove(spec, from: "s") == 1)
    #expect(try found("eva") == [])
    try test.store.remove([2], from: "s")
    #expect(try test.rows("SELECT rowid FROM TABLE_1_fts") == [[1]])
    try test.store.clearSoup("s")
    #expect(try test.rows("SELECT count(*) FROM TABLE_1_fts") == [[0]])
  }

  @Test func `removed content is in no byte of the closed file`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .fullText)])
    let filler = (0..<200).map { "{\"a\":\"filler word\($0)\"}" }
    try test.store.upsert(filler + [#"{"a":"canary7f3a"}"#] + filler, into: "s")
    try test.store.remove([201], from: "s")
    try test.store.close()
    let bytes = try #require(try? String(decoding: read(test.store.path), as: UTF8.self))
    #expect(!bytes.contains("canary"))
    #expect(bytes.contains("word150"))
  }

  /// When rows grow and shrink, SQLite distributes them among pages again.
  @Test(arguments: Platform.allCases)
  func `after a removal no byte of the closed file has a row that is gone, whatever was moved`(
    _ platform: Platform
  ) throws {
    var random = HistoryRandom(20_261_130)
    let test = try TestStore(platform)
    try test.store.registerSoup(
      "s",
      indexSpecs: [
        IndexSpec(path: "key", type: .string), IndexSpec(path: "word", type: .string),
        IndexSpec(path: "text", type: .fullText),
      ])
    var words: [Int: String] = [:]
    var path = test.store.path
    for run in 0..<12 {
      let store = try run == 0 ? test.store : Store(opening: path)
      path = store.path
      var elements: [String] = []
      for key in Set((0..<120).map { _ in random.below(300) }).sorted() {
        let word = "zq\(run)x\(key)zq"
        // The longest ones have overflow pages, in the table and in the index.
        let long = random.chance(5) ? 400 : random.pick([1, 2, 3, 5, 8, 30])
        let text = String(repeating: word + " ", count: long)
        elements.append("{\"key\":\"\(key)\",\"word\":\"\(text)\",\"text\":\"\(word)\"}")
        words[key] = word
      }
      try store.upsert(elements, into: "s", externalIDPath: "key")
      for key in words.keys.sorted() where random.chance(run == 6 ? 90 : 10) {
        words[key] = nil
        let query = QuerySpec(soupName: "s", .exact(path: "key", matchKey: "\(key)"))
        try store.remove(query, from: "s")
      }
      try store.close()
      let parts = Set(try read(path).split(separator: UInt8(ascii: "z")))
      let found = parts.map { String(decoding: $0, as: UTF8.self) }
        .filter { $0.wholeMatch(of: /q[0-9]+x[0-9]+/) != nil }.map { "z" + $0 + "zq" }
      #expect(Set(found) == Set(words.values), "run \(run)")
      let again = try Store(opening: path, readOnly: true)
      #expect(try again.connection.texts("PRAGMA integrity_check") == ["ok"], "run \(run)")
      let rows = try again.connection.texts("SELECT json_extract(soup, '$.text') FROM TABLE_1")
      #expect(rows.sorted() == words.values.sorted(), "run \(run)")
      try again.close()
    }
  }
}
