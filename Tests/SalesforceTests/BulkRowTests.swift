import JSON
import Salesforce
import Testing

struct BulkRowTests {
  private func row(_ members: JSONObject) -> BulkRow? { BulkRow(members) }

  @Test func `an empty text and null clear a field, and a missing column leaves it`() throws {
    let rows = [
      try #require(row(["Id": "001", "Name": "", "Phone": .null])),
      try #require(row(["id": "002", "Fax": "a,\"b\"\n"])),
      try #require(row(["Id": "003", "Fax": true, "NumberOfEmployees": .number("1.50")])),
    ]
    #expect(
      String(decoding: BulkRow.csv(rows), as: UTF8.self) == """
        Id,Name,Phone,Fax,NumberOfEmployees
        001,#N/A,#N/A,,
        002,,,"a,""b""
        ",
        003,,,true,1.50

        """)
  }

  @Test func `members that a row cannot express give no row`() {
    #expect(row(["Name": "#N/A"]) == nil)
    #expect(row(["Name": "a\0b"]) == nil)
    #expect(row(["Owner": ["Id": "005"]]) == nil)
    #expect(row(["Names": ["a"]]) == nil)
    #expect(row(["Name": .string(String(repeating: "x", count: 32_001))]) == nil)
    #expect(row(["Name": .string(String(repeating: "x", count: 32_000))]) != nil)
    let long = JSONObject(
      (0..<13).map { ("F\($0)__c", .string(String(repeating: "x", count: 32_000))) })
    #expect(row(long) == nil)
  }

  @Test func `a result is matched by its kind, regardless of order and columns`() throws {
    let sent = try #require(row(["LastName": "A", "Phone": .null, "Fax": " x "]))
    var found: [(cells: [String: String], row: BulkRow)] = []
    try BulkRow.read(
      Array(
        """
        "sf__Id","sf__Created","Fax","LastName","Email","Phone"
        "003","true"," x ","A","","#N/A"
        "004","true","x","A","",""

        """.utf8)
    ) { found.append(($0, $1)) }
    #expect(found.map { $0.cells["sf__id"] } == ["003", "004"])
    #expect(found[0].row == sent)
    #expect(found[1].row != sent && found[1].row.bare == sent.bare)
  }

  @Test func `a rejected row's error is parsed`() {
    func refusal(_ text: String) -> RowAnswer {
      RowAnswer(BulkIngestJob.Results.Failure(error: text, row: .empty))
    }
    func words(_ answer: RowAnswer) -> String {
      switch answer {
      case .refused(let refusal):
        "refused \(refusal.code ?? "-") \(refusal.fields) \(refusal.message)"
      case .locked(let refusal): "locked \(refusal.message)"
      case .absent(let refusal): "absent \(refusal.message)"
      default: "odd"
      }
    }
    #expect(
      words(refusal("REQUIRED_FIELD_MISSING:Required fields are missing: [Name]:Name --"))
        == #"refused REQUIRED_FIELD_MISSING ["Name"] Required fields are missing: [Name]"#)
    #expect(
      words(refusal("UNABLE_TO_LOCK_ROW:unable to obtain exclusive access to this record:--"))
        == "locked unable to obtain exclusive access to this record")
    #expect(words(refusal("ENTITY_IS_DELETED:entity is deleted:--")) == "absent entity is deleted")
    #expect(
      words(refusal("INVALID_CROSS_REFERENCE_KEY:invalid cross reference id:AccountId --"))
        == #"refused INVALID_CROSS_REFERENCE_KEY ["AccountId"] invalid cross reference id"#)
    #expect(
      words(refusal("FIELD_CUSTOM_VALIDATION_EXCEPTION:Phone: must be given:Phone Fax --"))
        == #"refused FIELD_CUSTOM_VALIDATION_EXCEPTION ["Phone", "Fax"] Phone: must be given"#)
    #expect(words(refusal("something else")) == "refused - [] something else")
    #expect(words(refusal("")) == "refused - [] the org gave no reason")
  }
}
