import Testing

@Suite struct StandardFieldTests {
  @Test(arguments: [
    ("Account", ["TickerSymbol", "SicDesc", "BillingGeocodeAccuracy", "PhotoUrl", "NaicsCode"]),
    ("Contact", ["LeadSource", "HasOptedOutOfEmail", "EmailBouncedDate", "LastActivityDate"]),
    ("Opportunity", ["Type", "IsWon", "FiscalYear", "ExpectedRevenue", "ForecastCategoryName"]),
    ("Case", ["SuppliedEmail", "Reason", "IsEscalated", "Comments"]),
    ("Lead", ["Company", "Status", "IsConverted", "Email", "Address"]),
    ("Event", ["StartDateTime", "DurationInMinutes", "IsAllDayEvent", "ShowAs"]),
  ])
  func `a query may name the fields that orgs have`(object: String, fields: [String]) throws {
    let sample = try SampleOrg()
    _ = try sample.records("SELECT \(fields.joined(separator: ", ")) FROM \(object)")
  }

  @Test func `fields derived from a stage and a date are computed`() throws {
    let sample = try SampleOrg()
    let id = try sample.make(
      "Opportunity",
      [
        "Name": "O", "StageName": "Closed Won", "CloseDate": "2024-05-31", "Amount": 50,
        "Probability": 25,
      ])
    let soql = "SELECT IsWon, IsClosed, Fiscal, FiscalQuarter, ExpectedRevenue FROM Opportunity"
    let won = try #require(try sample.records(soql).first)
    #expect(won["IsWon"] == true && won["IsClosed"] == true)
    #expect(won["Fiscal"] == "2024 2" && won["FiscalQuarter"]?.int == 2)
    #expect(won["ExpectedRevenue"]?.double == 12.5)
    _ = sample.org.update("Opportunity", id: id, ["StageName": "Proposal"], as: sample.admin)
    #expect(try sample.records(soql).first?["IsClosed"] == false)
  }

  @Test func `events refer to leads and others, and a lead has a name`() throws {
    let sample = try SampleOrg()
    let lead = try sample.make("Lead", ["LastName": "L", "FirstName": "F", "Company": "C"])
    try sample.make("Event", ["Subject": "S", "WhoId": .string(lead)])
    let event = try #require(try sample.records("SELECT Who.Name, Who.Type FROM Event").first)
    #expect(event["Who"]?["Name"] == "F L" && event["Who"]?["Type"] == "Lead")
    #expect(try sample.records("SELECT (SELECT Subject FROM Events) FROM Lead").count == 1)
    _ = sample.org.delete("Lead", id: lead, as: sample.admin)
    #expect(try sample.records("SELECT Id FROM Event").isEmpty)
  }
}
