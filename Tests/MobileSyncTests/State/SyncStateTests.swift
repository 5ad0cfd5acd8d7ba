import JSON
import MobileSync
import Testing

@Suite struct SyncStateTests {
  @Test func `a new sync has the SDK's members, and a name only if it has one`() {
    let state = SyncState(
      type: .syncUp, name: nil, target: [:], options: ["mergeMode": "OVERWRITE"], soupName: "s")
    #expect(
      state.element.text == #"{"type":"syncUp","target":{},"options":{"mergeMode":"OVERWRITE"},"#
        + #""soupName":"s","status":"NEW","progress":0,"totalSize":-1,"maxTimeStamp":-1,"#
        + #""startTime":0,"endTime":0,"error":""}"#)
  }

  @Test func `an element is read as it was written`() throws {
    var state = SyncState(
      type: .syncDown, name: "n", target: ["type": "soql"], options: [:], soupName: "s")
    state.id = 7
    state.error = "old"
    state.finish(totalSize: 3, maxTimeStamp: 5, started: 8, ended: 9)
    #expect(state.error.isEmpty)
    #expect(SyncState(element: state.element) == state)
  }

  @Test func `a member that a device omits is unset`() throws {
    let element = try JSONValue(
      parsing: #"{"_soupEntryId":2,"type":"syncUp","target":{},"soupName":"s","status":"NEW"}"#)
    let state = try #require(SyncState(element: element))
    #expect(state.maxTimeStamp == -1)
    #expect(state.totalSize == -1)
    #expect(state.name == nil)
  }

  @Test(arguments: [
    #"{}"#, #"{"type":"other","target":{},"soupName":"s","status":"NEW"}"#,
    #"{"type":"syncUp","target":{},"soupName":"s","status":"ODD"}"#,
  ])
  func `an element that is not a sync is ignored`(_ text: String) throws {
    #expect(SyncState(element: try JSONValue(parsing: text)) == nil)
  }
}
