import JSON
import MobileSync
import Testing

@Suite struct ParentChildrenSplitterTests {
  private func records(_ bytes: [UInt8]) throws -> String {
    #expect(try JSONValue(parsing: bytes)["records"]?.array != nil)
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test func `parents lose their children, and children gain their parent, byte by byte`() throws {
    let page = #"""
      {"totalSize":3,"done":true,"records":[
      {"attributes":{"type":"Account"}, "Id":"001A","Name":"A \"x\"", "Rate":1.50,
       "LastModifiedDate":"2024-01-01T00:00:00.000+0000", "Contacts":
       {"totalSize":2,"done":true,"records":[
         {"attributes":{"type":"Contact"},"Id":"003A" },{"Id":"003B","AccountId":"001A"}]}},
      {"Contacts":null,"Id":"001B","Name":"B"},
      {"Id":"001C","Contacts":{"totalSize":1,"done":true,"records":[
        {"Id":"003C","AccountId":"001OTHER","N":2e1,
         "LastModifiedDate":"2024-02-01T00:00:00.000+0000"}]},"Z":[]}]}
      """#
    let result = try ParentChildrenSplitter(.accounts()).split(Array(page.utf8))
    #expect(result.parentCount == 3)
    let parents = [
      #"{"attributes":{"type":"Account"}, "Id":"001A","Name":"A \"x\"", "Rate":1.50,"#
        + "\n \"LastModifiedDate\":\"2024-01-01T00:00:00.000+0000\"}",
      #"{"Id":"001B","Name":"B"}"#, #"{"Id":"001C","Z":[]}"#,
    ]
    #expect(try records(result.parents) == #"{"records":["# + parents.joined(separator: ",") + "]}")
    let children = [
      #"{"attributes":{"type":"Contact"},"Id":"003A" ,"AccountId":"001A"}"#,
      #"{"Id":"003B","AccountId":"001A"}"#,
      #"{"Id":"003C","AccountId":"001C","N":2e1,"#
        + "\n   \"LastModifiedDate\":\"2024-02-01T00:00:00.000+0000\"}",
    ]
    #expect(
      try records(result.children) == #"{"records":["# + children.joined(separator: ",") + "]}")
    #expect(result.unfinished.isEmpty)
  }

  @Test func `children that did not arrive are reported with their URL`() throws {
    let page = #"""
      {"records":[{"Id":"001A","Contacts":{"totalSize":3,"done":false,
       "nextRecordsUrl":"\/services\/data\/v66.0\/query\/0r8-2","records":[{"Id":"003A"}]}},
      {"Id":"001B","Contacts":{"totalSize":3,"done":false,"records":[{"Id":"003B"}]}}]}
      """#
    let result = try ParentChildrenSplitter(.accounts()).split(Array(page.utf8))
    #expect(
      result.unfinished == [
        .init(parentID: Array("001A".utf8), address: "/services/data/v66.0/query/0r8-2"),
        .init(parentID: Array("001B".utf8), address: nil),
      ])
    let more = #"{"totalSize":3,"done":true,"records":[{"Id":"003C"}]}"#
    let others = try ParentChildrenSplitter(.accounts()).children(
      Array(more.utf8), of: Array("001A".utf8))
    #expect(try records(others.children) == #"{"records":[{"Id":"003C","AccountId":"001A"}]}"#)
  }

  @Test func `a new child of a tree changed on the device is not stored`() throws {
    let page = #"""
      {"records":[{"Id":"001A","Contacts":{"records":[{"Id":"003A"},{"Id":"003N"}]}},
      {"Id":"001B","Contacts":{"records":[{"Id":"003B"}]}}]}
      """#
    let left = ParentChildrenSplitter.Left(parents: ["001A"], knownChildren: ["003A"])
    let result = try ParentChildrenSplitter(.accounts()).split(Array(page.utf8), leaving: left)
    let ids = try JSONValue(parsing: result.children)["records"]?.array?
      .compactMap { $0["Id"]?.string }
    #expect(ids == ["003A", "003B"])
  }

  @Test func `a record without an id is an invalid response`() {
    #expect(throws: SyncError.self) {
      try ParentChildrenSplitter(.accounts()).split(Array(#"{"records":[{"Name":"x"}]}"#.utf8))
    }
    #expect(throws: SyncError.self) {
      try ParentChildrenSplitter(.accounts()).split(Array(#"{"records":[{"Id":"001"]}"#.utf8))
    }
  }
}
