/// Store and sync files that are broken.
extension BrokenConfiguration {
  static let files: [BrokenConfiguration] = [
    BrokenConfiguration(
      "a query with a variable that has no value",
      [.edit(.syncs, #"FROM Contact""#, #"FROM Contact WHERE Region__c = :region""#)],
      #"""
      pipeline.json:18:17: stores[0].prime[0]: the query of "down" in syncs.json names :region, which has no value; add "variables": {"region": "…"} to the section prime
      """#),
    BrokenConfiguration(
      "a store file without soups",
      [.whole(.store, "{}")],
      #"""
      store.json:1:1: a store file needs "soups"; add "soups": [ … ]
      """#),
    BrokenConfiguration(
      "a look-alike letter",
      [.edit(.store, #""soupName""#, #""soupÑame""#)],
      #"""
      store.json:4:7: soups[0].soupÑame: a soup has no key "soupÑame" ("Ñ" is not the letter "N"); did you mean "soupName"?
      """#),
    BrokenConfiguration(
      "an index type that is not known",
      [.edit(.store, #""type": "integer""#, #""type": "int""#)],
      #"""
      store.json:9:41: soups[0].indexes[3].type: "int" is not an index type; write one of "string", "integer", "floating", "full_text", "json1"
      """#),
    BrokenConfiguration(
      "an index without a type",
      [.edit(.store, #"{"path": "LastName", "type": "string"}"#, #"{"path": "LastName"}"#)],
      #"""
      store.json:7:9: soups[0].indexes[1]: an index needs "type"; add "type": "string"
      """#),
    BrokenConfiguration(
      "a path that is indexed twice",
      [.edit(.store, #""path": "LastName""#, #""path": "Id""#)],
      #"""
      store.json:7:18: soups[0].indexes[1].path: "Id" is indexed twice; iOS would use the last, Android the first; remove this index or the one on line 6
      """#),
    BrokenConfiguration(
      "__local__ that is not a string",
      [
        .edit(
          .store, #"{"path": "__local__", "type": "string"}"#,
          #"{"path": "__local__", "type": "json1"}"#)
      ],
      #"""
      store.json:8:39: soups[0].indexes[2].type: the index on "__local__": it has to be a string: as json1 no SDK finds edits by it; write "string"
      """#),
    BrokenConfiguration(
      "__local__ that is searched by word",
      [
        .edit(
          .store, #"{"path": "__local__", "type": "string"}"#,
          #"{"path": "__local__", "type": "full_text"}"#)
      ],
      #"""
      store.json:8:39: soups[0].indexes[2].type: the index on "__local__": it has to be a string: nobody looks for edits by the words of a search; write "string"
      """#),
    BrokenConfiguration(
      "__local__ that is a number",
      [
        .edit(
          .store, #"{"path": "__local__", "type": "string"}"#,
          #"{"path": "__local__", "type": "integer"}"#)
      ],
      #"""
      store.json:8:39: soups[0].indexes[2].type: the index on "__local__": it has to be a string: as a number only iOS finds edits by it; write "string"
      """#),
    BrokenConfiguration(
      "a soup without an index on Id",
      [.edit(.store, #""path": "Id""#, #""path": "Email""#)],
      #"""
      syncs.json:6:19: syncs[0].soupName: the soup "contacts" has no index on Id: records are looked up by it; add {"path": "Id", "type": "string"} to its indexes in store.json
      """#),
    BrokenConfiguration(
      "a soup name that Smart SQL cannot hold",
      [
        .edit(.store, #""contacts""#, #""con{tacts""#),
        .edit(.syncs, #""contacts""#, #""con{tacts""#),
      ],
      #"""
      store.json:4:19: soups[0].soupName: the soup name "con{tacts" cannot be used in Smart SQL, which writes {soup:path}; leave out "{"
      """#),
    BrokenConfiguration(
      "a soup of our own",
      [.edit(.store, #""contacts""#, #""syncs_soup""#)],
      #"""
      store.json:4:19: soups[0].soupName: the soup name "syncs_soup" is taken: Mobile Sync registers it; choose another name
      syncs.json:6:19: syncs[0].soupName: the sync "down" uses the soup "contacts", which is not in store.json; add the soup to store.json, or name one of "syncs_soup"
      syncs.json:16:19: syncs[1].soupName: the sync "up" uses the soup "contacts", which is not in store.json; add the soup to store.json, or name one of "syncs_soup"
      """#),
    BrokenConfiguration(
      "an index that iOS leaves empty",
      [.edit(.store, #""path": "LastName""#, #""path": "_soupEntryId""#)],
      #"""
      store.json:7:18: soups[0].indexes[1].path: _soupEntryId needs no index: Smart SQL knows it, and iOS would leave the index empty; remove this index
      """#),
    BrokenConfiguration(
      "a soup without indexes",
      [.whole(.store, #"{"soups": [{"soupName": "contacts", "indexes": []}]}"#)],
      #"""
      store.json:1:48: soups[0].indexes: both SDKs refuse a soup without an index; add at least {"path": "Id", "type": "string"}
      syncs.json:6:19: syncs[0].soupName: the soup "contacts" has no index on Id: records are looked up by it; add {"path": "Id", "type": "string"} to its indexes in store.json
      syncs.json:6:19: syncs[0].soupName: the soup "contacts" has no index on __local__: a device finds its edits by it; add {"path": "__local__", "type": "string"} to its indexes in store.json
      """#),
    BrokenConfiguration(
      "a sync whose soup is not in the store file",
      [
        .edit(
          .syncs, "\"soupName\": \"contacts\",\n      \"target\": {\n",
          "\"soupName\": \"contact\",\n      \"target\": {\n")
      ],
      #"""
      syncs.json:6:19: syncs[0].soupName: the sync "down" uses the soup "contact", which is not in store.json; did you mean "contacts"?
      """#),
    BrokenConfiguration(
      "a merge mode in small letters",
      [.edit(.syncs, #""OVERWRITE""#, #""overwrite""#)],
      #"""
      syncs.json:11:32: syncs[0].options.mergeMode: "overwrite" is not a merge mode; did you mean "OVERWRITE"? It is one of "OVERWRITE", "LEAVE_IF_CHANGED"
      """#),
    BrokenConfiguration(
      "a sync up without a merge mode",
      [.edit(.syncs, #""mergeMode": "LEAVE_IF_CHANGED", "#, "")],
      #"""
      syncs.json:18:18: syncs[1].options: a sync up without "mergeMode" is refused by Android, and crashes iOS; add "mergeMode": "LEAVE_IF_CHANGED", which never goes over what others have changed, or "OVERWRITE"
      """#),
    BrokenConfiguration(
      "a class of a sync up for one of two platforms",
      [
        .edit(.pipeline, #""platforms": ["ios"]"#, #""platforms": ["ios", "android"]"#),
        .edit(
          .syncs, #"{"createFieldlist": ["LastName", "Email"]}"#,
          #"{"createFieldlist": ["Email"], "iOSImpl": "SFBatchSyncUpTarget"}"#),
      ],
      #"""
      syncs.json:17:59: syncs[1].target.iOSImpl: this class is for iOS alone: Android sends collections in its place; name the class of Android too, in "androidImpl"
      """#),
    BrokenConfiguration(
      "a class of a sync up for the other platform",
      [
        .edit(
          .syncs, #"{"createFieldlist": ["LastName", "Email"]}"#,
          #"{"createFieldlist": ["Email"], "androidImpl": "com.example.SyncUpTarget"}"#)
      ],
      #"""
      syncs.json:17:63: syncs[1].target.androidImpl: this class is for Android alone: iOS sends collections in its place; name the class of iOS too, in "iOSImpl"
      """#),
    BrokenConfiguration(
      "a layout without a mode",
      [
        .edit(.pipeline, #""platforms": ["ios"]"#, #""platforms": ["android"]"#),
        .edit(
          .syncs, "\"type\": \"soql\",\n        \"query\": \"SELECT Id, LastName FROM Contact\"",
          "\"type\": \"layout\", \"sobjectType\": \"Contact\", \"layoutType\": \"Full\""),
      ],
      #"""
      syncs.json:7:17: syncs[0].target: a layout target without "mode" crashes the app on Android; add "mode": "Create" or "Edit" or "View"
      """#),
    BrokenConfiguration(
      "a limit that Android loses",
      [.edit(.syncs, "LastName FROM Contact", "LastName FROM Contact LIMIT 10 FOR VIEW")],
      #"""
      syncs.json:9:18: syncs[0].target.query: Android's SDK finds no number in the LIMIT before FOR VIEW, and fetches without it; leave out FOR VIEW, or the LIMIT
      """#),
    BrokenConfiguration(
      "a sync type that is not known",
      [.edit(.syncs, #""syncDown""#, #""syncdown""#)],
      #"""
      syncs.json:5:19: syncs[0].syncType: "syncdown" is not a sync type; did you mean "syncDown"? It is one of "syncDown", "syncUp"
      """#),
    BrokenConfiguration(
      "a target type that is not known",
      [.edit(.syncs, #""soql""#, #""sql""#)],
      #"""
      syncs.json:8:17: syncs[0].target.type: "sql" is not a type of target; did you mean "soql"? It is one of "soql", "sosl", "mru", "refresh", "layout", "metadata", "briefcase", "custom", "parent_children"
      """#),
    BrokenConfiguration(
      "SOSL under the name of SOQL",
      [.edit(.syncs, "SELECT Id, LastName FROM Contact", "FIND {Ada} RETURNING Contact(Id)")],
      #"""
      syncs.json:9:18: syncs[0].target.query: a SOQL query begins with SELECT; this is SOSL: write "type": "sosl"
      """#),
    BrokenConfiguration(
      "a field list that is a text",
      [.edit(.syncs, #"["LastName", "Email"]"#, #""LastName, Email""#)],
      #"""
      syncs.json:17:37: syncs[1].target.createFieldlist: this must be an array of strings, not a string; write ["LastName","Email"]
      """#),
    BrokenConfiguration(
      "a field list in the wrong case",
      [.edit(.syncs, #""createFieldlist""#, #""createFieldList""#)],
      #"""
      syncs.json:17:18: syncs[1].target.createFieldList: the target of a sync up has no key "createFieldList"; did you mean "createFieldlist"?
      """#),
    BrokenConfiguration(
      "a sync up without any fields",
      [
        .edit(.syncs, #", "fieldlist": ["LastName"]"#, ""),
        .edit(.syncs, #""createFieldlist": ["LastName", "Email"]"#, ""),
      ],
      #"""
      syncs.json:18:18: syncs[1].options: this sync up names no fields for its creates and updates; add "fieldlist": ["…"] here, or "createFieldlist" or "updateFieldlist" to the target
      """#),
    BrokenConfiguration(
      "two syncs of one name",
      [.edit(.syncs, #""syncName": "up""#, #""syncName": "down""#)],
      #"""
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "down"
      syncs.json:14:19: syncs[1].syncName: the sync "down" is there twice; the SDK keeps only the first; rename it, or remove the one on line 4
      """#),
    BrokenConfiguration(
      "a raw line break in a string",
      [
        .edit(
          .syncs, "SELECT Id, LastName FROM Contact", "SELECT Id, LastName\n          FROM Contact")
      ],
      #"""
      syncs.json:9:38: a line break stands inside a string; join the lines: "SELECT Id, LastName FROM Contact"
      """#),
    BrokenConfiguration(
      "a briefcase with two infos for one soup",
      [
        .edit(
          .syncs, "\"type\": \"soql\",\n        \"query\": \"SELECT Id, LastName FROM Contact\"",
          "\"type\": \"briefcase\",\n        \"infos\": [\n          {\"sobjectType\": \"Account\", \"fieldlist\": [\"Name\"], \"soupName\": \"contacts\"},\n          {\"sobjectType\": \"Contact\", \"fieldlist\": [\"LastName\"], \"soupName\": \"contacts\"}\n        ]"
        )
      ],
      #"""
      syncs.json:11:77: syncs[0].target.infos[1].soupName: two infos fill the soup "contacts"; a device that cleans ghosts of one type deletes the other's records; give each its soup; the other is on line 10
      """#),
    BrokenConfiguration(
      "a sync that is not in its file",
      [.sample(.syncs, "broken-syncup.json")],
      #"""
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; remove it: there is none
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "syncUpContacts"
      syncs.json:1:1: this is one sync, not a file of syncs; wrap it: {"syncs": [ … ]}
      syncs.json:2:1: the closing quote after syncName is missing; write "syncName":
      syncs.json:2:12: these are typographic quotes (“ and ”); write "syncUpContacts"
      syncs.json:3:1: these are typographic quotes (“ and ”); write "syncType"
      syncs.json:3:13: these are typographic quotes (“ and ”); write "syncUp"
      syncs.json:4:1: these are typographic quotes (“ and ”); write "soupÑame"
      syncs.json:4:1: soupÑame: a sync has no key "soupÑame" ("Ñ" is not the letter "N"); did you mean "soupName"?
      syncs.json:4:13: these are typographic quotes (“ and ”); write "contacts"
      syncs.json:5:1: these are typographic quotes (“ and ”); write "target"
      syncs.json:6:2: these are typographic quotes (“ and ”); write "createFieldlist"
      syncs.json:7:3: these are typographic quotes (“ and ”); write "FirstName"
      syncs.json:7:16: these are typographic quotes (“ and ”); write "LastName"
      syncs.json:7:28: these are typographic quotes (“ and ”); write "Title"
      syncs.json:7:37: these are typographic quotes (“ and ”); write "Email"
      syncs.json:10:1: these are typographic quotes (“ and ”); write "options"
      syncs.json:11:2: these are typographic quotes (“ and ”); write "fieldlist"
      syncs.json:12:3: these are typographic quotes (“ and ”); write "FirstName"
      syncs.json:12:16: these are typographic quotes (“ and ”); write "LastName"
      syncs.json:12:28: these are typographic quotes (“ and ”); write "Title"
      syncs.json:12:37: these are typographic quotes (“ and ”); write "Email"
      syncs.json:14:2: these are typographic quotes (“ and ”); write "mergeMode"
      syncs.json:14:15: these are typographic quotes (“ and ”); write "LEAVE_IF_CHANGED"
      """#),
    BrokenConfiguration(
      "the documentation's line break",
      [.sample(.syncs, "broken-accounts.usersyncs.json")],
      #"""
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; write "sync1"
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "sync2"
      syncs.json:6:19: syncs[0].soupName: the sync "sync1" uses the soup "accounts", which is not in store.json; add the soup to store.json, or name one of "contacts"
      syncs.json:7:76: a line break stands inside a string; join the lines: "SELECT Id, Name, LastModifiedDate FROM Account"
      syncs.json:14:19: syncs[1].soupName: the sync "sync2" uses the soup "accounts", which is not in store.json; add the soup to store.json, or name one of "contacts"
      """#),
    BrokenConfiguration(
      "the documentation's second line break",
      [.sample(.syncs, "broken-contacts.usersyncs.json")],
      #"""
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; write "syncDownContacts"
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "syncUpContacts"
      syncs.json:8:64: a line break stands inside a string; join the lines: "SELECT FirstName, LastName, Title, MobilePhone, Email, Department, HomePhone FROM Contact LIMIT 10000"
      """#),
    BrokenConfiguration(
      "the documentation's typographic quotes",
      [.sample(.syncs, "broken-briefcase.usersyncs.json")],
      #"""
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; write "syncDownContacts"
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; remove it: there is none
      syncs.json:16:25: syncs[0].target.infos[0].soupName: the sync "syncDownContacts" uses the soup "accounts", which is not in store.json; add the soup to store.json, or name one of "contacts"
      syncs.json:21:15: these are typographic quotes (“ and ”); write "FistName"
      syncs.json:21:39: these are typographic quotes (“ and ”); write "Title"
      syncs.json:21:48: these are typographic quotes (“ and ”); write "Email"
      """#),
  ]
}
