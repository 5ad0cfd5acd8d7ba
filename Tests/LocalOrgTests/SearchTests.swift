import HTTP
import JSON
import LocalOrg
import Testing

@Suite struct SearchTests {
  let sample: SampleOrg
  init() throws {
    sample = try SampleOrg()
    try sample.make("Account", ["Name": "Acme Werke", "Description": "pumps & valves"])
    try sample.make("Account", ["Name": "Acme-Süd 12", "Phone": "+49 89 555"])
    try sample.make("Account", ["Name": "Globex", "Description": "not Acme's rival"])
    try sample.make(
      "Contact", ["LastName": "Acme", "FirstName": "Zoë", "Email": "zoe@globex.example.com"])
  }

  private func names(_ sosl: String, as user: OrgUser? = nil) throws -> [String] {
    let page = try sample.org.search(sosl, as: user ?? sample.admin)
    let records = try #require(try JSONValue(parsing: page.records).array)
    #expect(records.count == page.count)
    return records.map { $0["Name"]?.string ?? "-" }
  }

  @Test(arguments: [
    ("Acme", ["Acme Werke", "Acme-Süd 12", "Globex"]), ("acme werke", ["Acme Werke"]),
    ("acme AND NOT werke", ["Acme-Süd 12", "Globex"]),
    ("werke OR globex", ["Acme Werke", "Globex"]),
    ("werke OR acme globex", ["Acme Werke", "Globex"]),
    ("(werke OR süd) acme", ["Acme Werke", "Acme-Süd 12"]), (#""valves acme""#, []),
    (#""pumps valves""#, ["Acme Werke"]), ("wer*", ["Acme Werke"]), ("wer", []),
    ("w?r*e", ["Acme Werke"]), ("SÜ?", ["Acme-Süd 12"]), ("w*r*k*", ["Acme Werke"]), ("w*r*x", []),
    ("werke*", ["Acme Werke"]), ("werke?", []), ("*lobex", []), ("*globex*", ["Globex"]),
    (#"acme\-süd"#, ["Acme-Süd 12"]), (#"\"acme\""#, ["Acme Werke", "Acme-Süd 12", "Globex"]),
    ("555", ["Acme-Süd 12"]),
  ])
  func `words, phrases, signs and wildcards find the right records`(
    _ text: String, _ found: [String]
  ) throws { #expect(try names("FIND {\(text)} RETURNING Account(Name)") == found) }

  @Test func `a search covers the fields that it names`() throws {
    #expect(
      try names("find {Acme} in name fields returning Account(Name), Contact(Name)")
        == ["Acme Werke", "Acme-Süd 12", "Zoë Acme"])
    #expect(try names("FIND {globex} IN EMAIL FIELDS RETURNING Contact(Name)") == ["Zoë Acme"])
    #expect(try names("FIND {555} IN PHONE FIELDS RETURNING Account(Name)") == ["Acme-Süd 12"])
    #expect(try names("FIND {555} IN NAME FIELDS RETURNING Account(Name)") == [])
  }

  @Test func `conditions, orders and limits narrow what is returned`() throws {
    #expect(
      try names(
        """
        FIND {Acme} RETURNING Account(Id, Name WHERE Phone = null ORDER BY Name DESC LIMIT 1)
        """) == ["Globex"])
    #expect(try names("FIND {Acme} RETURNING Account(Name LIMIT 1 OFFSET 1)") == ["Acme-Süd 12"])
    #expect(
      try names("FIND {Acme} IN ALL FIELDS RETURNING Account(Name), Contact(Name) LIMIT 2")
        == ["Acme Werke", "Zoë Acme"])
    #expect(
      try names(
        "FIND {Acme} RETURNING Account(Name), Contact(Name) WITH SNIPPET(target_length=120) LIMIT 3"
      ) == ["Acme Werke", "Acme-Süd 12", "Zoë Acme"])
  }

  @Test func `a user who sees nothing finds nothing`() throws {
    #expect(try names("FIND {Acme} RETURNING Account(Name)", as: sample.ada) == [])
    try sample.make("Account", ["Name": "Acme of Ada"], as: sample.ada)
    #expect(try names("FIND {Acme} RETURNING Account(Name)", as: sample.ada) == ["Acme of Ada"])
    let id = try sample.make("Account", ["Name": "Acme Gone"])
    _ = sample.org.delete("Account", id: id, as: sample.admin)
    #expect(try names("FIND {Gone} RETURNING Account(Name)") == [])
  }

  @Test(arguments: [
    ("FIND {a} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {a*} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {**} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND Acme RETURNING Account", "MALFORMED_SEARCH"), ("", "MALFORMED_SEARCH"),
    ("FIND {Acme", "MALFORMED_SEARCH"), ("FIND {\"Acme} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {(Acme} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {Acme AND} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {Acme!} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {Acme} IN SOME FIELDS RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {Acme} RETURNING Account(Id", "MALFORMED_SEARCH"),
    ("FIND {Acme} RETURNING Account LIMIT 2001", "MALFORMED_SEARCH"),
    ("FIND {Acme} RETURNING Account(Id) nonsense", "MALFORMED_SEARCH"),
    ("FIND {\(String(repeating: "(", count: 5000))Acme} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {\(String(repeating: "ab ", count: 4000))} RETURNING Account", "MALFORMED_SEARCH"),
    ("FIND {Acme} RETURNING Account(Id OFFSET 9223372036854775807)", "NUMBER_OUTSIDE_VALID_RANGE"),
    ("FIND {Acme} RETURNING Account(Nope)", "INVALID_FIELD"),
    ("FIND {Acme} RETURNING Account(Id WHERE Nope = 1)", "INVALID_FIELD"),
    ("FIND {Acme} RETURNING Nope", "INVALID_TYPE"),
    ("FIND {Acme} RETURNING Profile", "INVALID_TYPE"),
  ])
  func `an invalid search is refused`(_ sosl: String, _ code: String) throws {
    #expect { try sample.org.search(sosl, as: sample.admin) } throws: {
      ($0 as? OrgError)?.code == code
    }
  }

  @Test func `a long search and one with many stars end soon`() throws {
    let stars = "ab" + String(repeating: "*a", count: 200) + "*c"
    try sample.make("Account", ["Name": .string("ab" + String(repeating: "a", count: 250))])
    #expect(try names("FIND {\(stars)} RETURNING Account(Name)") == [])
    let words = Array(repeating: "acme", count: 1500)
    for separator in [" ", " OR ", " AND "] {
      let found = try names(
        "FIND {\(words.prefix(1100).joined(separator: separator))} RETURNING Account(Name)")
      #expect(found.count == 3)
    }
  }

  @Test func `an error shows its position in the statement`() throws {
    do {
      _ = try sample.org.search("FIND {Acme}\n RETURNING Account(Id OOPS OOPS)", as: sample.admin)
      Issue.record("nonsense was taken for a search")
    } catch {
      #expect(
        error.message == "\n RETURNING Account(Id OOPS OOPS)\n                           ^\n"
          + "ERROR at Row:2:Column:28\nunexpected token: 'OOPS'")
    }
  }
}

@Suite struct SearchResourceTests {
  let served: ServedOrg
  init() throws {
    served = try ServedOrg()
    try served.fill("Account", 3)
  }

  private func search(_ sosl: String, version: String = "66.0") async throws -> HTTPResponse {
    try await served.send("GET", "/services/data/v\(version)/search/?q=" + HTTPQuery.encode(sosl))
  }

  @Test func `a search returns records with attributes, or only ids`() async throws {
    let named = try await search("FIND {Account} IN NAME FIELDS RETURNING Account(Id, Name)")
    let records = try #require(named.json["searchRecords"]?.array)
    #expect(records.map { $0["Name"]?.string } == ["Account 0", "Account 1", "Account 2"])
    let id = try #require(records[0]["Id"]?.string)
    #expect(records[0]["attributes"]?["type"] == "Account")
    #expect(
      records[0]["attributes"]?["url"]?.string == "/services/data/v66.0/sobjects/Account/\(id)")
    let bare = try await search("FIND {Account} RETURNING Account")
    #expect(bare.json["searchRecords"]?[0]?.object?.names == ["attributes", "Id"])
    #expect(try await search("FIND {Account}").json["searchRecords"]?.array?.count == 3)
    #expect(served.server.log.entries.map(\.kind) == [.search, .search, .search])
    #expect(try await search("FIND {nothing}").text == #"{"searchRecords":[]}"#)
    #expect(try await search("FIND {Account}", version: "36.0").json.array?.count == 3)
    #expect(try await search("FIND {a}").outcome == "400 MALFORMED_SEARCH")
  }

  @Test func `at most two thousand records are returned`() async throws {
    try served.fill("Account", 2100)
    let response = try await search("FIND {Account} RETURNING Account(Id)")
    #expect(response.json["searchRecords"]?.array?.count == 2000)
  }

  @Test func `a search by parameters finds the same`() async throws {
    let get = try await served.send(
      "GET",
      "/parameterizedSearch/?q=Account&sobject=Account&Account.fields=id,name&Account.limit=2")
    #expect(
      get.json["searchRecords"]?.array?.map { $0["Name"]?.string } == ["Account 0", "Account 1"])
    let post = try await served.send(
      "POST", "/parameterizedSearch",
      [
        "q": "Account", "in": "NAME", "overallLimit": 1,
        "sobjects": [["name": "Account", "fields": ["Name"], "where": "Name LIKE '%2'"]],
      ])
    #expect(post.json["searchRecords"]?.array?.map { $0["Name"]?.string } == ["Account 2"])
    #expect(
      try await served.send("GET", "/parameterizedSearch?q=x").outcome == "400 MALFORMED_SEARCH")
    #expect(try await served.send("GET", "/parameterizedSearch").outcome == "400 MISSING_ARGUMENT")
  }
}
