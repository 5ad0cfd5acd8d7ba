import Foundation
import Glibc
import JSON
import SQLite
import SmartStore
import System
import TestSupport
import Testing

@Suite struct PageInsertWriterTests {
  /// A soup and its pages, generated from a seed.
  struct Day {
    var random: SplitMix
    var specs: [IndexSpec] = [IndexSpec(path: "Id", type: .string)]
    private let paths = ["A", "B", "C.D", "E", "__local__", "__sync_id__", "_soupEntryId", "F"]
    init(_ seed: UInt64) {
      random = SplitMix(state: seed)
      for path in paths where pick(3) > 0 {
        let types: [IndexType] = [.string, .integer, .floating, .fullText, .json1]
        // The reserved members have types that the SDK accepts.
        specs.append(IndexSpec(path: path, type: types[pick(path.hasPrefix("_") ? 2 : 5)]))
      }
      specs.swapAt(0, pick(specs.count))
    }

    mutating func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }

    mutating func value() -> String {
      switch pick(16) {
      case 0: return "null"
      case 1: return "true"
      case 2: return "false"
      case 3: return "\(pick(5))"
      case 4: return "-\((random.next() >> UInt64(pick(64))) >> 1)"
      case 5: return "\(random.next() >> UInt64(pick(64)))"
      case 6: return "\(Double(pick(100_000)) / 8 - 3000)"
      case 7: return "\(pick(300)).\(pick(2) * 5)e\(pick(40) - 20)"
      case 8: return #""\#(pick(400))""#
      case 9: return #"" \#(pick(40)).50 ""#
      case 10: return #""esc\"aped \u00e9 \ud83d\ude00\n\#(pick(9))""#
      case 11: return #"["x",{"y":\#(pick(3))}]"#
      case 12: return #""\#(String(repeating: "long \(pick(3)) ", count: pick(900)))""#
      default: return #""word\#(pick(60)) äöü""#
      }
    }

    mutating func page(_ records: Int, from first: Int) -> [UInt8] {
      let scale = [1, 1, 10, 400][pick(4)]
      let texts = (first..<(first + records)).map { number in
        // Some IDs occur twice, and not in order.
        let id = pick(40) == 0 && number > 0 ? number / 2 : number &* 7919 % 1_000_003
        var text =
          #"{"Id":"a0\#(id)","LastModifiedDate":"2024-01-0\#(1 + pick(9))T00:00:00.000+0000""#
        for path in ["A", "B", "E", "F"] where pick(8) > 0 { text += ",\"\(path)\":\(value())" }
        if pick(3) > 0 { text += ",\"C\":{\"D\":\(value())}" }
        if pick(5) == 0 {
          text += #","G":"\#(String(repeating: "body ", count: pick(60) * scale))""#
        }
        return text + "}"
      }
      return Array("[\(texts.joined(separator: ","))]".utf8)
    }
  }

  private func load(
    _ pages: [[UInt8]], into tests: [TestStore], _ specs: [IndexSpec],
    _ method: BulkLoader.Method, keyRoom: Int = KeyRuns.room
  ) throws -> BulkLoader.LoadSummary {
    var options = BulkLoader.Options(soup: "s", specs: specs, syncID: 7, now: tests[0].now)
    options.method = method
    options.keyRoom = keyRoom
    let loader = try BulkLoader(
      .cold, destinations: tests.map { .init($0.store) }, options: options)
    for page in pages { _ = try loader.load(page, in: .array) }
    return try loader.finish()
  }

  /// The whole content of a store's soups and meta tables; each column with its type.
  private func content(_ test: TestStore) throws -> [String: [[SQLiteValue]]] {
    var found: [String: [[SQLiteValue]]] = [:]
    for name in try test.store.connection.texts(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%\\_fts\\_%' ESCAPE '\\'"
    ) {
      let columns = try test.rows("SELECT name FROM pragma_table_info('\(name)')")
        .compactMap { $0[0].text }
      let typed = columns.map { "\"\($0)\", typeof(\"\($0)\")" }.joined(separator: ", ")
      let order = name == "sqlite_sequence" ? "name" : "rowid"
      found[name] = try test.rows("SELECT \(typed) FROM \"\(name)\" ORDER BY \(order)")
    }
    found["schema"] = try test.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
    found["check"] = try test.rows("PRAGMA integrity_check")
    return found
  }

  private func expectEqual(_ laid: [TestStore], _ written: [TestStore], _ comment: Comment) throws {
    for (one, other) in zip(laid, written) {
      let (one, other) = (try content(one), try content(other))
      #expect(one["check"] == [["ok"]], comment)
      for name in Set(one.keys).union(other.keys) {
        #expect(one[name] == other[name], "\(comment): \(name)")
      }
    }
  }

  private func use(_ test: TestStore, _ seed: UInt64) throws {
    var day = Day(seed)
    let ids = try test.rows("SELECT id FROM TABLE_1 ORDER BY id").compactMap { $0[0].integer }
    for id in ids where day.pick(3) == 0 {
      let element = try JSONValue(parsing: try test.store.retrieve([id], from: "s")[0])
      var object = try #require(element.object)
      object["A"] = try JSONValue(parsing: day.value())
      try test.store.upsert([JSONValue.object(object).text], into: "s")
    }
    try test.store.remove(ids.filter { $0 % 4 == 1 }, from: "s")
    try test.store.upsert((0..<50).map { #"{"Id":"new\#($0)","A":\#(day.value())}"# }, into: "s")
  }

  static let seeds = 1...CampaignSize.pageDays.count

  @Test(arguments: seeds)
  func `a store of pages equals SQLite's row by row, and can be changed`(_ seed: Int) throws {
    var day = Day(UInt64(seed))
    let sizes = [[], [0], [1], [30, 0, 1], [200, 200, 77], [900, 13], [2000]][day.pick(7)]
    var first = 0
    var pages: [[UInt8]] = []
    for size in sizes {
      pages.append(day.page(size, from: first))
      first += size
    }
    let laid = try Platform.allCases.map { try TestStore($0) }
    let written = try Platform.allCases.map { try TestStore($0) }
    let room = [KeyRuns.room, 20_000, 500][day.pick(3)]
    let summary = try load(pages, into: laid, day.specs, .pages, keyRoom: room)
    #expect(try load(pages, into: written, day.specs, .statements) == summary)
    try expectEqual(laid, written, "seed \(seed)")
    for test in laid + written { try use(test, UInt64(seed)) }
    try expectEqual(laid, written, "seed \(seed), used")
  }

  @Test(arguments: Platform.allCases)
  func `loads of two soups take turns in one file, and with SQLite`(_ platform: Platform) throws {
    let tests = [try TestStore(platform), try TestStore(platform)]
    for (test, method) in zip(tests, [BulkLoader.Method.pages, .statements]) {
      var day = Day(5)
      let specs = day.specs
      func loader(_ soup: String) throws -> BulkLoader {
        var options = BulkLoader.Options(soup: soup, specs: specs, syncID: 7, now: test.now)
        options.method = method
        return try BulkLoader(.cold, destinations: [.init(test.store)], options: options)
      }
      let parents = try loader("parents")
      let children = try loader("children")
      for turn in 0..<6 {
        _ = try parents.load(day.page(60, from: turn * 60), in: .array)
        try test.store.registerSoup("soup\(turn)", indexSpecs: specs)
        _ = try children.load(day.page(150, from: turn * 150), in: .array)
        try test.store.upsert([#"{"Id":"x","A":"\#(turn)"}"#], into: "soup\(turn)")
      }
      _ = try parents.finish()
      try test.store.upsert([#"{"Id":"y"}"#], into: "soup1")
      _ = try children.finish()
    }
    try expectEqual([tests[0]], [tests[1]], "\(platform)")
  }

  @Test(arguments: 1...60)
  func `trees of every height and fill level are complete`(_ count: Int) throws {
    // Keys of about a quarter of a page make trees high; each count ends a leaf or a branch at
    // another point.
    let test = try TestStore(.ios)
    let records = (0..<(count * 7)).map { number in
      #"{"Id":"\#(String(repeating: "k", count: 850 + number % 300))\#(number * 37 % 1009)"}"#
    }
    let specs = [IndexSpec(path: "Id", type: .string)]
    _ = try load([Array("[\(records.joined(separator: ","))]".utf8)], into: [test], specs, .pages)
    #expect(try test.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(try test.store.count(of: "s") == count * 7)
  }

  @Test(arguments: [1, 127, 128, 4_000, 4_600, 9_000, 37_500], Platform.allCases)
  func `an index with a single value is complete for any number of rows`(
    _ count: Int, _ platform: Platform
  ) throws {
    let test = try TestStore(platform)
    let specs = ["Id", "__local__", "__sync_id__", "_soupLastModifiedDate"].map {
      IndexSpec(path: $0, type: $0 == "__sync_id__" ? .integer : .string)
    }
    let pages = stride(from: 0, to: count, by: 4_000).map { first in
      let ids = (first..<min(count, first + 4_000)).map { #"{"Id":"\#($0)"}"# }
      return Array("[\(ids.joined(separator: ","))]".utf8)
    }
    _ = try load(pages, into: [test], specs, .pages)
    #expect(try test.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(try test.store.count(of: "s") == count)
    try test.store.remove([Int64(count)], from: "s")
    try test.store.upsert([#"{"Id":"new"}"#, #"{"Id":"newer"}"#], into: "s")
    #expect(try test.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test func `stores with other IDs or values have their own indexes`() throws {
    func stores() throws -> [TestStore] {
      let tests = [try TestStore(.ios), try TestStore(.android), try TestStore(.android)]
      let specs = Day(3).specs
      for test in tests { try test.store.registerSoup("s", indexSpecs: specs) }
      try move(tests[2])
      return tests
    }
    func move(_ last: TestStore) throws {
      #expect(try last.store.upsert((0..<9).map { #"{"Id":"gone\#($0)"}"# }, into: "s").count == 9)
      try last.store.remove(
        try last.rows("SELECT id FROM TABLE_1").compactMap { $0[0].integer }, from: "s")
    }
    var day = Day(3)
    var pages = [day.page(700, from: 0), day.page(300, from: 700)]
    let flags = (0..<500).map { #"{"Id":"\#($0 % 400)","A":\#($0 % 3 == 0),"B":\#($0 % 7)}"# }
    pages.append(Array("[\(flags.joined(separator: ","))]".utf8))
    for room in [KeyRuns.room, 3_000] {
      let (laid, written) = (try stores(), try stores())
      let summary = try load(pages, into: laid, day.specs, .pages, keyRoom: room)
      #expect(try load(pages, into: written, day.specs, .statements) == summary)
      try expectEqual(laid, written, "\(room)")
    }
  }

  @Test(arguments: 1...20)
  func `keys are sorted by their bytes, and equal ones keep their order`(_ seed: UInt64) throws {
    var day = Day(seed)
    var keys: [[UInt8]] = []
    for _ in 0..<[2, 40, 900, 3000][day.pick(4)] {
      let head = [UInt8](repeating: 7, count: [0, 5, 8, 23][day.pick(4)])
      // Trailing zeros count, although a key that has ended is padded with zeros.
      let zeros = [UInt8](repeating: 0, count: day.pick(4) == 0 ? day.pick(20) : 0)
      keys.append([1] + head + (0..<day.pick(12)).map { _ in UInt8(day.pick(3) * 100) } + zeros)
    }
    var arena: [UInt8] = []
    var entries: [KeySort.Entry] = []
    for (id, key) in keys.enumerated() {
      entries.append(KeySort.Entry(prefix: 0, start: UInt32(arena.count)))
      withUnsafeBytes(of: UInt32(key.count)) { arena += Array($0) }
      withUnsafeBytes(of: Int64(id)) { arena += Array($0) }
      arena += key
    }
    arena += [UInt8](repeating: 9, count: 8)
    let sorted = arena.withUnsafeBytes { arena -> [Int] in
      guard let base = arena.baseAddress else { return [] }
      entries.withUnsafeMutableBufferPointer { KeySort.sort($0, base) }
      return entries.map { Int(KeyRecord.id(base + Int($0.start))) }
    }
    let expected = keys.indices.sorted {
      keys[$0] == keys[$1] ? $0 < $1 : keys[$0].lexicographicallyPrecedes(keys[$1])
    }
    #expect(sorted == expected)
  }

  @Test func `integers of variable length match SQLite's`() throws {
    // SQLite writes a row's ID as a varint; in a table with one row, it follows the length of the
    // record.
    let ids: [Int64] = [
      0, 127, 128, 16_383, 16_384, 1 << 21 - 1, 1 << 28, 1 << 42, 1 << 56, .max, -1,
    ]
    for id in ids {
      let test = try TestStore(.ios)
      try test.store.connection.execute("CREATE TABLE one (id INTEGER PRIMARY KEY)")
      try test.store.connection.run("INSERT INTO one VALUES (\(id))")
      let root =
        try test.store.connection.integer(
          "SELECT rootpage FROM sqlite_schema WHERE name = 'one'") ?? 0
      let file = try FileDescriptorHandle.updating(test.store.path)
      var page = [UInt8](repeating: 0, count: PageFile.size)
      _ = try page.withUnsafeMutableBytes {
        try file.read(into: $0, at: (Int(root) - 1) * PageFile.size)
      }
      let place = Int(page[8]) << 8 | Int(page[9])
      var bytes = [UInt8](repeating: 0, count: 9)
      let size = bytes.withUnsafeMutableBytes { buffer in
        buffer.baseAddress.map { Varint.write(UInt64(bitPattern: id), to: $0) } ?? 0
      }
      #expect(size == Varint.size(UInt64(bitPattern: id)))
      #expect(Array(page[(place + 1)...].prefix(size)) == Array(bytes.prefix(size)), "\(id)")
    }
  }

  @Test func `of two records with one very long ID one is kept`() throws {
    let test = try TestStore(.ios)
    let specs = [IndexSpec(path: "Id", type: .string)]
    try test.store.registerSoup("s", indexSpecs: specs)
    // No chunk of sorted keys can hold both.
    let id = String(repeating: "k", count: 300_000)
    let page = Array(#"[{"Id":"\#(id)","A":"1"},{"Id":"\#(id)","A":"2"}]"#.utf8)
    _ = try load([page], into: [test], specs, .pages)
    #expect(try test.rows("SELECT json_extract(soup, '$.A') FROM TABLE_1") == [["2"]])
  }

  /// For any type of page at that position: a leaf, an overflow page, a page of an index.
  @Test(arguments: [2, 6, 12, 20])
  func `the page of SQLite's lock byte stays empty`(_ distance: Int) throws {
    let test = try TestStore(.android)
    let specs = [IndexSpec(path: "Id", type: .string), IndexSpec(path: "A", type: .string)]
    try test.store.registerSoup("s", indexSpecs: specs)
    // A sparse file that ends a few pages before it.
    let before = UInt32(SQLCipherPages.lockPage - distance)
    let file = try FileDescriptorHandle.updating(test.store.path)
    try withUnsafeBytes(of: before.bigEndian) { try file.write($0, at: 28) }
    try withUnsafeBytes(of: UInt8(0)) { try file.write($0, at: Int(before) * PageFile.size - 1) }
    var records: [String] = []
    for number in 0..<300 {
      let text = String(repeating: "text \(number) ", count: number % 7 == 0 ? 1500 : 20)
      records.append(#"{"Id":"\#(number)","A":"\#(text)"}"#)
    }
    _ = try load([Array("[\(records.joined(separator: ","))]".utf8)], into: [test], specs, .pages)
    #expect(try test.store.connection.integer("PRAGMA page_count") ?? 0 > Int64(before) + 100)
    var page = [UInt8](repeating: 1, count: PageFile.size)
    let place = (SQLCipherPages.lockPage - 1) * PageFile.size
    _ = try page.withUnsafeMutableBytes { try file.read(into: $0, at: place) }
    #expect(page.allSatisfy { $0 == 0 })
    #expect(
      try test.rows("SELECT id FROM TABLE_1 WHERE TABLE_1_1 = json_extract(soup, '$.A')").count
        == 300)
    #expect(
      try test.rows("SELECT count(*) FROM TABLE_1 INDEXED BY TABLE_1_0_idx WHERE TABLE_1_0 > ''")
        == [[300]])
    // The skipped pages belong to nothing; everything else must be valid.
    let findings = try test.rows("PRAGMA integrity_check(1000)").compactMap { $0[0].text }
    #expect(findings.allSatisfy { $0.contains("never used") })
  }

  @Test(arguments: [(ENOSPC, 13), (EDQUOT, 13), (EIO, 10)] as [(Int32, Int32)])
  func `a full disk is reported as SQLite would`(_ code: Int32, _ told: Int32) {
    let error = #expect(throws: StoreError.self) {
      try PageFile.mapping("/a/store") { () throws(SystemError) in
        throw SystemError(operation: "write", path: "/a/store", errno: code)
      }
    }
    guard case .database("/a/store", told, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // The same for other work of the store that meets the disk.
    let other = #expect(throws: StoreError.self) {
      try StoreError.mapping {
        throw SystemError(operation: "write", path: "/a/store", errno: code)
      }
    }
    #expect(other == error)
  }

  @Test func `an index with a known name but another column is left to SQLite`() throws {
    let test = try TestStore(.ios)
    let specs = [IndexSpec(path: "Id", type: .string), IndexSpec(path: "A", type: .string)]
    try test.store.registerSoup("s", indexSpecs: specs)
    try test.store.connection.execute(
      "DROP INDEX TABLE_1_1_idx; CREATE INDEX TABLE_1_1_idx ON TABLE_1 (TABLE_1_0)")
    let page = Array(#"[{"Id":"1","A":"z"},{"Id":"2","A":"b"}]"#.utf8)
    _ = try load([page], into: [test], specs, .pages)
    #expect(try test.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test func `a root that is not empty is not overwritten`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    let file = try #require(try PageFile(test.store.path))
    let leaf = TreePage(.tableLeaf)
    defer { leaf.free() }
    let root = UInt32(
      try test.store.connection.integer(
        "SELECT rootpage FROM sqlite_schema WHERE name = 'soup_attrs'") ?? 0)
    #expect(throws: StoreError.self) { try file.overwrite(root, leaf.finished()) }
  }

  @Test func `a file with another layout is written by SQLite`() throws {
    let test = try TestStore(.ios)
    var day = Day(9)
    try test.store.registerSoup("s", indexSpecs: day.specs)
    // An object on the soup's table that attache does not create.
    try test.store.connection.execute("CREATE INDEX other ON TABLE_1 (soup)")
    _ = try load([day.page(500, from: 0)], into: [test], day.specs, .pages)
    #expect(try test.rows("PRAGMA integrity_check") == [["ok"]])
    #expect(try test.store.count(of: "s") > 400)
  }
}
