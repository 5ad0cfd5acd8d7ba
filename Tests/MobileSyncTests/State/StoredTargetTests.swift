import JSON
import MobileSync
import Testing

/// Rows 88–100 of the conformance table (SyncsConfigTest, SFSDKSyncsConfigTests): how a sync of a
/// configuration file is stored in `syncs_soup` and read back.
@Suite struct StoredTargetTests {
  private func state(_ type: String, _ target: String, _ options: String) throws -> SyncState {
    let text = """
      {"syncs":[{"syncName":"a","syncType":"\(type)","soupName":"s","target":\(target),
      "options":\(options)}]}
      """
    let config = try SyncsConfig(json: Array(text.utf8), file: "usersyncs.json")
    let state = try #require(config["a"]).newState()
    // A device's copy of the state is read as the same target.
    #expect(try SyncTarget(stored: state.target, type: state.type).json == state.target)
    return state
  }

  /// The members of a sync down's target, and what is stored besides its type and date fields.
  static let targets: [(String, JSONObject)] = [
    // SDK: testSoqlSyncDownFromConfig (88)
    (
      #"{"type":"soql","query":"SELECT Id, Name FROM Account"}"#,
      [
        "type": "soql", "maxBatchSize": 2000,
        "query": "select LastModifiedDate,Id, Name from Account order by LastModifiedDate",
      ]
    ),
    // SDK: testSoslSyncDownFromConfig (90)
    (
      #"{"type":"sosl","query":"FIND {a} IN ALL FIELDS RETURNING Contact(Id)"}"#,
      ["type": "sosl", "query": "FIND {a} IN ALL FIELDS RETURNING Contact(Id)"]
    ),
    // SDK: testMruSyncDownFromConfig (91)
    (
      #"{"type":"mru","sobjectType":"Account","fieldlist":["Name","Description"]}"#,
      ["type": "mru", "sobjectType": "Account", "fieldlist": ["Name", "Description"]]
    ),
    // SDK: testLayoutSyncDownFromConfig (93): without a record type.
    (
      """
      {"type":"layout","sobjectType":"Account","formFactor":"Medium","layoutType":"Compact",
       "mode":"Edit"}
      """,
      [
        "type": "layout", "sobjectType": "Account", "formFactor": "Medium",
        "layoutType": "Compact", "mode": "Edit",
      ]
    ),
    // SDK: testMetadataSyncDownFromConfig (94)
    (
      #"{"type":"metadata","sobjectType":"Account"}"#,
      ["type": "metadata", "sobjectType": "Account"]
    ),
  ]

  @Test(arguments: targets)
  func `a target is stored as given, with its defaults and its query completed`(
    _ given: String, _ stored: JSONObject
  ) throws {
    var stored = stored
    (stored["idFieldName"], stored["modificationDateFieldName"]) = ("Id", "LastModifiedDate")
    for mode in ["OVERWRITE", "LEAVE_IF_CHANGED"] {
      let state = try state("syncDown", given, "{\"mergeMode\":\"\(mode)\"}")
      #expect(state.target == .object(stored))
      #expect(state.options == ["mergeMode": .string(mode)])
      #expect(state.status == .new)
    }
  }

  // SDK: testSoqlSyncDownWithBatchSizeFromConfig (89)
  @Test func `a soql target is stored with its batch size`() throws {
    let sized = try state(
      "syncDown", #"{"type":"soql","query":"SELECT Id FROM A","maxBatchSize":200}"#,
      #"{"mergeMode":"LEAVE_IF_CHANGED"}"#)
    #expect(sized.target["maxBatchSize"] == 200)
  }

  // SDK: testRefreshSyncDownFromConfig (92)
  @Test func `a refresh target is stored with its soup and the ids of a query`() throws {
    let state = try state(
      "syncDown",
      #"{"type":"refresh","sobjectType":"Account","fieldlist":["Name"],"soupName":"accounts"}"#,
      #"{"mergeMode":"LEAVE_IF_CHANGED"}"#)
    #expect(state.target["soupName"] == "accounts")
    #expect(state.target["sobjectType"] == "Account")
    #expect(state.target["fieldlist"] == ["Name"])
    #expect(state.target["countIdsPerSoql"] == 500)
    #expect(state.options == ["mergeMode": "LEAVE_IF_CHANGED"])
  }

  private static let parent = """
    "parent":{"sobjectType":"Account","soupName":"accounts","idFieldName":"IdX",
      "modificationDateFieldName":"LastModifiedDateX","externalIdFieldName":"ExternalIdX"},
    "children":{"sobjectType":"Contact","soupName":"contacts","idFieldName":"IdY",
      "modificationDateFieldName":"LastModifiedDateY","externalIdFieldName":"ExternalIdY",
      "sobjectTypePlural":"Contacts","parentIdFieldName":"AccountId"},
    "relationshipType":"MASTER_DETAIL"
    """

  private func checkFamily(_ target: JSONValue) {
    #expect(target["parent"]?["idFieldName"] == "IdX")
    #expect(target["parent"]?["modificationDateFieldName"] == "LastModifiedDateX")
    #expect(target["parent"]?["externalIdFieldName"] == "ExternalIdX")
    #expect(target["children"]?["idFieldName"] == "IdY")
    #expect(target["children"]?["modificationDateFieldName"] == "LastModifiedDateY")
    #expect(target["children"]?["externalIdFieldName"] == "ExternalIdY")
    #expect(target["children"]?["sobjectTypePlural"] == "Contacts")
    #expect(target["children"]?["parentIdFieldName"] == "AccountId")
    #expect(target["relationshipType"] == "MASTER_DETAIL")
  }

  // SDK: testParentChildrenSyncDownFromConfig (95)
  @Test func `a parent-children sync down keeps the families' own names`() throws {
    let state = try state(
      "syncDown",
      """
      {"type":"parent_children",\(Self.parent),"parentFieldlist":["IdX","Name"],
       "parentSoqlFilter":"NameX like 'James%'","childrenFieldlist":["LastName"]}
      """, #"{"mergeMode":"OVERWRITE"}"#)
    checkFamily(state.target)
    #expect(state.target["type"] == "parent_children")
    #expect(state.target["parentFieldlist"] == ["IdX", "Name"])
    #expect(state.target["parentSoqlFilter"] == "NameX like 'James%'")
    #expect(state.target["childrenFieldlist"] == ["LastName"])
  }

  // SDK: testParentChildrenSyncUpFromConfig (100)
  @Test func `a parent-children sync up keeps all its lists and external ids`() throws {
    let state = try state(
      "syncUp",
      """
      {"iOSImpl":"SFParentChildrenSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.ParentChildrenSyncUpTarget",
       \(Self.parent),"createFieldlist":["Name"],"updateFieldlist":["Name","Description"],
       "childrenCreateFieldlist":["LastName"],"childrenUpdateFieldlist":["FirstName"]}
      """, #"{"mergeMode":"LEAVE_IF_CHANGED","fieldlist":[]}"#)
    checkFamily(state.target)
    #expect(state.target["createFieldlist"] == ["Name"])
    #expect(state.target["updateFieldlist"] == ["Name", "Description"])
    #expect(state.target["childrenCreateFieldlist"] == ["LastName"])
    #expect(state.target["childrenUpdateFieldlist"] == ["FirstName"])
    #expect(state.target["iOSImpl"] == "SFParentChildrenSyncUpTarget")
  }

  // SDK: testBriefcaseSyncDownFromConfig (96)
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

  // SDK: testSingleRecordSyncUpFromConfig (97), testNoBatchSyncUpFromConfig (97)
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

  // SDK: testBatchSyncUpFromConfig (98)
  @Test func `a batch sync up has 25 records per request`() throws {
    let state = try state(
      "syncUp",
      """
      {"iOSImpl":"SFBatchSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.BatchSyncUpTarget"}
      """, #"{"mergeMode":"OVERWRITE","fieldlist":["Name"]}"#)
    #expect(state.target["maxBatchSize"] == 25)
  }

  // SDK: testCollectionSyncUpFromConfig (99)
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
