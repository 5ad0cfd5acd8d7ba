import JSON
import MobileSync
import Testing

struct WriteEvidenceTests {
  private static let ada = "005000000000001AAA"
  private static let office = "005000000000002AAA"

  @Test(arguments: [
    ("Quill yard", "QUILL YARD"), ("(020) 7946-0018", "02079460018"), ("  x ", "x"),
    ("2026-01-31T10:00:00.250+0000", "2026-01-31T10:00:00.000+0000"),
  ])
  func `a text with other case, white space or punctuation derives from what was sent`(
    sent: String, held: String
  ) { #expect(WriteEvidence.derives(.string(held), from: .string(sent))) }

  @Test(arguments: [("Quill", "Quills"), ("--", "++"), ("", "x"), ("a1", "a2")])
  func `another text does not`(sent: String, held: String) {
    #expect(!WriteEvidence.derives(.string(held), from: .string(sent)))
  }

  @Test(arguments: [
    ("1234.5678", "1234.57", true), ("1234.5678", "1235", true), ("1234.5678", "1235.0", true),
    ("1234.5678", "1234", false), ("1234.57", "1234.5678", false), ("1234", "1235", false),
    ("1234.0", "1234", true), ("2.5", "3.0", true), ("1e3", "1001", false),
  ])
  func `a number with fewer digits matches the field`(sent: String, held: String, isMade: Bool) {
    #expect(WriteEvidence.derives(.number(held), from: .number(sent)) == isMade)
  }

  private func evidence(
    _ record: JSONObject, from before: JSONObject?, to sent: JSONObject, by writer: String = ada,
    since known: JSONObject? = nil
  ) -> WriteEvidence {
    var record = record
    record["LastModifiedById"] = .string(writer)
    return WriteEvidence(of: sent, by: Self.ada, before: before, in: record, since: known)
  }

  private func hasChanged(
    _ record: JSONObject, from before: JSONObject?, to sent: JSONObject, by writer: String = ada
  ) -> Bool {
    evidence(record, from: before, to: sent, by: writer) == .applied
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
    #expect(hasChanged(["Name": "Quill Yard"], from: ["Name": "QUILL YARD"], to: sent))
  }

  @Test func `fields that changed to the sent value since they were known were taken`() {
    let sent: JSONObject = ["Name": "new", "Phone": "1", "Fax": "2", "Status": "Sent"]
    func taken(_ record: JSONObject, since known: JSONObject) -> [String] {
      let evidence = evidence(record, from: nil, to: sent, by: Self.office, since: known)
      if case .overwritten(let names) = evidence { return names }
      return []
    }
    let record: JSONObject = ["Name": "NEW", "Phone": "1", "Fax": "9", "Status": "Sent"]
    // Nothing is known of the status; the fax has another value.
    #expect(taken(record, since: ["Name": "old", "Phone": "0", "Fax": "0"]) == ["Name", "Phone"])
    #expect(taken(record, since: ["Name": "NEW", "Phone": "1", "Fax": "2"]) == [])
    #expect(taken(record, since: [:]) == [])
  }

  @Test func `values that another user may have entered are no proof`() {
    let sent: JSONObject = ["Name": "new", "Phone": "1"]
    let known: JSONObject = ["Name": "old", "Phone": "1"]
    #expect(evidence(sent, from: nil, to: sent) == .applied)
    #expect(evidence(sent, from: nil, to: sent, since: known) == .applied)
    #expect(evidence(sent, from: nil, to: sent, by: Self.office) == .mayBe)
    #expect(
      evidence(sent, from: nil, to: sent, by: Self.office, since: known) == .overwritten(["Name"]))
    #expect(evidence(["Name": "old"], from: nil, to: sent, since: known) == .notApplied)
    #expect(WriteEvidence(of: sent, by: nil, before: nil, in: sent) == .mayBe)
  }
}
