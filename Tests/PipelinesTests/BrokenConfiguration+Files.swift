/// Broken store and sync files.
extension BrokenConfiguration {
  static let files = cases(
    #"""
    a query with a variable that has no value
      pipeline.json:18:17: stores[0].prime[0]: the query of "down" in syncs.json uses :region, which has no value; add "variables": {"region": "…"} to the section prime
      syncs: FROM Contact" => FROM Contact WHERE Region__c = :region"
    a store file without soups
      store.json:1:1: a store file needs "soups"; add "soups": [ … ]
      store = {}
    a look-alike letter
      store.json:4:7: soups[0].soupÑame: a soup has no key "soupÑame" ("Ñ" is not the letter "N"); did you mean "soupName"?
      store: "soupName" => "soupÑame"
    an index type that is not known
      store.json:9:41: soups[0].indexes[3].type: "int" is not an index type; write one of "string", "integer", "floating", "full_text", "json1"
      store: "type": "integer" => "type": "int"
    an index without a type
      store.json:7:9: soups[0].indexes[1]: an index needs "type"; add "type": "string"
      store: {"path": "LastName", "type": "string"} => {"path": "LastName"}
    a path that is indexed twice
      store.json:7:18: soups[0].indexes[1].path: "Id" is indexed twice; iOS would use the last, Android the first; remove this index or the one on line 6
      store: "path": "LastName" => "path": "Id"
    __local__ that is not a string
      store.json:8:39: soups[0].indexes[2].type: the index on "__local__": it must be a string: with json1 no SDK finds edits; write "string"
      store: {"path": "__local__", "type": "string"} => {"path": "__local__", "type": "json1"}
    __local__ that is searched by word
      store.json:8:39: soups[0].indexes[2].type: the index on "__local__": it must be a string: no SDK uses full-text search to find edits; write "string"
      store: {"path": "__local__", "type": "string"} => {"path": "__local__", "type": "full_text"}
    __local__ that is a number
      store.json:8:39: soups[0].indexes[2].type: the index on "__local__": it must be a string: a number index only finds edits on iOS; write "string"
      store: {"path": "__local__", "type": "string"} => {"path": "__local__", "type": "integer"}
    a soup without an index on Id
      syncs.json:6:19: syncs[0].soupName: the soup "contacts" has no index on Id: records are looked up by this path; add {"path": "Id", "type": "string"} to its indexes in store.json
      store: "path": "Id" => "path": "Email"
    a soup name that Smart SQL cannot hold
      store.json:4:19: soups[0].soupName: the soup name "con{tacts" cannot be used in Smart SQL, which writes {soup:path}; remove "{"
      store: "contacts" => "con{tacts"
      syncs: "contacts" => "con{tacts"
    a reserved soup
      store.json:4:19: soups[0].soupName: the soup name "syncs_soup" is reserved: Mobile Sync registers it; choose another name
      syncs.json:6:19: syncs[0].soupName: the sync "down" uses the soup "contacts", which is not in store.json; add the soup to store.json, or name one of "syncs_soup"
      syncs.json:16:19: syncs[1].soupName: the sync "up" uses the soup "contacts", which is not in store.json; add the soup to store.json, or name one of "syncs_soup"
      store: "contacts" => "syncs_soup"
    an index that iOS leaves empty
      store.json:7:18: soups[0].indexes[1].path: _soupEntryId needs no index: Smart SQL knows it, and iOS would leave the index empty; remove this index
      store: "path": "LastName" => "path": "_soupEntryId"
    a soup without indexes
      store.json:1:48: soups[0].indexes: both SDKs reject a soup without an index; add at least {"path": "Id", "type": "string"}
      syncs.json:6:19: syncs[0].soupName: the soup "contacts" has no index on Id: records are looked up by this path; add {"path": "Id", "type": "string"} to its indexes in store.json
      syncs.json:6:19: syncs[0].soupName: the soup "contacts" has no index on __local__: a device finds its edits by this path; add {"path": "__local__", "type": "string"} to its indexes in store.json
      store = {"soups": [{"soupName": "contacts", "indexes": []}]}
    a sync whose soup is not in the store file
      syncs.json:6:19: syncs[0].soupName: the sync "down" uses the soup "contact", which is not in store.json; did you mean "contacts"?
      syncs: "soupName": "contacts",\n      "target": {\n => "soupName": "contact",\n      "target": {\n
    a merge mode in small letters
      syncs.json:11:32: syncs[0].options.mergeMode: "overwrite" is not a merge mode; did you mean "OVERWRITE"? It is one of "OVERWRITE", "LEAVE_IF_CHANGED"
      syncs: "OVERWRITE" => "overwrite"
    a sync up without a merge mode
      syncs.json:18:18: syncs[1].options: Android rejects a sync up without "mergeMode", and iOS crashes; add "mergeMode": "LEAVE_IF_CHANGED", which never overwrites what others have changed, or "OVERWRITE"
      syncs: "mergeMode": "LEAVE_IF_CHANGED", "fieldlist" => "fieldlist"
    a class of a sync up for one of two platforms
      syncs.json:17:59: syncs[1].target.iOSImpl: this class is only for iOS: Android sends collections instead; also name the class for Android, in "androidImpl"
      pipeline: "platforms": ["ios"] => "platforms": ["ios", "android"]
      syncs: {"createFieldlist": ["LastName", "Email"]} => {"createFieldlist": ["Email"], "iOSImpl": "SFBatchSyncUpTarget"}
    a class of a sync up for the other platform
      syncs.json:17:63: syncs[1].target.androidImpl: this class is only for Android: iOS sends collections instead; also name the class for iOS, in "iOSImpl"
      syncs: {"createFieldlist": ["LastName", "Email"]} => {"createFieldlist": ["Email"], "androidImpl": "com.example.SyncUpTarget"}
    a layout without a mode
      syncs.json:7:17: syncs[0].target: Android crashes on a layout target without "mode"; add "mode": "Create" or "Edit" or "View"
      pipeline: "platforms": ["ios"] => "platforms": ["android"]
      syncs: "type": "soql",\n        "query": "SELECT Id, LastName FROM Contact" => "type": "layout", "sobjectType": "Contact", "layoutType": "Full"
    a limit that Android loses
      syncs.json:9:18: syncs[0].target.query: Android's SDK finds no number in the LIMIT before FOR VIEW, and fetches without it; remove FOR VIEW, or the LIMIT
      syncs: LastName FROM Contact => LastName FROM Contact LIMIT 10 FOR VIEW
    a sync type that is not known
      syncs.json:5:19: syncs[0].syncType: "syncdown" is not a sync type; did you mean "syncDown"? It is one of "syncDown", "syncUp"
      syncs: "syncDown" => "syncdown"
    a target type that is not known
      syncs.json:8:17: syncs[0].target.type: "sql" is not a target type; did you mean "soql"? It is one of "soql", "sosl", "mru", "refresh", "layout", "metadata", "briefcase", "custom", "parent_children"
      syncs: "soql" => "sql"
    SOSL under the name of SOQL
      syncs.json:9:18: syncs[0].target.query: a SOQL query starts with SELECT; this is SOSL: write "type": "sosl"
      syncs: SELECT Id, LastName FROM Contact => FIND {Ada} RETURNING Contact(Id)
    a field list that is a text
      syncs.json:17:37: syncs[1].target.createFieldlist: this must be an array of strings, not a string; write ["LastName","Email"]
      syncs: ["LastName", "Email"] => "LastName, Email"
    a field list in the wrong case
      syncs.json:17:18: syncs[1].target.createFieldList: the target of a sync up has no key "createFieldList"; did you mean "createFieldlist"?
      syncs: "createFieldlist" => "createFieldList"
    a sync up without any fields
      syncs.json:18:18: syncs[1].options: this sync up names no fields for its creates and updates; add "fieldlist": ["…"] here, or "createFieldlist" or "updateFieldlist" to the target
      syncs - , "fieldlist": ["LastName"]
      syncs - "createFieldlist": ["LastName", "Email"]
    two syncs of one name
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "down"
      syncs.json:14:19: syncs[1].syncName: the sync "down" is defined twice; the SDK keeps only the first; rename it, or remove the one on line 4
      syncs: "syncName": "up" => "syncName": "down"
    a raw line break in a string
      syncs.json:9:38: a string contains a line break; join the lines: "SELECT Id, LastName FROM Contact"
      syncs: SELECT Id, LastName FROM Contact => SELECT Id, LastName\n          FROM Contact
    a briefcase with two infos for one soup
      syncs.json:11:77: syncs[0].target.infos[1].soupName: two infos fill the soup "contacts"; a device that cleans ghosts of one type deletes the other's records; use a separate soup for each; the other is on line 10
      syncs: "type": "soql",\n        "query": "SELECT Id, LastName FROM Contact" => "type": "briefcase",\n        "infos": [\n          {"sobjectType": "Account", "fieldlist": ["Name"], "soupName": "contacts"},\n          {"sobjectType": "Contact", "fieldlist": ["LastName"], "soupName": "contacts"}\n        ]
    a sync that is not in its file
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; remove it: none is defined
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "syncUpContacts"
      syncs.json:1:1: this is a single sync, not a file of syncs; wrap it: {"syncs": [ … ]}
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
      syncs < broken-syncup.json
    the documentation's line break
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; write "sync1"
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "sync2"
      syncs.json:6:19: syncs[0].soupName: the sync "sync1" uses the soup "accounts", which is not in store.json; add the soup to store.json, or name one of "contacts"
      syncs.json:7:76: a string contains a line break; join the lines: "SELECT Id, Name, LastModifiedDate FROM Account"
      syncs.json:14:19: syncs[1].soupName: the sync "sync2" uses the soup "accounts", which is not in store.json; add the soup to store.json, or name one of "contacts"
      syncs < broken-accounts.usersyncs.json
    the documentation's second line break
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; write "syncDownContacts"
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; write "syncUpContacts"
      syncs.json:8:64: a string contains a line break; join the lines: "SELECT FirstName, LastName, Title, MobilePhone, Email, Department, HomePhone FROM Contact LIMIT 10000"
      syncs < broken-contacts.usersyncs.json
    the documentation's typographic quotes
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "down" in syncs.json; write "syncDownContacts"
      pipeline.json:19:21: stores[0].reconcile[0]: there is no sync "up" in syncs.json; remove it: none is defined
      syncs.json:16:25: syncs[0].target.infos[0].soupName: the sync "syncDownContacts" uses the soup "accounts", which is not in store.json; add the soup to store.json, or name one of "contacts"
      syncs.json:21:15: these are typographic quotes (“ and ”); write "FistName"
      syncs.json:21:39: these are typographic quotes (“ and ”); write "Title"
      syncs.json:21:48: these are typographic quotes (“ and ”); write "Email"
      syncs < broken-briefcase.usersyncs.json
    """#)
}
