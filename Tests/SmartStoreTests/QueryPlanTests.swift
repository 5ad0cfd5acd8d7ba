import Foundation
import JSON
import SmartStore
import Testing

@Suite struct QueryPlanTests {
  private let name = [IndexSpec(path: "name", type: .string)]

  @Test(arguments: Platform.allCases)
  func `a repeated query follows changes of its soup`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    let store = test.store
    try store.registerSoup("s", indexSpecs: name)
    try store.upsert([#"{"name":"Ada","size":3}"#, #"{"name":"Ben","size":12}"#], into: "s")
    let exact = QuerySpec(soupName: "s", .exact(path: "name", matchKey: "Ada"))
    let smart = QuerySpec(smartSQL: "select {s:size} from {s} order by {s:size}")
    func ask() throws -> [Int] {
      [try store.query(exact).count, try store.count(exact), try store.query(smart).count]
    }
    #expect(try ask() == [1, 1, 2])
    // Another index in place of the old one, then another type.
    try store.alterSoup(
      "s", indexSpecs: [IndexSpec(path: "size", type: .string)] + name, reIndexData: true)
    #expect(try ask() == [1, 1, 2])
    #expect(try store.query(smart) == [#"["12"]"#, #"["3"]"#])
    try store.alterSoup(
      "s", indexSpecs: [IndexSpec(path: "size", type: .integer)] + name, reIndexData: true)
    #expect(try store.query(smart) == ["[3]", "[12]"])
    // Another table with the same name.
    try store.removeSoup("s")
    #expect(throws: StoreError.self) { try store.query(exact) }
    try store.registerSoup("other", indexSpecs: name)
    try store.registerSoup("s", indexSpecs: name)
    #expect(try ask() == [0, 0, 0])
  }

  @Test func `a query from a failed change is prepared again`() throws {
    struct Undone: Error {}
    let test = try TestStore(.android)
    let store = test.store
    try store.registerSoup("s", indexSpecs: name)
    try store.upsert([#"{"name":"Ada"}"#], into: "s")
    let exact = QuerySpec(soupName: "s", .exact(path: "name", matchKey: "Ada"))
    #expect(throws: Undone.self) {
      try store.transaction {
        try store.alterSoup(
          "s", indexSpecs: [IndexSpec(path: "x", type: .json1)] + name, reIndexData: true)
        #expect(try store.query(exact).count == 1)
        throw Undone()
      }
    }
    #expect(try store.query(exact).count == 1)
    #expect(try store.count(exact) == 1)
  }

  @Test func `each query has its own values and page`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: name)
    try test.store.upsert((0..<30).map { "{\"name\":\"n\($0 % 10)\"}" }, into: "s")
    for key in 0..<10 {
      let exact = QuerySpec(
        soupName: "s", .exact(path: "name", matchKey: "n\(key)"), selectPaths: ["_soupEntryId"],
        pageSize: 2)
      #expect(try test.store.query(exact) == ["[\(key + 1)]", "[\(key + 11)]"])
      #expect(try test.store.query(exact, page: 1) == ["[\(key + 21)]"])
      #expect(try test.store.count(exact) == 3)
    }
    // A missing bound makes another query, not an ignored value.
    func range(_ begin: String?, _ end: String?) throws -> Int {
      try test.store.count(
        QuerySpec(soupName: "s", .range(path: "name", beginKey: begin, endKey: end)))
    }
    #expect(try range("n3", "n4") == 6)
    #expect(try range("n3", nil) == 21)
    #expect(try range(nil, "n3") == 12)
    #expect(try range(nil, nil) == 30)
    let nothing = QuerySpec(soupName: "s", .exact(path: "name", matchKey: nil))
    #expect(try test.store.query(nothing) == [])
  }

  @Test func `the numbers of question marks and values must match`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: name)
    let text = "select {s:name} from {s} where {s:name} in (?, ?)"
    for arguments in [[], ["a"], ["a", "b", "c"]] {
      let error = #expect(throws: StoreError.self) {
        try test.store.query(QuerySpec(smartSQL: text, arguments: arguments))
      }
      #expect(error?.description.contains("2 question marks") == true)
    }
    let numbered = "select {s:name} from {s} where {s:name} in (?2, ?1, ?2)"
    let spec = QuerySpec(smartSQL: numbered, arguments: ["a", "b"])
    #expect(try test.store.query(spec) == [])
    #expect(try test.store.count(spec) == 0)
    let far = QuerySpec(soupName: "s", .all, pageSize: .max)
    #expect(throws: StoreError.self) { try test.store.query(far, page: 2) }
  }

  @Test func `more queries than are cached are answered too`() throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: name)
    try test.store.upsert([#"{"name":"Ada"}"#], into: "s")
    for _ in 0..<2 {
      for number in 0..<150 {
        let spec = QuerySpec(smartSQL: "select \(number), {s:name} from {s}")
        #expect(try test.store.query(spec) == ["[\(number),\"Ada\"]"])
      }
    }
  }

  @Test(arguments: Platform.allCases)
  func `an element is returned as it was stored`(_ platform: Platform) throws {
    let test = try TestStore(platform)
    try test.store.registerSoup("s", indexSpecs: name)
    // As written by a debug build of an iOS app.
    let text = "{\n  \"name\" : \"\\/\\u00e4\",\n  \"n\" : 1.50e1\n}"
    try test.store.connection.execute(
      "INSERT INTO TABLE_1 (soup, TABLE_1_0) VALUES ('\(text)', 'x')")
    #expect(try test.store.query(QuerySpec(soupName: "s", .all)) == [text])
    let smart = QuerySpec(smartSQL: "select {s:_soup}, {s:_soup}, {s:_soup} as a from {s}")
    let row = try #require(try test.store.query(smart).first)
    let tree = try JSONValue(parsing: row)
    #expect(row.hasPrefix("[\(text),\(text),\"{\\n"))
    #expect(tree[0]?["n"] == .number("1.50e1") && tree[2]?.string == text)
  }

  @Test(arguments: [
    "'a\"b\\c' || char(10, 9, 8, 12, 13, 1, 31, 127)", "'ä' || char(128512) || '\"'", "''",
    "'12345678\"12345678\\'", "x'00'", "null", "9e999", "-0.0", "1e300", "9223372036854775807",
    "cast(x'61ff62' as text)", "cast(x'c3' as text)",
  ])
  func `every value of a row is JSON`(_ expression: String) throws {
    let test = try TestStore(.android)
    try test.store.registerSoup("s", indexSpecs: name)
    let spec = QuerySpec(smartSQL: "select \(expression) as v, 1")
    let row = try #require(try test.store.query(spec).first)
    let value: JSONValue =
      switch try test.rows("SELECT \(expression)")[0][0] {
      case .text(let text): .string(text)
      case .integer(let number): JSONValue(number)
      case .real(let number): JSONValue(number)
      case .null, .blob: .null
      }
    #expect(row == JSONValue.array([value, 1]).text)
    #expect(try JSONValue(parsing: row) == [value, 1])
  }

  @Test(arguments: ["{\"a\":", "{\"a\":1} x", "", "[1,]", "{\"a\":\"\u{1}\"}"])
  func `an invalid element is an error, not a row`(_ text: String) throws {
    let test = try TestStore(.ios)
    try test.store.registerSoup("s", indexSpecs: name)
    try test.store.connection.execute("INSERT INTO TABLE_1 (soup) VALUES ('\(text)')")
    let specs = [
      QuerySpec(soupName: "s", .all), QuerySpec(smartSQL: "select 1, {s:_soup} from {s}"),
    ]
    for spec in specs {
      #expect(
        throws: StoreError.damaged(
          path: test.store.path, reason: "an element found by the query is not valid JSON")
      ) { try test.store.query(spec) }
    }
    // The statement was reset: the store can be queried and written again.
    try test.store.clearSoup("s")
    #expect(try test.store.query(specs[0]) == [])
  }

  @Test func `a closed store keeps no file open`() throws {
    let test = try TestStore(.android)
    try test.store.registerSoup("s", indexSpecs: name)
    _ = try test.store.query(QuerySpec(soupName: "s", .all))
    try test.store.close()
    #expect(throws: StoreError.self) { try test.store.query(QuerySpec(soupName: "s", .all)) }
    let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap {
      try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")
    }
    #expect(!open.contains(test.store.path))
  }
}
