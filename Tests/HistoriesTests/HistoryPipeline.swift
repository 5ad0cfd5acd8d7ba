import Crypto
import Pipelines
import System

enum HistoryPipeline {
  static let name = "history"
  /// Fewer accounts than any user sees.
  static let cut = 3
  /// The key that signs the bundles of phones with kits.
  static let signing = Result { try SigningKey.generate(.p256) }

  static func make(_ setup: HistorySetup, in directory: String, url: String) throws
    -> (pipeline: Pipeline, variables: [String: String])
  {
    let variables = [
      "ATTACHE_ORG_URL": url, "ATTACHE_CLIENT_ID": HistoryOrg.clientID,
      "ATTACHE_JWT_KEY": try HistoryOrg.key.get().pem,
    ]
    try Files.makeDirectory(directory)
    if setup.kits {
      try DurableFile.write(signing.get().pem(), to: directory + "/sign.key")
    }
    for (name, text) in [
      ("history.json", pipeline(setup)), ("userstore.json", schema(setup)),
      ("usersyncs.json", syncs(setup)),
    ] { try DurableFile.write(Array(text.utf8), to: directory + "/" + name) }
    var pipeline = try PipelineFile.read(path: directory + "/history.json", variables: variables)
    if setup.prunes {
      pipeline.keep.isAsked = true
      pipeline.keep.generations = 1
      (pipeline.keep.issuedRecordDays, pipeline.keep.returnedDays) = (0, 0)
    }
    return (pipeline, variables)
  }

  private static func pipeline(_ setup: HistorySetup) -> String {
    let correlation =
      setup.visitKey == .correlation
      ? #","correlationField":{"Site_Visit__c":"External_Id__c"}"# : ""
    let across = setup.across == .manual ? "" : #","deviceConflicts":"\#(setup.across.rawValue)""#
    let signed =
      setup.kits
      ? #","sign":{"key":{"file":"sign.key"}},"deltas":{"atMost":"100%"}"# : ""
    return """
      {"format":1,"name":"\(name)",
       "org":{"url":{"env":"ATTACHE_ORG_URL"},"concurrency":\(setup.concurrency),"login":{"method":"jwt",
         "clientId":{"env":"ATTACHE_CLIENT_ID"},"key":{"env":"ATTACHE_JWT_KEY"},
         "integrationUser":"attache@example.com"}},
       "users":{"list":["ada@example.com","ben@example.com"]},
       "stores":[{"schema":"userstore.json","syncs":"usersyncs.json"}],
       "platforms":["ios","android"],
       "prime":{"ghosts":{"everyRuns":1}},
       "pack":{"format":"zip"\(signed)},
       "inbox":{"settleSeconds":0},
       "reconcile":{"unansweredWaitSeconds":\(setup.quietSeconds),"conditionalUpdates":\(setup.strict)
         \(correlation)\(across),"returnOpenEdits":\(setup.carries)},
       "report":{"formats":["json"]},
       "limits":{"jobs":1,"freeDiskMiB":1}}
      """
  }

  private static func schema(_ setup: HistorySetup) -> String {
    let soups = Soup.all.map { soup in
      // A family's children are found by their parent.
      let more = setup.trees && soup.name == "contacts" ? ["AccountId"] : []
      let indexes =
        (["Id", "__local__"] + more).map { #"{"path":"\#($0)","type":"string"}"# }
        + [#"{"path":"__sync_id__","type":"integer"}"#]
      return #"{"soupName":"\#(soup.name)","indexes":[\#(indexes.joined(separator: ","))]}"#
    }
    return #"{"soups":[\#(soups.joined(separator: ","))]}"#
  }

  private static func syncs(_ setup: HistorySetup) -> String {
    let mode = setup.overwrites ? "OVERWRITE" : "LEAVE_IF_CHANGED"
    var syncs: [String] = []
    for soup in Soup.all {
      let isUpserted = soup.name == "visits" && setup.visitKey == .external
      let extra = isUpserted ? ["External_Id__c"] : soup.name == "contacts" ? ["AccountId"] : []
      let fields = soup.fields(upserts: isUpserted).joined(separator: ", ")
      let limit = setup.cuts && soup.name == "accounts" ? " ORDER BY Name LIMIT \(cut)" : ""
      let external = isUpserted ? #","externalIdFieldName":"External_Id__c""# : ""
      let sent = soup.sent(setup)
      let (creates, updates) = ([soup.marker] + soup.listed + extra, sent)
      let up =
        setup.trees && soup.name == "accounts"
        ? tree(creates, updates, setup)
        : """
        {"createFieldlist":\(list(creates)),
           "updateFieldlist":\(list(updates))\(external)}
        """
      syncs.append(
        """
        {"syncName":"\(soup.name)Down","syncType":"syncDown","soupName":"\(soup.name)",
         "target":{"type":"soql","query":"SELECT Id, \(fields) FROM \(soup.sobject)\(limit)"},
         "options":{"mergeMode":"OVERWRITE"}}
        """)
      // A family's sync up sends its children.
      if setup.trees, soup.name == "contacts" { continue }
      syncs.append(
        """
        {"syncName":"\(soup.name)Up","syncType":"syncUp","soupName":"\(soup.name)",
         "target":\(up),
         "options":{"fieldlist":\(list(sent)),"mergeMode":"\(mode)"}}
        """)
    }
    return "{\"syncs\":[\(syncs.joined(separator: ",\n"))]}"
  }

  private static func list(_ names: [String]) -> String {
    "[" + names.map { "\"\($0)\"" }.joined(separator: ",") + "]"
  }

  /// The target of a sync up of accounts with their contacts.
  private static func tree(
    _ creates: [String], _ updates: [String], _ setup: HistorySetup
  ) -> String {
    let (name, children) = ("ParentChildrenSyncUpTarget", Soup.all[3])
    return """
      {"iOSImpl":"SF\(name)","androidImpl":"com.salesforce.androidsdk.mobilesync.target.\(name)",
       "parent":{"sobjectType":"Account","soupName":"accounts"},
       "children":{"sobjectType":"Contact","sobjectTypePlural":"Contacts",
         "soupName":"\(children.name)","parentIdFieldName":"AccountId"},
       "createFieldlist":\(list(creates)),"updateFieldlist":\(list(updates)),
       "childrenCreateFieldlist":\(list([children.marker] + children.listed + ["AccountId"])),
       "childrenUpdateFieldlist":\(list(children.sent(setup))),
       "relationshipType":"MASTER_DETAIL"}
      """
  }
}
