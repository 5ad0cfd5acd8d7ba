import JSON
import MobileSync
import Testing

struct ArrivedWriteTests {
  private static let ada = "005000000000001AAA"
  private static let office = "005000000000002AAA"

  @Test(arguments: [
    ("Quill yard", "QUILL YARD"), ("(020) 7946-0018", "02079460018"), ("  x ", "x"),
    ("2026-01-31T10:00:00.250+0000", "2026-01-31T10:00:00.000+0000"),
  ])
  func `a text with other case, white space or punctuation derives from what was sent`(
    sent: String, held: String
  ) { #expect(ArrivedWrite.mayBe(.string(held), of: .string(sent))) }

  @Test(arguments: [("Quill", "Quills"), ("--", "++"), ("", "x"), ("a1", "a2")])
  func `another text does not`(sent: String, held: String) {
    #expect(!ArrivedWrite.mayBe(.string(held), of: .string(sent)))
  }

  @Test(arguments: [
    ("1234.5678", "1234.57", true), ("1234.5678", "1235", true), ("1234.5678", "1235.0", true),
    ("1234.5678", "1234", false), ("1234.57", "1234.5678", false), ("1234", "1235", false),
    ("1234.0", "1234", true), ("2.5", "3.0", true), ("1e3", "1001", false),
  ])
  func `a number with fewer digits matches the field`(sent: String, held: String, isMade: Bool) {
    #expect(ArrivedWrite.mayBe(.number(held), of: .number(sent)) == isMade)
  }

  private func hasChanged(
    _ record: JSONObject, from before: JSONObject?, to sent: JSONObject, by writer: String = ada
  ) -> Bool {
    var record = record
    record["LastModifiedById"] = .string(writer)
    return ArrivedWrite.hasChanged(record, by: Self.ada, from: before, to: sent)
  }

  @Test func `an update has arrived if all that it changes differs from before`() {
    let before: JSONObject = ["Name": "old", "Status": "New", "Phone": "1"]
    let sent: JSONObject = ["Name": "new", "Status": "Sent", "Phone": "1"]
    // A flow has advanced the status; the phone was not changed.
    #expect(hasChanged(["Name": "NEW", "Status": "Done", "Phone": "1"], from: before, to: sent))
    #expect(hasChanged(["Name": "NEW", "Status": "Done", "Phone": "9"], from: before, to: sent))
    // One field is unchanged: it was not written.
    #expect(!hasChanged(["Name": "NEW", "Status": "New", "Phone": "1"], from: before, to: sent))
    #expect(!hasChanged(["Name": "other", "Status": "Done", "Phone": "1"], from: before, to: sent))
  }

  @Test func `another user's write, or an unknown earlier state, shows nothing`() {
    let sent: JSONObject = ["Name": "new"]
    #expect(hasChanged(["Name": "NEW"], from: ["Name": "old"], to: sent))
    #expect(!hasChanged(["Name": "NEW"], from: ["Name": "old"], to: sent, by: Self.office))
    #expect(!hasChanged(["Name": "NEW"], from: nil, to: sent))
    #expect(!hasChanged(["Name": "NEW"], from: ["Phone": "1"], to: sent))
  }

  @Test func `a change of case alone does not count as already applied`() {
    let sent: JSONObject = ["Name": "Quill Yard"]
    #expect(!hasChanged(["Name": "QUILL YARD"], from: ["Name": "QUILL YARD"], to: sent))
    #expect(!hasChanged(["Name": "Quill Yard"], from: ["Name": "Quill Yard"], to: sent))
  }

  @Test func `fields that changed to the sent value since they were known were taken`() {
    let sent: JSONObject = ["Name": "new", "Phone": "1", "Fax": "2", "Status": "Sent"]
    func taken(_ record: JSONObject, since known: JSONObject) -> [String] {
      ArrivedWrite.taken(by: record, since: known, of: sent)
    }
    let record: JSONObject = ["Name": "NEW", "Phone": "1", "Fax": "9", "Status": "Sent"]
    // Nothing is known of the status; the fax has another value.
    #expect(taken(record, since: ["Name": "old", "Phone": "0", "Fax": "0"]) == ["Name", "Phone"])
    #expect(taken(record, since: ["Name": "NEW", "Phone": "1", "Fax": "2"]) == [])
    #expect(taken(record, since: [:]) == [])
  }
}
