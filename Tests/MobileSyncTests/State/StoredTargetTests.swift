import JSON
import MobileSync
import Testing

/// Rows 88–100 of the conformance table (SyncsConfigTest, SFSDKSyncsConfigTests): how a sync of a
/// configuration file is stored in `syncs_soup` and read back.
@Suite struct StoredTargetTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let type: SyncType
    /// The target in the file.
    let given: String
    /// The members that the stored target has in addition, or with another value.
    let added: JSONObject

    static func down(_ description: String, _ given: String, _ added: JSONObject = [:]) -> Row {
      Row(testDescription: description, type: .syncDown, given: given, added: added)
    }

    static func up(_ description: String, _ given: String, _ added: JSONObject = [:]) -> Row {
      Row(testDescription: description, type: .syncUp, given: given, added: added)
    }
  }

  private static let family = """
    "parent":{"sobjectType":"Account","soupName":"accounts","idFieldName":"IdX",
      "modificationDateFieldName":"LastModifiedDateX","externalIdFieldName":"ExternalIdX"},
    "children":{"sobjectType":"Contact","soupName":"contacts","idFieldName":"IdY",
      "modificationDateFieldName":"LastModifiedDateY","externalIdFieldName":"ExternalIdY",
      "sobjectTypePlural":"Contacts","parentIdFieldName":"AccountId"},
    "relationshipType":"MASTER_DETAIL"
    """

  static let rows: [Row] = [
    .down(
      "a query is completed", #"{"type":"soql","query":"SELECT Id, Name FROM Account"}"#,
      [
        "maxBatchSize": 2000,
        "query": "select LastModifiedDate,Id, Name from Account order by LastModifiedDate",
      ]),
    .down(
      "a query keeps its batch size",
      #"{"type":"soql","query":"SELECT Id FROM Account","maxBatchSize":200}"#,
      ["query": "select LastModifiedDate,Id from Account order by LastModifiedDate"]),
    .down("a search", #"{"type":"sosl","query":"FIND {a} IN ALL FIELDS RETURNING Contact(Id)"}"#),
    .down(
      "recent records",
      #"{"type":"mru","sobjectType":"Account","fieldlist":["Name","Description"]}"#),
    .down(
      "a refresh queries the ids of its soup",
      #"{"type":"refresh","sobjectType":"Account","fieldlist":["Name"],"soupName":"accounts"}"#,
      ["countIdsPerSoql": 500, "coundIdsPerSoql": 500]),
    .down(
      "a layout without a record type",
      """
      {"type":"layout","sobjectType":"Account","formFactor":"Medium","layoutType":"Compact",
       "mode":"Edit"}
      """),
    .down("metadata", #"{"type":"metadata","sobjectType":"Account"}"#),
    .down(
      "families keep their own names",
      """
      {"type":"parent_children",\(family),"parentFieldlist":["IdX","Name"],
       "parentSoqlFilter":"NameX like 'James%'","childrenFieldlist":["LastName"]}
      """),
    .down(
      "the infos of a briefcase have field names",
      """
      {"type":"briefcase","infos":[
        {"sobjectType":"Account","fieldlist":["Name"],"soupName":"accounts"},
        {"sobjectType":"Contact","fieldlist":["LastName"],"soupName":"contacts",
         "idFieldName":"IdX","modificationDateFieldName":"LastModifiedDateX"}]}
      """,
      [
        "countIdsPerRetrieve": 2000,
        "infos": [
          [
            "sobjectType": "Account", "fieldlist": ["Name"], "soupName": "accounts",
            "idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate",
          ],
          [
            "sobjectType": "Contact", "fieldlist": ["LastName"], "soupName": "contacts",
            "idFieldName": "IdX", "modificationDateFieldName": "LastModifiedDateX",
          ],
        ],
      ]),
    .up(
      "a class of single records",
      """
      {"iOSImpl":"SFSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.SyncUpTarget",
       "createFieldlist":["Name"]}
      """),
    .up(
      "a class on one platform",
      #"{"androidImpl":"com.salesforce.androidsdk.mobilesync.target.SyncUpTarget"}"#),
    .up(
      "a batch has 25 records per request",
      """
      {"iOSImpl":"SFBatchSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.BatchSyncUpTarget"}
      """, ["maxBatchSize": 25]),
    .up(
      "without a class it is a collection of 200 with the target's own names",
      """
      {"idFieldName":"IdX","modificationDateFieldName":"LastModifiedDateX",
       "externalIdFieldName":"ExternalIdX"}
      """, ["maxBatchSize": 200]),
    .up(
      "families keep their lists and external ids",
      """
      {"iOSImpl":"SFParentChildrenSyncUpTarget",
       "androidImpl":"com.salesforce.androidsdk.mobilesync.target.ParentChildrenSyncUpTarget",
       \(family),"createFieldlist":["Name"],"updateFieldlist":["Name","Description"],
       "childrenCreateFieldlist":["LastName"],"childrenUpdateFieldlist":["FirstName"]}
      """),
  ]

  // SDK: testSoqlSyncDownFromConfig (88), testSoqlSyncDownWithBatchSizeFromConfig (89)
  // SDK: testSoslSyncDownFromConfig (90), testMruSyncDownFromConfig (91)
  // SDK: testRefreshSyncDownFromConfig (92), testLayoutSyncDownFromConfig (93)
  // SDK: testMetadataSyncDownFromConfig (94), testParentChildrenSyncDownFromConfig (95)
  // SDK: testBriefcaseSyncDownFromConfig (96)
  // SDK: testSingleRecordSyncUpFromConfig (97), testNoBatchSyncUpFromConfig (97)
  // SDK: testBatchSyncUpFromConfig (98), testCollectionSyncUpFromConfig (99)
  // SDK: testParentChildrenSyncUpFromConfig (100)
  @Test(arguments: rows, MergeMode.allCases)
  func `a target is stored as given, with its defaults, and read back as the same`(
    _ row: Row, _ mode: MergeMode
  ) throws {
    var stored = try #require(try JSONValue(parsing: row.given).object)
    for (name, value) in ["idFieldName": "Id", "modificationDateFieldName": "LastModifiedDate"]
    where stored[name] == nil { stored[name] = .string(value) }
    for (name, value) in row.added { stored[name] = value }
    let list = row.type == .syncUp ? #","fieldlist":[]"# : ""
    let options = "{\"mergeMode\":\"\(mode.rawValue)\"\(list)}"
    let text = """
      {"syncs":[{"syncName":"a","syncType":"\(row.type.rawValue)","soupName":"s",
      "target":\(row.given),"options":\(options)}]}
      """
    let config = try SyncsConfig(json: Array(text.utf8), file: "usersyncs.json")
    let state = try #require(config["a"]).newState()
    #expect(state.target == .object(stored))
    // An empty list stays a list.
    #expect(state.options == (try JSONValue(parsing: options)))
    #expect(state.status == .new)
    #expect(try SyncTarget(stored: state.target, type: state.type).json == state.target)
  }
}
