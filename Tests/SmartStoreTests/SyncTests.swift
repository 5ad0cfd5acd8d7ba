import SmartStore
import Testing

@Suite struct SyncTests {
  func make(_ platform: Platform, local: IndexType?) throws -> TestStore {
    let test = try TestStore(platform)
    var specs = [
      IndexSpec(path: "Id", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
    ]
    if let local { specs.append(IndexSpec(path: "__local__", type: local)) }
    try test.store.registerSoup("s", indexSpecs: specs)
    try test.store.upsert(
      [
        #"{"Id":"a","M":"2024-01-02","__local__":true,"__sync_id__":1}"#,
        #"{"Id":"b","M":"2024-01-03","__local__":false,"__sync_id__":1}"#,
        #"{"Id":"c","M":"x\ny","__local__":false,"__sync_id__":2}"#, #"{"Id":"d"}"#,
      ], into: "s")
    return test
  }

  @Test(arguments: Platform.allCases, [IndexType.string, .json1, nil])
  func `dirty and clean elements are distinguished`(_ platform: Platform, local: IndexType?) throws
  {
    let test = try make(platform, local: local)
    let store = test.store
    #expect(try store.values(of: "Id", in: "s") == ["a", "b", "c", "d"])
    #expect(try store.values(of: "Id", in: "s", .dirty) == ["a"])
    #expect(try store.values(of: "Id", in: "s", .clean()) == ["b", "c"])
    #expect(try store.values(of: "Id", in: "s", .clean(syncID: 2)) == ["c"])
    #expect(try store.count(of: "s", .clean(syncID: 1)) == 1)
    #expect(try store.maximum(of: "M", in: "s", .clean(syncID: 1)) == "2024-01-03")
    #expect(try store.maximum(of: "Nothing", in: "s") == nil)
  }

  @Test func `elements are iterated with the positions of their members`() throws {
    let test = try make(.ios, local: .string)
    var seen: [String] = []
    try test.store.forEachElement(in: "s", paths: ["Id", "M", "__local__"]) { element in
      seen.append(
        "\(element.soupEntryID) \(element.text(0) ?? "-") \(element.text(1) ?? "-") "
          + "\(element.isSet(2, on: .ios)) \(element.created == test.now)")
    }
    #expect(
      seen == [
        "1 a 2024-01-02 true true", "2 b 2024-01-03 false true", "3 c x\ny false true",
        "4 d - false true",
      ])
  }

  @Test func `elements are found and removed by a value`() throws {
    let test = try make(.android, local: .string)
    let store = test.store
    #expect(try store.elements(in: "s", where: "Id", is: "c").first?["M"] == "x\ny")
    #expect(try store.elements(in: "s", where: "M", is: "2024-01-02").count == 1)
    #expect(try store.deleteElements(in: "s", where: "Id", in: ["a", "nobody", "d"]) == 2)
    #expect(try store.values(of: "Id", in: "s") == ["b", "c"])
    #expect(throws: StoreError.unknownSoup("t")) { try store.values(of: "Id", in: "t") }
  }
}
