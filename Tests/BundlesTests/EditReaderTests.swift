import JSON
import Ledger
import Returns
import SQLite
import SmartStore
import TestSupport
import Testing

struct EditReaderTests {
  private static let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "__local__", type: .string),
  ]
  private static let key = StoreKey(scope: .user, storeName: "default")

  private static func store(
    _ platform: Platform, _ elements: [String], in directory: TemporaryDirectory
  ) throws -> String {
    let path = directory.file("store.db")
    let store = try Store(creating: path, platform: platform)
    try store.registerSoup("accounts", indexSpecs: specs)
    _ = try store.upsert(elements, into: "accounts")
    try store.close()
    return path
  }

  private static func read(_ path: String, _ witnesses: Set<RowKey> = []) throws -> StoreReading {
    try EditReader.read(
      store: Store(untrusted: path), key: key,
      soups: [SoupReading(soup: "accounts"), SoupReading(soup: "gone")], witnesses: witnesses,
      recordMiB: 1)
  }

  @Test(arguments: Platform.allCases)
  func `dirty rows are edits, clean rows are unchanged rows`(_ platform: Platform) throws {
    let directory = TemporaryDirectory("reader")
    let path = try Self.store(
      platform,
      [
        #"{"Id":"001000000000001","__local__":false,"attributes":{"type":"Account"}}"#,
        #"{"Id":"001000000000002AAA","__local__":true,"__locally_updated__":true,"LastModifiedDate":"d","attributes":{"type":"Account"}}"#,
        #"{"Id":"local_7","__local__":true,"__locally_created__":true,"attributes":{"type":"Account"}}"#,
        #"{"Id":"001000000000003AAA","__local__":true,"__locally_deleted__":true}"#,
        #"{"Id":"local_8","__local__":true,"__locally_created__":true,"__locally_deleted__":true}"#,
        #"{"Id":"001000000000004AAA"}"#,
      ], in: directory)
    let first = RowKey(store: Self.key, soup: "accounts", soupEntryID: 1)
    let reading = try Self.read(path, [first])
    #expect(reading.edits.map(\.operation) == [.update, .create, .delete, .dropped])
    #expect(reading.edits.map(\.row.soupEntryID) == [2, 3, 4, 5])
    #expect(
      reading.edits.map(\.serverID) == ["001000000000002AAA", nil, "001000000000003AAA", nil])
    #expect(reading.edits.map(\.localID) == [nil, "local_7", nil, "local_8"])
    #expect(reading.edits[0].modificationDate == "d")
    #expect(reading.edits[0].sobject == "Account")
    #expect(reading.edits.allSatisfy { $0.finding == nil })
    #expect(reading.witnesses.map(\.serverID) == ["001000000000001AAA"])
    #expect(reading.totals == [SoupKey(store: Self.key, soup: "accounts"): 6])
    #expect(reading.missing == ["gone"])
  }

  @Test func `an unpaired surrogate is read as U+FFFD, and reported if it was edited`() throws {
    let directory = TemporaryDirectory("reader")
    let path = try Self.store(
      .android,
      [
        #"{"Id":"001000000000001","__local__":false,"Name":"MARK"}"#,
        #"{"Id":"001000000000002AAA","__local__":true,"__locally_updated__":true,"Name":"MARK"}"#,
      ], in: directory)
    let connection = try Connection(path, mode: .readWrite)
    try connection.run(
      "UPDATE TABLE_1 SET soup = replace(soup, 'MARK', \(#"cut \ud83d and \ud83d\ude00"#))")
    connection.close()
    let reading = try Self.read(path)
    #expect(reading.edits.map(\.finding) == [nil])
    #expect(reading.edits.map(\.serverID) == ["001000000000002AAA"])
    let element = try JSONValue(parsing: try #require(reading.edits.first).element)
    #expect(element["Name"] == "cut \u{FFFD} and \u{1F600}")
    #expect(
      reading.warnings == [
        "in 1 of the edited elements an unpaired surrogate was replaced by U+FFFD"
      ]
    )
  }

  @Test func `clean rows count as unchanged only if the device wrote them later`() throws {
    let directory = TemporaryDirectory("reader")
    let path = directory.file("store.db")
    let store = try Store(creating: path, platform: .ios)
    try store.registerSoup("accounts", indexSpecs: Self.specs)
    for (number, time) in [Int64(1000), 1001, 999].enumerated() {
      store.clock = { time }
      try store.upsert(
        ["{\"Id\":\"00100000000000\(number)\",\"__local__\":false}"], into: "accounts")
    }
    try store.close()
    func witnesses(issued: Int64?, asked: Set<RowKey> = []) throws -> [Int64] {
      try EditReader.read(
        store: Store(untrusted: path), key: Self.key, soups: [SoupReading(soup: "accounts")],
        witnesses: asked, issued: issued.map { IssuedDates(made: $0) }
      ).witnesses.map(\.row.soupEntryID)
    }
    #expect(try witnesses(issued: 1000) == [2])
    #expect(try witnesses(issued: 998) == [1, 2, 3])
    #expect(try witnesses(issued: nil) == [])
    let third = RowKey(store: Self.key, soup: "accounts", soupEntryID: 3)
    #expect(try witnesses(issued: 1000, asked: [third]) == [2, 3])
  }

  @Test(arguments: [true, false])
  func `a clean row of a device with a slow clock counts as unchanged`(_ isIndexed: Bool) throws {
    let directory = TemporaryDirectory("reader")
    let path = directory.file("store.db")
    let store = try Store(creating: path, platform: .ios)
    try store.registerSoup("accounts", indexSpecs: isIndexed ? Self.specs : [Self.specs[0]])
    // Two primes, and rows that the device wrote with a clock behind both: old rows and a new one.
    let times: [Int64] = [1000, 1000, 2000, 2000, 500, 501, 1500, 1500]
    for (number, time) in times.enumerated() {
      store.clock = { time }
      try store.upsert(
        ["{\"Id\":\"00100000000000\(number)\",\"__local__\":false}"], into: "accounts")
    }
    try store.close()
    let issued: [Int64?] = [1000, 1000, 2000, 2000, 1000, 2000, nil, 1000]
    var asked = 0
    let dates = IssuedDates(made: 2000) { soup, id in
      asked += 1
      #expect(soup == "accounts")
      return Int(id.prefix(15).suffix(1)).flatMap { issued[$0] }
    }
    let found = try EditReader.read(
      store: Store(untrusted: path), key: Self.key, soups: [SoupReading(soup: "accounts")],
      issued: dates)
    #expect(found.witnesses.map(\.row.soupEntryID) == [5, 6, 7, 8])
    // One row of each prime is looked up, and those that the device wrote.
    #expect(asked == 6)
  }

  /// A row dated by a prime is skipped only if an index on `__local__` shows the dirty rows.
  @Test(arguments: Platform.allCases, [true, false])
  func
    `of rows with the date of a prime the dirty ones are edits, and those that are asked for witnesses`(
      _ platform: Platform, _ isIndexed: Bool
    ) throws
  {
    let directory = TemporaryDirectory("reader")
    let path = directory.file("store.db")
    let store = try Store(creating: path, platform: platform)
    store.clock = { 1000 }
    try store.registerSoup("accounts", indexSpecs: isIndexed ? Self.specs : [Self.specs[0]])
    for number in 0..<4 {
      try store.upsert(
        ["{\"Id\":\"00100000000000\(number)\",\"__local__\":\(number == 3)}"], into: "accounts")
    }
    try store.close()
    let asked = RowKey(store: Self.key, soup: "accounts", soupEntryID: 2)
    let reading = try EditReader.read(
      store: Store(untrusted: path), key: Self.key, soups: [SoupReading(soup: "accounts")],
      witnesses: [asked], issued: IssuedDates(made: 1000) { _, _ in 1000 })
    #expect(reading.edits.map(\.row.soupEntryID) == [4])
    #expect(reading.witnesses.map(\.row) == [asked])
    #expect(reading.totals.values.map(\.self) == [4])
  }

  @Test(arguments: Platform.allCases)
  func `rows requested later are the same as rows requested at once`(_ platform: Platform) throws {
    let directory = TemporaryDirectory("reader")
    let flags = [
      #""__local__":false"#, #""__local__":true,"__locally_updated__":true"#, #""x":1"#,
      #""__local__":"true""#,
    ]
    let path = try Self.store(
      platform,
      (0..<40).map { "{\"Id\":\"0010000000000\($0 + 10)AAA\",\(flags[$0 % flags.count])}" },
      in: directory)
    let raw = try Connection(path)
    try raw.execute("UPDATE TABLE_1 SET soup = 'not json' WHERE id = 9")
    raw.close()
    let soups = [SoupReading(soup: "accounts"), SoupReading(soup: "gone")]
    for count in [0, 1, 5, 40] {
      let places = (1...45).shuffled().prefix(count).flatMap { number in
        [("accounts", Self.key), ("gone", Self.key), ("accounts", StoreKey(text: "user/other"))].map
        { RowKey(store: $0.1, soup: $0.0, soupEntryID: Int64(number)) }
      }
      func later(_ issued: Int64?) throws -> (at: [CleanRow], later: [CleanRow]) {
        let before = try EditReader.read(
          store: Store(untrusted: path), key: Self.key, soups: soups,
          issued: issued.map { IssuedDates(made: $0) })
        let at = try EditReader.read(
          store: Store(untrusted: path), key: Self.key, soups: soups, witnesses: Set(places),
          issued: issued.map { IssuedDates(made: $0) })
        return (
          at.witnesses,
          try EditReader.witnesses(
            store: Store(untrusted: path), key: Self.key, soups: soups, rows: places,
            besides: before)
        )
      }
      for issued in [nil, 0, Int64.max] {
        let (at, later) = try later(issued)
        #expect(at == later, "\(count) rows, issued \(issued ?? -1)")
      }
    }
  }

  @Test func `unreadable rows are findings, and the others are read`() throws {
    let directory = TemporaryDirectory("reader")
    let dirty = #""__local__":true,"__locally_updated__":true"#
    let path = try Self.store(
      .ios,
      [
        "{\"Id\":\"001000000000001AAA\",\(dirty)}", "{\"Id\":\"001000000000001AAA\",\(dirty)}",
        "{\"Id\":\"nonsense\",\(dirty)}", "{\"Id\":7,\(dirty)}", "{\(dirty)}",
        "{\"Id\":\"001000000000002AAA\",\(dirty)}", "{\"Id\":\"001000000000005AAA\",\(dirty)}",
        "{\"Id\":\"001000000000006AAA\",\(dirty)}",
      ], in: directory)
    let raw = try Connection(path)
    try raw.execute("UPDATE TABLE_1 SET soup = 'not json' WHERE id = 6")
    try raw.execute("UPDATE TABLE_1 SET soup = x'00ff' WHERE id = 7")
    raw.close()
    let reading = try Self.read(path)
    #expect(
      reading.edits.map(\.finding) == [
        "several changed rows of the soup have the same Id",
        "several changed rows of the soup have the same Id", "Id of the element is not a record Id",
        "Id of the element is not text", "the element has no Id",
        "the element is not a JSON object", "the element is not a JSON object", nil,
      ])
  }

  @Test func `the element counts if its index is there, the index if the element is not`() throws {
    let directory = TemporaryDirectory("reader")
    let path = try Self.store(
      .android,
      [
        #"{"Id":"001000000000001AAA","__local__":true}"#,
        #"{"Id":"001000000000002AAA","__local__":false}"#,
      ], in: directory)
    let raw = try Connection(path)
    try raw.execute("UPDATE TABLE_1 SET TABLE_1_1 = 'false' WHERE id = 1")
    try raw.execute("UPDATE TABLE_1 SET TABLE_1_1 = 'true' WHERE id = 2")
    raw.close()
    #expect(try Self.read(path).edits.map(\.row.soupEntryID) == [1, 2])
  }

  @Test func `an element beyond the size limit is a finding without its bytes`() throws {
    let directory = TemporaryDirectory("reader")
    let long = String(repeating: "x", count: 2 << 20)
    let path = try Self.store(
      .ios, [#"{"Id":"001000000000001AAA","__local__":true,"Name":"\#(long)"}"#], in: directory)
    let edit = try #require(try Self.read(path).edits.first)
    #expect(edit.finding == "the element is longer than 1 MiB")
    #expect(edit.element.isEmpty)
  }
}
