import JSON
import MobileSync
import Testing

@Suite struct SyncOperationTests {
  @Test(arguments: [
    (#"{}"#, SyncOperation.none), (#"{"__local__":false,"__locally_created__":true}"#, .none),
    (#"{"__local__":0,"__locally_created__":true}"#, .none),
    (#"{"__local__":"1","__locally_created__":"true"}"#, .create),
    (#"{"__local__":1,"__locally_deleted__":"YES","__locally_created__":0}"#, .delete),
    (#"{"__local__":1,"__locally_deleted__":1,"__locally_created__":"1"}"#, .dropLocally),
    (#"{"__local__":true}"#, .update), (#"{"__local__":true,"__locally_updated__":true}"#, .update),
    (#"{"__local__":true,"__locally_created__":true}"#, .create),
    (#"{"__local__":true,"__locally_created__":true,"__locally_updated__":true}"#, .create),
    (#"{"__local__":true,"__locally_deleted__":true}"#, .delete),
    (#"{"__local__":true,"__locally_deleted__":true,"__locally_updated__":true}"#, .delete),
    (#"{"__local__":true,"__locally_deleted__":true,"__locally_created__":true}"#, .dropLocally),
  ])
  func `the flags decide: deleted before created before updated`(
    _ element: String, _ expected: SyncOperation
  ) throws {
    let element = try JSONValue(parsing: element)
    #expect(SyncOperation(LocalState(element: element, platform: .ios)) == expected)
  }
}
