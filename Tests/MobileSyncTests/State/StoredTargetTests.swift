import JSON
import Testing

@testable import MobileSync

/// Rows 88–89 and 96–99 of the conformance table (SyncsConfigTest, SFSDKSyncsConfigTests): what a sync of
/// a configuration file becomes in `syncs_soup`, and back.
@Suite struct StoredTargetTests {
  private func state(_ type: String, _ target: String, _ options: String) throws -> SyncState {
    let text = """
      {"syncs":[{"syncName":"a","syncType":"\(type)","soupName":"s","target":\(target),
      "options":\(options)}]}
      """
    let config = try SyncsConfig(json: Array(text.utf8), file: "usersyncs.json")
    let state = try #require(config["a"]).newState()
    // A device's copy of the state is read as the same target.
    let read = try SyncTarget(stored: state.target, type: state.type)
    #expect(read.json == state.target)
    return state
  }

  // testSoqlSyncDownFromConfig, testSoqlSyncDownWithBatchSizeFromConfig
  @Test func `a soql target is stored with its query completed and its defaults`() throws {
    let state = try state(
      "syncDown", #"{"type":"soql","query":"SELECT Id, Name FROM Account"}"#,
      #"{"mergeMode":"OVERWRITE"}"#)
    #expect(
      state.target == [
        "type": "soql", "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
        "query": "select LastModifiedDate,Id, Name from Account order by LastModifiedDate",
        "maxBatchSize": 2000,
      ])
    #expect(state.options == ["mergeMode": "OVERWRITE"])
    #expect(state.status == .new)
    let sized = try self.state(
      "syncDown", #"{"type":"soql","query":"SELECT Id FROM A","maxBatchSize":200}"#,
      #"{"mergeMode":"LEAVE_IF_CHANGED"}"#)
    #expect(sized.target["maxBatchSize"] == 200)
  }

  // testBriefcaseSyncDownFromConfig
  @Test func `a briefcase target is stored with its infos and their field names`() throws {
    let state = try state(
      "syncDown",
      """
      {"type":"briefcase","infos":[
        {"sobjectType":"Account","fieldlist":["Name"],"soupName":"accounts"},
        {"sobjectType":"Contact","fieldlist":["LastName"],"soupName":"contacts",
         "idFieldName":"IdX","modificationDateFieldName":"LastModifiedDateX"}]}
      """, #"{"mergeMode":"OVERWRITE"}"#)
    #expect(state.target["infos"]?[0]?["idFieldName"] == "Id")
    #expect(state.target["infos"]?[0]?["modificationDateFieldName"] == "LastModifiedDate")
    #expect(state.target["infos"]?[1]?["idFieldName"] == "IdX")
    #expect(state.target["infos"]?[1]?["modificationDateFieldName"] == "LastModifiedDateX")
    #expect(state.target["countIdsPerRetrieve"] == 2000)
  }

  // testSingleRecordSyncUpFromConfig (iOS: testNoBatchSyncUpFromConfig)
  @Test func `a class name makes a single-record sync up, and an empty list stays a list`() throws {
    let state = try state(
      "syncUp",
      """
      {"iOSImpl":"SFSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.SyncUpTarget",
       "createFieldlist":["Name"]}
      """, #"{"mergeMode":"OVERWRITE","fieldlist":[]}"#)
    #expect(state.target["iOSImpl"] == "SFSyncUpTarget")
    #expect(state.target["maxBatchSize"] == nil)
    #expect(state.options["fieldlist"] == [])
  }

  // testBatchSyncUpFromConfig
  @Test func `a batch sync up has 25 records a request`() throws {
    let state = try state(
      "syncUp",
      """
      {"iOSImpl":"SFBatchSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.BatchSyncUpTarget"}
      """, #"{"mergeMode":"OVERWRITE","fieldlist":["Name"]}"#)
    #expect(state.target["maxBatchSize"] == 25)
  }

  // testCollectionSyncUpFromConfig
  @Test func `without a class it is a collection of 200 with the target's own names`() throws {
    let state = try state(
      "syncUp",
      """
      {"idFieldName":"IdX","modificationDateFieldName":"LastModifiedDateX",
       "externalIdFieldName":"ExternalIdX"}
      """, #"{"mergeMode":"OVERWRITE","fieldlist":["Name"]}"#)
    #expect(
      state.target == [
        "idFieldName": "IdX", "modificationDateFieldName": "LastModifiedDateX",
        "externalIdFieldName": "ExternalIdX", "maxBatchSize": 200,
      ])
  }
}
