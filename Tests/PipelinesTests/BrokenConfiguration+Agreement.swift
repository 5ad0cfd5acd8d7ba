/// Pipeline files whose logins, users and stores are inconsistent.
extension BrokenConfiguration {
  static let agreement = cases(
    #"""
    a secret in the file
      pipeline.json:9:14: org.login.key: a secret cannot be written in the file; write {"env": "NAME"}, {"file": "PATH"}, {"credential": "NAME"} or {"command": ["PROGRAM", "ARGUMENT"]}
      pipeline: {"file": "jwt.key"} => "-----BEGIN PRIVATE KEY-----"
    a secret with two places
      pipeline.json:9:14: org.login.key: this names two sources for one secret; write {"env": "NAME"}, {"file": "PATH"}, {"credential": "NAME"} or {"command": ["PROGRAM", "ARGUMENT"]}
      pipeline: {"file": "jwt.key"} => {"file": "jwt.key", "env": "KEY"}
    a command for a shell
      pipeline.json:9:26: org.login.key.command: no shell runs the command, so each argument is a separate string; write ["pass","show","jwt"]
      pipeline: {"file": "jwt.key"} => {"command": ["pass show jwt"]}
    a login over plain http
      pipeline.json:5:12: org.url: a login over plain http sends its secrets unencrypted; write https://example.my.salesforce.com
      pipeline: https://example => http://example
    an org id that is none
      pipeline.json:6:11: org.id: "005000000000001AAA" is not the ID of an org; write its 18 characters, which start with 00D, or remove it: the first run learns it
      pipeline: "login" => "id": "005000000000001AAA",\n    "login"
    an API version without its fraction
      pipeline.json:6:19: org.apiVersion: "v66" is not an API version; write "66.0"
      pipeline: "login" => "apiVersion": "v66",\n    "login"
    an API version without what a sync needs
      pipeline.json:6:19: org.apiVersion: briefcases need API version 57.0; write "57.0" or later, or remove it to use the org's newest version
      pipeline: "login" => "apiVersion": "56.0",\n    "login"
      syncs: "type": "soql",\n        "query": "SELECT Id, LastName FROM Contact" => "type": "briefcase",\n        "infos": [{"sobjectType": "Contact", "fieldlist": ["LastName"], "soupName": "contacts"}]
    a login method that is not known
      pipeline.json:7:17: org.login.method: "JWT" is not a login method; did you mean "jwt"? It is one of "jwt", "refreshToken", "clientCredentials", "accessToken", "sf"
      pipeline: "jwt" => "JWT"
    a login without its key
      pipeline.json:6:14: org.login: a login by jwt needs "key"; add "key": {"file": "…"}
      pipeline -       "key": {"file": "jwt.key"},\n
    a login with what it has no use for
      pipeline.json:10:7: org.login.clientSecret: a login by jwt does not use "clientSecret"; remove it, or choose another method
      pipeline: "integrationUser" => "clientSecret": {"env": "S"},\n      "integrationUser"
    one login for several users of a briefcase
      pipeline.json:7:17: org.login.method: a login by clientCredentials can only be one user, but "down" is a briefcase, which the org fills separately for each user; use "jwt" or a table of refresh tokens to log in as each user, or name one user
      pipeline: "jwt" => "clientCredentials"
      pipeline: "key": {"file": "jwt.key"} => "clientSecret": {"env": "S"}
      syncs: "type": "soql",\n        "query": "SELECT Id, LastName FROM Contact" => "type": "briefcase",\n        "infos": [{"sobjectType": "Contact", "fieldlist": ["LastName"], "soupName": "contacts"}]
    one login for several users
      pipeline.json:7:17: org.login.method: a login by accessToken can only be one user, but there are snapshots of several; use "jwt" or a table of refresh tokens, or state that all users share one view: "prime": {"fetchAs": "integration"}
      pipeline.json:7:17: org.login.method: a login by accessToken can only be one user, but there are edits of several; use "jwt" or a table of refresh tokens, or state who sends: "reconcile": {"sendAs": "integration"}
      pipeline: "jwt" => "accessToken"
      pipeline -       "clientId": "CLIENT",\n
      pipeline: "key": {"file": "jwt.key"} => "accessToken": {"env": "T"}
    users from nowhere
      pipeline.json:13:12: users: this does not name the source of the users; add one of "list", "csv", "query", "self"
      pipeline: {"list": ["ada@example.com", "ben@example.com"]} => {}
    users from two places
      pipeline.json:13:42: users.self: users has two sources; keep one of "list", "csv", "query", "self"
      pipeline: {"list": ["ada@example.com", "ben@example.com"]} => {"list": ["ada@example.com"], "self": true}
    a list that is a text
      pipeline.json:13:21: users.list: this must be an array of strings, not a string; write ["ada@example.com","ben@example.com"]
      pipeline: ["ada@example.com", "ben@example.com"] => "ada@example.com, ben@example.com"
    a user who is listed twice
      pipeline.json:13:41: users.list[1]: "Ada@example.com" is listed twice; remove one
      pipeline: "ben@example.com" => "Ada@example.com"
    a query of users without their names
      pipeline.json:13:22: users.query: the query of users does not select Id and Username; write SELECT Id, Username FROM …
      pipeline: "list": ["ada@example.com", "ben@example.com"] => "query": "SELECT Id FROM User"
    a query without an integration user
      pipeline.json:12:22: users.query: the query of users needs the integration user; add "integrationUser": "attache@example.com" to org.login
      pipeline: "list": ["ada@example.com", "ben@example.com"] => "query": "SELECT Id, Username FROM User"
      pipeline - ,\n      "integrationUser": "attache@example.com"
    a store file that is not there
      pipeline.json:16:17: stores[0].schema: userstore.json cannot be read: No such file or directory; paths are relative to the pipeline file's directory
      pipeline: "store.json" => "userstore.json"
    a sync that is not in the file
      pipeline.json:18:17: stores[0].prime[0]: there is no sync "dwon" in syncs.json; did you mean "down"?
      pipeline: ["down"] => ["dwon"]
    a sync up among those to prime
      pipeline.json:18:25: stores[0].prime[1]: "up" is a sync up; move it to "reconcile"
      pipeline: ["down"] => ["down", "up"]
    a global store whose edits no user can send
      pipeline.json:20:20: stores[0].reconcile: a global store belongs to no user, so no user can send its edits; write "reconcile": [], or "sendAs": "integration" in the section reconcile
      pipeline: "schema" => "scope": "global",\n      "schema"
    a global store whose edits anybody could have sent
      pipeline.json:15:5: stores[0]: a global store is in every bundle, and its edits would be sent with the permissions of the integration user; name the sync ups whose edits are to be sent in "reconcile", or write "reconcile": []
      pipeline: "schema" => "scope": "global",\n      "schema"
      pipeline: "reconcile": ["up"] => "storeName": "default"
      pipeline + "reconcile": {"sendAs": "integration"}
    what was issued kept for fewer days than a bundle is good
      pipeline.json:23:32: keep.issuedRecordDays: a bundle is valid for 35 days, but its issued records are kept for 30; write 35 or more in keep.issuedRecordDays, or fewer days in pack.expiresAfterDays
      pipeline.json:23:48: keep.runsDays: issued records are kept for 30 days, but the values of resolved edits for 20; write 30 or more in keep.runsDays
      pipeline + "keep": {"issuedRecordDays": 30, "runsDays": 20}
    a metrics file that no program reads
      pipeline.json:23:29: report.metricsFile: "attache.prom" is not a file that node exporter reads; write an absolute path that ends with .prom
      pipeline + "report": {"metricsFile": "attache.prom"}
    two stores of one name
      pipeline.json:22:5: stores[1]: two stores of scope user are named "default"; use another "storeName" than the one on line 15
      pipeline:   ],\n  "platforms" =>   ,\n    {"storeName": "default", "schema": "store.json", "syncs": "syncs.json"}\n  ],\n  "platforms"
    a store that is named as the SDK names its default one
      pipeline.json:22:5: stores[1]: on ios the stores "default" and "defaultStore" are one file: the SDK's default store is named "defaultStore" there; use another "storeName" than the one on line 15
      pipeline:   ],\n  "platforms" =>   ,\n    {"storeName": "defaultStore", "schema": "store.json", "syncs": "syncs.json"}\n  ],\n  "platforms"
    a store that is named as another platform's SDK names its default one
      pipeline.json:22:5: stores[1]: on android the stores "default" and "smartstore" are one file: the SDK's default store is named "smartstore" there; use another "storeName" than the one on line 15
      pipeline:   ],\n  "platforms" =>   ,\n    {"storeName": "smartstore", "schema": "store.json", "syncs": "syncs.json"}\n  ],\n  "platforms"
      pipeline: ["ios"] => ["ios", "android"]
    users with a space around their names
      pipeline.json:13:22: users.list[0]: " ada@example.com" starts or ends with a space, which no username does; write "ada@example.com"
      pipeline.json:13:73: users.except[0]: "ben@example.com " starts or ends with a space, which no username does; write "ben@example.com"
      pipeline: ["ada@example.com", "ben@example.com"] => [" ada@example.com", "ben@example.com"], "except": ["ben@example.com "]
    a store name with a control character
      pipeline.json:19:41: stores[0].storeName: "a\u0007b" is not a valid file name on every device: on ios the path of the store has control characters; use a shorter name of letters, digits, - and _
      pipeline: "reconcile": ["up"] => "reconcile": ["up"], "storeName": "a\u0007b"
    a store name that is another one on iOS
      pipeline.json:19:41: stores[0].storeName: "a:b" is not a valid file name on every device; use letters, digits, - and _
      pipeline: "reconcile": ["up"] => "reconcile": ["up"], "storeName": "a:b"
    an address with a name and a password
      pipeline.json:5:12: org.url: a URL must not contain a user name or password; remove what precedes the @; logins are configured in org.login
      pipeline.json:23:27: notify.heartbeat: a URL must not contain a user name or password; remove what precedes the @; logins are configured in org.login
      pipeline: https://example.my => https://ada:s3cret@example.my
      pipeline + "notify": {"heartbeat": "https://ada:s3cret@example.com"}
    paths with a NUL
      pipeline.json:9:23: org.login.key.file: text with a NUL cannot be a path or a name; remove the \u0000
      pipeline.json:23:21: inbox.path: text with a NUL cannot be a path or a name; remove the \u0000
      pipeline: jwt.key => jwt\u0000.key
      pipeline + "inbox": {"path": "in\u0000box"}
    a query that lacks a comma
      syncs.json:9:18: syncs[0].target.query: the query has a field alias, which an org refuses: "FirstName LastName"; write a comma between the fields: FirstName, LastName
      syncs: SELECT Id, LastName FROM => SELECT Id, FirstName  LastName FROM
    a signing key that is written in the file, for a namespace with a space
      pipeline.json:23:28: pack.sign.key: a secret cannot be written in the file; write {"env": "NAME"}, {"file": "PATH"}, {"credential": "NAME"} or {"command": ["PROGRAM", "ARGUMENT"]}
      pipeline.json:23:49: pack.sign.namespace: "a b" is not a namespace; use at most 64 letters, digits and . - _ @, or remove it
      pipeline + "pack": {"sign": {"key": "AAAA", "namespace": "a b"}}
    signing without a key
      pipeline.json:23:20: pack.sign: the section sign needs "key"; add "key": {"file": "…"}
      pipeline + "pack": {"sign": {}}
    """#)
}
