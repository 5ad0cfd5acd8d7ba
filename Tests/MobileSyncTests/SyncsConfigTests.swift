import Foundation
import JSON
import MobileSync
import Testing

@Suite struct SyncsConfigTests {
  static let samples = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/samples")

  func config(_ target: String, _ type: SyncType = .syncDown) throws -> SyncTarget {
    let text = """
      {"syncs": [{"syncName": "s", "syncType": "\(type.rawValue)", "soupName": "x",
        "target": \(target),
        "options": {"mergeMode": "OVERWRITE", "fieldlist": []}}]}
      """
    return try #require(try SyncsConfig(json: Array(text.utf8), file: "f").syncs.first).target
  }

  @Test(arguments: ["accounts", "briefcase", "contacts", "users"])
  func `the documentation's samples are read`(name: String) throws {
    let url = Self.samples.appendingPathComponent("\(name).usersyncs.json")
    let config = try SyncsConfig(json: Array(Data(contentsOf: url)), file: name)
    #expect(!config.syncs.isEmpty)
    // The definitions survive writing and reading again.
    let again = try SyncsConfig(json: config.json.bytes, file: name)
    #expect(again.syncs.map(\.target) == config.syncs.map(\.target))
    #expect(again.syncs.map(\.options) == config.syncs.map(\.options))
    #expect(again.json == config.json)
  }

  @Test(
    arguments: [
      #"{"type": "soql", "query": "SELECT Id FROM A"}"#:
        #"{"type":"soql","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate","#
        + #""query":"SELECT Id FROM A","maxBatchSize":2000}"#,
      #"{"type": "sosl", "query": "FIND {a} RETURNING A(Id)", "idFieldName": ""}"#:
        #"{"type":"sosl","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate","#
        + #""query":"FIND {a} RETURNING A(Id)"}"#,
      #"{"type": "mru", "sobjectType": "A", "fieldlist": ["Id"]}"#:
        #"{"type":"mru","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate","#
        + #""sobjectType":"A","fieldlist":["Id"]}"#,
      #"{"type": "refresh", "sobjectType": "A", "fieldlist": ["Id"], "soupName": "x","#
        + #" "countIdsPerSoql": 900}"#:
        #"{"type":"refresh","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate","#
        + #""sobjectType":"A","fieldlist":["Id"],"soupName":"x","countIdsPerSoql":500,"#
        + #""coundIdsPerSoql":500}"#,
      #"{"type": "layout", "sobjectType": "A", "layoutType": "Compact", "mode": "Edit"}"#:
        #"{"type":"layout","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate","#
        + #""sobjectType":"A","layoutType":"Compact","mode":"Edit"}"#,
      #"{"type": "metadata", "sobjectType": "A", "iOSImpl": "SFMetadataSyncDownTarget"}"#:
        #"{"type":"metadata","iOSImpl":"SFMetadataSyncDownTarget","idFieldName":"Id","#
        + #""modificationDateFieldName":"LastModifiedDate","sobjectType":"A"}"#,
      #"{"type": "briefcase", "infos": [{"sobjectType": "A", "fieldlist": ["N"],"#
        + #" "soupName": "x", "idFieldName": "IdX", "modificationDateFieldName": "M"}]}"#:
        #"{"type":"briefcase","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate","#
        + #""infos":[{"sobjectType":"A","fieldlist":["N"],"soupName":"x","idFieldName":"IdX","#
        + #""modificationDateFieldName":"M"}],"countIdsPerRetrieve":2000}"#,
      #"{"type": "parent_children", "parent": {"sobjectType": "A", "soupName": "x"},"#
        + #" "parentFieldlist": ["N"], "children": {"sobjectType": "C", "soupName": "y","#
        + #" "sobjectTypePlural": "Cs", "parentIdFieldName": "AId"},"#
        + #" "childrenFieldlist": ["N"], "relationshipType": "LOOKUP"}"#:
        #"{"type":"parent_children","idFieldName":"Id","#
        + #""modificationDateFieldName":"LastModifiedDate","parent":{"sobjectType":"A","#
        + #""soupName":"x","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate"},"#
        + #""parentFieldlist":["N"],"parentSoqlFilter":"","children":{"sobjectType":"C","#
        + #""soupName":"y","idFieldName":"Id","modificationDateFieldName":"LastModifiedDate","#
        + #""sobjectTypePlural":"Cs","parentIdFieldName":"AId"},"childrenFieldlist":["N"],"#
        + #""relationshipType":"LOOKUP"}"#,
    ] as [String: String])
  func `a target is stored with explicit defaults`(file: String, stored: String) throws {
    let target = try config(file)
    #expect(target.json.text == stored)
    #expect(try SyncTarget(stored: target.json, type: .syncDown) == target)
  }

  @Test func `an empty field list is kept`() throws {
    let target = try config(#"{"createFieldlist": [], "externalIdFieldName": "E__c"}"#, .syncUp)
    guard let up = target.of(SyncUpTarget.self) else {
      Issue.record("\(target)")
      return
    }
    #expect(up.createFieldlist == [])
    #expect(up.externalIdFieldName == "E__c")
    #expect(target.json["createFieldlist"] == [])
  }

  @Test func `a target stored by a device is read, with any other members`() throws {
    let json: JSONValue = [
      "type": "soql", "query": "select Id from A", "maxBatchSize": 200,
      "androidImpl": "com.salesforce.androidsdk.mobilesync.target.SoqlSyncDownTarget",
      "someNewKey": 1,
    ]
    guard let target = try SyncTarget(stored: json, type: .syncDown).of(SoqlTarget.self) else {
      Issue.record("not soql")
      return
    }
    #expect(target.maxBatchSize == 200)
    #expect(target.fields.androidImpl?.hasSuffix("SoqlSyncDownTarget") == true)
  }

  @Test func `a custom target is preserved unchanged`() throws {
    let text = #"{"type": "custom", "androidImpl": "com.example.Target", "more": [1]}"#
    let target = try config(text)
    #expect(target.json == (try JSONValue(parsing: text)))
    let up = try config(#"{"androidImpl": "com.example.UpTarget"}"#, .syncUp)
    guard let custom = up.of(CustomTarget.self) else {
      Issue.record("\(up)")
      return
    }
    #expect(custom.androidImpl == "com.example.UpTarget")
  }

  @Test func `iOS runs an app's own class whatever the type, which is reported`() throws {
    let error = #expect(throws: Problems.self) {
      try config(#"{"type": "soql", "query": "SELECT Id FROM A", "iOSImpl": "MyTarget"}"#)
    }
    #expect(error?.description.contains("iOS runs the class \"MyTarget\"") == true)
    for name in ["SFSoqlSyncDownTarget", ""] {
      _ = try config(#"{"type": "soql", "query": "SELECT Id FROM A", "iOSImpl": "\#(name)"}"#)
    }
    let stored: JSONValue = ["type": "soql", "query": "select Id from A", "iOSImpl": "MyTarget"]
    _ = try SyncTarget(stored: stored, type: .syncDown)
  }

  @Test func `a sync up requires a merge mode, a sync down overwrites by default`() throws {
    func read(_ type: String, _ target: String) throws -> SyncsConfig {
      let text = """
        {"syncs": [{"syncName": "s", "syncType": "\(type)", "soupName": "x", "target": \(target),
          "options": {"fieldlist": ["Name"]}}]}
        """
      return try SyncsConfig(json: Array(text.utf8), file: "f")
    }
    let error = #expect(throws: Problems.self) { try read("syncUp", "{}") }
    #expect(error?.list.map(\.path) == ["syncs[0].options"])
    #expect(error?.description.contains("OVERWRITE") == true)
    let down = try read("syncDown", #"{"type": "soql", "query": "SELECT Id FROM A"}"#)
    #expect(down.syncs[0].options.mergeMode == .overwrite)
  }

  @Test func `a limit that Android's SDK cannot read is refused in a file`() throws {
    func query(_ end: String) -> String {
      #"{"type": "soql", "query": "SELECT Id, LastModifiedDate FROM A \#(end)"}"#
    }
    for (end, clause) in [
      ("LIMIT 10 FOR VIEW", "LIMIT"), ("limit 10 offset 5 for reference", "OFFSET"),
      ("LIMIT 10 ALL ROWS", "LIMIT"),
    ] {
      let error = #expect(throws: Problems.self) { try config(query(end)) }
      #expect(error?.description.contains("no number in the \(clause) before") == true, "\(end)")
      _ = try SyncTarget(stored: JSONValue(parsing: query(end)), type: .syncDown)
    }
    for end in ["LIMIT 10 OFFSET 5", "FOR VIEW", "WHERE Name = ' LIMIT 1 FOR VIEW'"] {
      _ = try config(query(end))
    }
  }

  @Test func `two infos of one type are accepted, two types in one soup are not`() throws {
    func briefcase(_ type: String, _ soup: String) throws -> SyncTarget {
      try config(
        #"{"type": "briefcase", "infos": [{"sobjectType": "A", "fieldlist": ["N"],"#
          + #" "soupName": "x"}, {"sobjectType": "\#(type)", "fieldlist": ["M"],"#
          + #" "soupName": "\#(soup)"}]}"#)
    }
    _ = try briefcase("A", "y")
    _ = try briefcase("a", "x")
    #expect(throws: Problems.self) { try briefcase("B", "x") }
  }

  @Test func `a sync knows its soups and its location in the file`() throws {
    let url = Self.samples.appendingPathComponent("briefcase.usersyncs.json")
    let config = try SyncsConfig(json: Array(Data(contentsOf: url)), file: "f")
    let sync = try #require(config["syncDownContacts"])
    #expect(sync.soups.map(\.soupName) == ["accounts", "contacts"])
    #expect((sync.line, sync.column) == (3, 5))
  }

  @Test(arguments: ["createFieldlist", "updateFieldlist"])
  func `a sync up that only creates or only updates needs just that list`(_ list: String) throws {
    func read(_ target: String) throws -> SyncsConfig {
      let text = """
        {"syncs": [{"syncName": "s", "syncType": "syncUp", "soupName": "x", "target": \(target),
          "options": {"mergeMode": "OVERWRITE"}}]}
        """
      return try SyncsConfig(json: Array(text.utf8), file: "f")
    }
    #expect(try read(#"{"\#(list)": ["Name"]}"#).syncs.count == 1)
    let error = #expect(throws: Problems.self) { try read("{}") }
    #expect(error?.list.map(\.path) == ["syncs[0].options"])
  }

  @Test(arguments: [
    #"{"type": "mru", "sobjectType": "NAME", "fieldlist": ["N"]}"#,
    #"{"type": "refresh", "sobjectType": "NAME", "fieldlist": ["N"], "soupName": "x"}"#,
    #"{"type": "layout", "sobjectType": "NAME", "layoutType": "Full"}"#,
    #"{"type": "metadata", "sobjectType": "NAME"}"#,
    #"{"type": "briefcase", "infos": [{"sobjectType": "NAME", "fieldlist": ["N"], "soupName": "x"}]}"#,
    #"{"type": "parent_children", "parent": {"sobjectType": "NAME", "soupName": "x"}, "#
      + #""parentFieldlist": ["N"], "children": {"sobjectType": "C", "soupName": "y", "#
      + #""sobjectTypePlural": "Cs", "parentIdFieldName": "AId"}, "#
      + #""childrenFieldlist": ["N"], "relationshipType": "LOOKUP"}"#,
  ])
  func `a text that cannot be a name in an org is refused in a file`(_ target: String) throws {
    for name in ["Site Visit__c", "Account ", "1Account", "Acc-ount", "Größe__c"] {
      let error = #expect(throws: Problems.self) {
        try config(target.replacing("NAME", with: name))
      }
      #expect(error?.list.count == 1)
      #expect(error?.list.first?.path.hasSuffix("sobjectType") == true)
    }
    for name in ["Account", "ns__Site_Visit__c"] {
      _ = try config(target.replacing("NAME", with: name))
    }
  }
}
