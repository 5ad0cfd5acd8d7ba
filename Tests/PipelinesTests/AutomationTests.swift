import Ledger
import LocalOrg
import Reports
import Testing

@Suite struct AutomationTests {
  @Test func `a rule's message is reported, and automation causes no conflict`() async throws {
    let world = try World()
    let rules = """
      {"objects": {"Account": {
        "fieldUpdates": [{"name": "Note", "condition": "NOT(ISNEW()) && ISCHANGED(Phone)",
          "set": {"Industry": "IF(BEGINS(Phone, '555'), 'Energy', 'Retail')"}}],
        "validationRules": [{"name": "Number", "condition": "BEGINS(Phone, '666')",
          "message": "No such number.", "field": "Phone"}]}}}
      """
    try world.org.setUp(OrgSetup(parsing: Array(rules.utf8)))
    let device = try await world.primed("ada")
    let ids = try world.ids("accounts", on: device)
    let now = world.org.now()
    try device.edit("accounts", id: ids[0], ["Phone": "666 1"], now: now)
    try device.edit("accounts", id: ids[1], ["Phone": "555 1"], now: now)
    let first = try await world.run(device, as: "ada.sqlite")
    #expect(first.verdicts == [.failed: 1, .updated: 1])
    let state = try LedgerDatabase(path: world.data.state)
    let failed = try #require(
      try ReportModel(state: state, run: first.run, called: "demo").edits.all().first {
        $0.verdict == .failed
      })
    #expect(failed.detail.code == "FIELD_CUSTOM_VALIDATION_EXCEPTION")
    #expect(failed.detail.message?.contains("No such number.") == true)
    #expect(try world.record("Account", ids[1])["Industry"] == "Energy")

    // The phone has not installed the new bundle, and continues with its old store.
    try device.edit("accounts", id: ids[1], ["Phone": "444 2"], now: world.org.now())
    try world.handBack(device, as: "ada-2.sqlite", edited: ids[0], ["Phone": "555 3"])
    #expect(try await world.run().verdicts == [.updated: 2, .superseded: 1])
    #expect(try world.record("Account", ids[1])["Industry"] == "Retail")
    #expect(try world.record("Account", ids[0])["Phone"] == "555 3")
  }
}
