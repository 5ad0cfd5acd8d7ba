import SmartStore
import Testing

/// IDs of downloaded records that are not plain text; the SDKs accept them like others.
@Suite struct OddIDTests {
  static let types: [IndexType] = [.string, .fullText, .json1]

  private func specs(_ type: IndexType) -> [IndexSpec] {
    [
      IndexSpec(path: "Id", type: type), IndexSpec(path: "Name", type: .string),
      IndexSpec(path: "__local__", type: .string), IndexSpec(path: "__sync_id__", type: .integer),
    ]
  }

  /// A page with a record for each of the IDs, as an org writes them.
  private func page(name: String = "n") -> String {
    let ids = [#""plain""#, #""a\"b\u00e9\/\n""#, "7", "1.50", "1.2345678E7", "123456789012345678"]
    let records = ids.map {
      #"{"Id":\#($0),"LastModifiedDate":"2024-01-01T00:00:00.000+0000","Name":"\#(name)"}"#
    }
    return #"{"records":["# + records.joined(separator: ",") + "]}"
  }

  @Test(arguments: Platform.allCases, types)
  func `text with escapes and numbers are IDs, and are found again`(
    _ platform: Platform, _ type: IndexType
  ) throws {
    let test = try TestStore(platform)
    let specs = specs(type)
    let first = try load(.cold, [page()], into: [test], specs: specs)
    #expect(first.summary.destinations == [.init(inserted: 6)])
    #expect(try changes(page(), against: test, specs: specs).isEmpty)
    test.now += 5
    let same = try load(.incremental, [page()], into: [test], specs: specs)
    #expect(same.summary.destinations == [.init(unchanged: 6)])
    #expect(try changes(page(name: "m"), against: test, specs: specs).changed.count == 6)
    let other = try load(.incremental, [page(name: "m")], into: [test], specs: specs)
    #expect(other.summary.destinations == [.init(updated: 6)])
    #expect(try test.store.count(of: "s") == 6)
    #expect(try test.rows("SELECT DISTINCT TABLE_1_1 FROM TABLE_1") == [["m"]])
    try test.store.close()
    #expect(try StoreCheck(platform: platform).violations(at: test.store.path) == [])
  }

  @Test(arguments: Platform.allCases, types)
  func `an edited element whose ID is not plain text is kept like others`(
    _ platform: Platform, _ type: IndexType
  ) throws {
    let test = try TestStore(platform)
    let specs = specs(type)
    _ = try load(.cold, [page()], into: [test], specs: specs)
    let edited = Set(try test.store.values(of: "Id", in: "s"))
    #expect(edited.count == 6)
    let page = page(name: "m")
    #expect(try changes(page, against: test, specs: specs, skip: edited).isEmpty)
    let load = try load(.incremental, [page], into: [test], specs: specs, skip: edited)
    #expect(load.summary.destinations == [.init(skipped: 6)])
  }

  @Test(arguments: ["null", "true", "{}", "[1]", #""""#])
  func `a value that is neither text nor a number is not an ID`(_ id: String) throws {
    let test = try TestStore(.ios)
    #expect(throws: StoreError.recordWithoutID(soup: "s", record: 0, path: "Id")) {
      try load(.cold, [#"{"records":[{"Id":\#(id)}]}"#], into: [test], specs: specs(.string))
    }
  }
}
