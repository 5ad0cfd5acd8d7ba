import SmartStore
import System
import Testing

@Suite struct BackgroundWriteTests {
  let specs = [
    IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .fullText),
    IndexSpec(path: "Size", type: .integer), IndexSpec(path: "__local__", type: .string),
  ]

  /// Pages of records of many sizes; some IDs occur twice.
  private func pages(_ count: Int, of records: Int, _ prefix: String = "a") -> [[UInt8]] {
    var random = SplitMix(state: 7)
    return (0..<count).map { page in
      let records = (0..<records).map { record in
        let number = page * records + record
        let id = number % 97 == 96 ? number - 40 : number
        let text = String(repeating: "word\(number % 11) ", count: Int(random.next() % 60))
        return #"{"Id":"\#(prefix)\#(id)","Name":"\#(text)","Size":\#(random.next() % 1000),"#
          + #""LastModifiedDate":"2024-01-0\#(1 + random.next() % 9)T00:00:00.000+0000"}"#
      }
      return Array("[\(records.joined(separator: ","))]".utf8)
    }
  }

  private func loader(
    _ tests: [TestStore], soup: String = "s", _ durability: BulkLoader.Durability = .disposable
  ) throws -> BulkLoader {
    var options = BulkLoader.Options(soup: soup, specs: specs, syncID: 7, now: tests[0].now)
    options.durability = durability
    options.method = .statements
    return try BulkLoader(.cold, destinations: tests.map { .init($0.store) }, options: options)
  }

  private func files(_ tests: [TestStore]) throws -> [[UInt8]] {
    try tests.map { test in
      try test.store.close()
      return try Files.read(test.store.path)
    }
  }

  /// Loads a page as part of changes that the caller holds open: it is written before the call
  /// returns.
  private func loadSerially(_ page: [UInt8], _ loader: BulkLoader, _ tests: [TestStore]) throws {
    guard let test = tests.first else {
      _ = try loader.load(page, in: .array)
      return
    }
    try test.store.transaction { try loadSerially(page, loader, Array(tests.dropFirst())) }
  }

  @Test func `the stores equal those of a load that waits for each page, byte for byte`() throws {
    let background = try Platform.allCases.map { try TestStore($0) }
    let serial = try Platform.allCases.map { try TestStore($0) }
    let fast = try loader(background)
    let slow = try loader(serial)
    var dates: [String] = []
    for page in pages(40, of: 70) {
      let result = try fast.load(page, in: .array)
      #expect(result.records == 70)
      if let date = result.latestModification { dates.append(date) }
      try loadSerially(page, slow, serial)
    }
    let summary = try fast.finish()
    #expect(try slow.finish() == summary)
    #expect(summary.records == 2800)
    #expect(summary.destinations.map(\.inserted) == [2800, 2800])
    #expect(summary.destinations.allSatisfy { $0.doubles == 28 })
    #expect(summary.latestModification == dates.max())
    #expect(try background[0].store.count(of: "s") == 2772)
    #expect(try files(background) == files(serial))
  }

  @Test func `two loads into one store take turns, page by page`() throws {
    let background = try Platform.allCases.map { try TestStore($0) }
    let serial = try Platform.allCases.map { try TestStore($0) }
    for tests in [background, serial] {
      let parents = try loader(tests, soup: "parents")
      let children = try loader(tests, soup: "children")
      for (parent, child) in zip(pages(20, of: 30), pages(20, of: 90, "b")) {
        if tests[0] === background[0] {
          _ = try parents.load(parent, in: .array)
          _ = try children.load(child, in: .array)
        } else {
          try loadSerially(parent, parents, tests)
          try loadSerially(child, children, tests)
        }
      }
      #expect(try parents.finish().destinations.map(\.inserted) == [600, 600])
      #expect(try children.finish().destinations.map(\.inserted) == [1800, 1800])
    }
    #expect(try files(background) == files(serial))
  }

  @Test func `a store that starts at another ID has its own elements`() throws {
    let tests = [try TestStore(.ios), try TestStore(.android)]
    try tests[1].store.registerSoup("s", indexSpecs: specs)
    try tests[1].store.upsert([#"{"Id":"gone"}"#, #"{"Id":"gone too"}"#], into: "s")
    try tests[1].store.remove([1, 2], from: "s")
    let loader = try loader(tests)
    for page in pages(5, of: 40) { _ = try loader.load(page, in: .array) }
    _ = try loader.finish()
    for (test, first) in zip(tests, [Int64(1), 3]) {
      let rows = try test.rows(
        "SELECT min(id), count(*), sum(json_extract(soup, '$._soupEntryId') = id) FROM TABLE_1")
      #expect(rows == [[.integer(first), 198, 198]])
    }
  }

  @Test func `every user of a store waits for the page that is being written`() throws {
    let tests = try Platform.allCases.map { try TestStore($0) }
    let loader = try loader(tests)
    for (number, page) in pages(10, of: 500).enumerated() {
      _ = try loader.load(page, in: .array)
      #expect(try tests[number % 2].store.count(of: "s") == 500 * (number + 1))
    }
  }

  @Test(arguments: [0, 1])
  func `a page that a store cannot write fails the next one and all after it`(_ full: Int) throws {
    let tests = try Platform.allCases.map { try TestStore($0) }
    let loader = try loader(tests)
    let pages = pages(30, of: 100)
    var loaded = 0
    func load() throws {
      for page in pages[loaded...] {
        if loaded == 10 {
          // As on a full disk: SQLite cannot add a page to the file.
          let count = try tests[full].store.connection.integer("PRAGMA page_count") ?? 0
          try tests[full].store.connection.execute("PRAGMA max_page_count = \(count)")
        }
        _ = try loader.load(page, in: .array)
        loaded += 1
      }
    }
    let error = try #require(throws: StoreError.self) { try load() }
    #expect(loaded == 11)
    guard case .database(let path, _, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path == tests[full].store.path)
    #expect(error.description.contains("full"))
    #expect(throws: error) { try loader.load(pages[20], in: .array) }
    #expect(throws: error) { try loader.finish() }
  }

  @Test func `a failure of the last page is thrown at the end`() throws {
    let test = try TestStore(.android)
    let loader = try loader([test])
    let pages = pages(2, of: 300)
    _ = try loader.load(pages[0], in: .array)
    let count = try test.store.connection.integer("PRAGMA page_count") ?? 0
    try test.store.connection.execute("PRAGMA max_page_count = \(count)")
    _ = try loader.load(pages[1], in: .array)
    #expect(throws: StoreError.self) { try loader.finish() }
  }

  @Test func `an invalid page is reported at once, while the previous one is written`() throws {
    let tests = try Platform.allCases.map { try TestStore($0) }
    for bad in [#"[{"Id":"a1"},{"Name":"no id"}]"#, #"[{"Id":"a1""#] {
      let soup = "s\(bad.count)"
      let loader = try loader(tests, soup: soup)
      _ = try loader.load(pages(1, of: 2000)[0], in: .array)
      let error = #expect(throws: StoreError.self) { try loader.load(Array(bad.utf8), in: .array) }
      #expect(error?.description.contains("\"\(soup)\"") == true)
    }
    // The loads are released in the middle.
    for test in tests { try test.store.close() }
  }

  @Test func `a load whose owner is released waits for its page`() throws {
    for _ in 0..<20 {
      let test = try TestStore(.ios)
      _ = try loader([test]).load(pages(1, of: 1000)[0], in: .array)
    }
  }

  @Test func `pages of a durable load are written before the call returns`() throws {
    let test = try TestStore(.ios)
    let loader = try loader([test], .durable)
    for (number, page) in pages(3, of: 10).enumerated() {
      _ = try loader.load(page, in: .array)
      let other = try Store(opening: test.store.path, readOnly: true)
      #expect(try other.count(of: "s") == 10 * (number + 1))
      try other.close()
    }
  }
}
