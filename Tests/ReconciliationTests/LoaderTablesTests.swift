import JSON
import Reports
import Testing

struct LoaderTablesTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private func table(
    _ file: String, _ day: FieldDay, _ mask: ReportMask = ReportMask()
  ) throws -> [String] {
    let run = try #require(try day.state.runs(limit: 1).first)
    let model = try ReportModel(state: day.state, run: run.id, called: "demo")
    let bytes = try CSVReport.bytes(file, model, mask)
    return String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map(String.init)
  }

  @Test func `a new record shows all values that were sent, created or refused`() async throws {
    try day.handBack([
      day.account(
        "local_1", ["Name": "Made", "Phone": "1", "Website": "https://not.listed.example.com"]),
      day.contact("local_2", ["LastName": "Kid", "AccountId": "local_1"]),
      day.account("local_3", ["Phone": "2"]),
    ])
    #expect(day.verdicts(try await day.run()) == "created 2, failed 1")
    let admin = day.admin
    let account = try #require(
      try JSONValue(
        parsing: day.org.query(
          "SELECT Id FROM Account WHERE Name = 'Made'", as: admin, includeDeleted: false
        ).records
      ).array?.first?["Id"]?.string)
    let success = try table("success.csv", day)
    #expect(success.first == "ID,EDIT,OBJECT,USER,AccountId,LastName,Name,Phone,STATUS")
    #expect(success.contains("\(account),1,Account,ada@example.com,,,Made,1,Item Created"))
    // The device's local_1 is sent and listed with the ID that the org assigned.
    #expect(success.contains { $0.hasSuffix(",\(account),Kid,,,Item Created") })
    let error = try table("error.csv", day)
    #expect(error.first == "ID,EDIT,OBJECT,USER,Phone,ERROR")
    #expect(
      error.contains {
        $0.contains(",Account,ada@example.com,2,") && $0.contains("REQUIRED_FIELD_MISSING")
      }, "\(error)")
    let masked = try table("success.csv", day, ReportMask(mask: ["phone"]))
    #expect(masked.contains("\(account),1,Account,ada@example.com,,,Made,•••,Item Created"))
  }

  @Test func `no value of a pruned edit is shown`() async throws {
    try day.handBack([day.account("local_1", ["Name": "Made"])])
    try await day.run()
    try day.state.prune(edits: [1])
    let success = try table("success.csv", day)
    #expect(success.first == "ID,EDIT,OBJECT,USER,STATUS")
    #expect(success.last?.hasSuffix(",1,Account,ada@example.com,Item Created") == true)
  }

  @Test func `an upsert is shown with its external ID`() async throws {
    let day = try FieldDay("visits", ["Name", "External_Id__c"], externalID: "External_Id__c")
    try day.handBack([
      day.created(
        "visits", "Site_Visit__c", "local_v", ["Name": "Device", "External_Id__c": "V-1"])
    ])
    #expect(day.verdicts(try await day.run()) == "created 1")
    let success = try table("success.csv", day)
    #expect(success.first == "ID,EDIT,OBJECT,USER,External_Id__c,Name,STATUS")
    #expect(success.last?.hasSuffix(",V-1,Device,Item Created") == true)
  }

  @Test func `a waiting edit is shown by its verdict, not by an earlier write`() async throws {
    let id = try day.make("Account", ["Name": "A", "Phone": "1"])
    day.server.faults.add(.writes, times: 9, .status(400, code: "SOME_RULE"))
    #expect(try await day.verdicts([try day.edited(account: id, ["Phone": "2"])]) == "failed 1")
    #expect(try table("error.csv", day).last?.contains(",2,SOME_RULE") == true)
    day.server.faults.removeAll()
    try day.change("Account", id, ["Phone": "office"])
    try day.handBack(
      [try day.edited(account: id, ["Industry": "Energy"], hasBase: false)], user: day.ben)
    _ = try await day.run()
    #expect(try !table("success.csv", day).contains { $0.contains("ada@example.com") })
  }
}
