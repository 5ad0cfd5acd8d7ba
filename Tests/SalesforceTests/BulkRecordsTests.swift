import JSON
import Salesforce
import Testing

@Suite struct BulkRecordsTests {
  private static let fields: [(String, String)] = [
    ("Id", "id"), ("Name", "string"), ("Notes__c", "textarea"), ("Count__c", "double"),
    ("Is_Open__c", "boolean"), ("LastModifiedDate", "datetime"), ("Day__c", "date"),
  ]

  private func records() throws -> BulkRecords {
    let value: JSONValue = [
      "name": "Thing__c",
      "fields": .array(
        (Self.fields + [("Place__c", "location")]).map {
          ["name": .string($0.0), "type": .string($0.1)]
        }),
    ]
    return BulkRecords(try #require(Describe(value)), apiVersion: "66.0")
  }

  private func page(_ csv: String) throws -> [JSONValue] {
    let records = try records()
    func rows(most: Int) throws -> [JSONValue] {
      var reading = BulkRecords.Reading(Array(csv.utf8))
      var rows: [JSONValue] = []
      while let part = try records.next(&reading, most: most) {
        let read = try #require(try JSONValue(parsing: part.json)["records"]?.array)
        #expect(read.count == part.records && read.count <= most)
        rows += read
      }
      return rows
    }
    let whole = try rows(most: .max)
    // Reading in parts gives the same result.
    #expect(try rows(most: 1) == whole)
    return whole
  }

  @Test func `each value becomes the value that a query returns`() throws {
    let rows = try page(
      #"""
      "Id","Name","Notes__c","Count__c","Is_Open__c","LastModifiedDate","Day__c"
      "a01xx0000000001AAA","Ärger, ""quoted""","line 1
      line 2\","1.39E8","true","2024-01-31T12:34:56.000Z","2024-01-31"
      "a01xx0000000002AAA","","","","false","",""

      """#)
    #expect(
      rows == [
        [
          "attributes": [
            "type": "Thing__c", "url": "/services/data/v66.0/sobjects/Thing__c/a01xx0000000001AAA",
          ], "Id": "a01xx0000000001AAA", "Name": "Ärger, \"quoted\"",
          "Notes__c": "line 1\nline 2\\", "Count__c": .number("1.39E8"), "Is_Open__c": true,
          "LastModifiedDate": "2024-01-31T12:34:56.000+0000", "Day__c": "2024-01-31",
        ],
        [
          "attributes": [
            "type": "Thing__c", "url": "/services/data/v66.0/sobjects/Thing__c/a01xx0000000002AAA",
          ], "Id": "a01xx0000000002AAA", "Name": .null, "Notes__c": .null, "Count__c": .null,
          "Is_Open__c": false, "LastModifiedDate": .null, "Day__c": .null,
        ],
      ])
  }

  @Test(arguments: ["\n", "\r\n", "\r"])
  func `rows may have any line ends, with or without a last one`(_ end: String) throws {
    let text = ["Id,Name", "1,one", "2,two"].joined(separator: end)
    for csv in [text, text + end, "\u{FEFF}" + text] {
      #expect(try page(csv).map { $0["Name"] } == ["one", "two"])
    }
    #expect(try page("Id,Name" + end).isEmpty)
  }

  @Test func `characters that JSON strings do not allow are escaped`() throws {
    let rows = try page("Id,Name\n1,\"a\tb\u{01}c\u{00}d\re\"\n")
    #expect(rows.first?["Name"] == "a\tb\u{01}c\u{00}d\re")
  }

  @Test(arguments: [
    ("0", true), ("-0.5", true), ("12", true), ("1E+3", true), ("007", false), ("1.", false),
    ("1e", false), ("-", false), (".5", false), ("NaN", false), ("1 ", false),
  ])
  func `a text that is not a JSON number stays text`(_ text: String, _ isNumber: Bool) throws {
    let value = try page("Id,Count__c\n1,\"\(text)\"\n").first?["Count__c"]
    #expect(value == (isNumber ? .number(text) : .string(text)))
  }

  @Test(arguments: [
    ("", "row 1 of a page of CSV is invalid: it has no header"),
    ("Id,Nme\n", "row 1 of a page of CSV is invalid: Thing__c has no field \"Nme\""),
    ("Id,Name\n1\n", "row 2 of a page of CSV is invalid: it has 1 of 2 fields"),
    ("Id,Name\n1,one\n2,\"two\n", "row 3 of a page of CSV is invalid: a quote is never closed"),
    ("Id,Name\n1,\"one\"x\n", "row 2 of a page of CSV is invalid: text follows a closing quote"),
  ])
  func `an invalid page is reported with its row`(_ csv: String, _ message: String) throws {
    let error = try #require(throws: OrgError.self) { try page(csv) }
    #expect(error.kind == .invalidResponse && error.message == message)
  }

  @Test func `a job returns only plain fields of the object`() throws {
    let records = try records()
    #expect(records.gives(["Id", "name", "Day__c"]))
    #expect(!records.gives(["Id", "Place__c"]))
    #expect(!records.gives(["Id", "Other__c"]))
  }
}
