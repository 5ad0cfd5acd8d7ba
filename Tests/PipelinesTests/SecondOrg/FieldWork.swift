import JSON
import Ledger
import Rehearsal
import System

/// A day on which two technicians and other users work on the same records.
struct FieldWork {
  static let verdicts: [Verdict: Int] = [
    .updated: 3, .created: 3, .deleted: 1, .alreadyInOrg: 1, .conflict: 1, .failed: 1,
  ]
  static let writes = 7
  private let scene: SecondOrgScene
  private let before: Int
  private let accounts: [String]
  private let workOrder: String
  private let shared: String

  /// Plays the day: all stores are returned at the end.
  init(_ scene: SecondOrgScene) async throws {
    self.scene = scene
    let rosa = try scene.device("rosa", .ios, as: "rosa")
    let li = try scene.device("li", .android, as: "li")
    func ids(_ soup: String, _ device: Device, _ name: String, _ prefix: String) throws -> [String]
    {
      try device.elements(soup).filter { $0[name]?.string?.hasPrefix(prefix) == true }
        .compactMap { $0["Id"]?.string }.sorted()
    }
    let now = Clock.wallMilliseconds()
    accounts = try ids("accounts", rosa, "Name", "Rosa's account")
    workOrder = try ids("workorders", rosa, "Subject", "Order")[3]
    shared = try ids("accounts", li, "Name", "Ties")[0]
    let contact = try ids("contacts", rosa, "LastName", "Contact")[5]
    try rosa.edit("accounts", id: accounts[0], ["Phone": "+1 555 1"], now: now)
    try rosa.edit(
      "accounts", id: accounts[1], ["Phone": "+1 555 2", "AnnualRevenue": .number("1.5E9")],
      now: now)
    try rosa.edit("accounts", id: accounts[2], ["Phone": "none"], now: now)
    try rosa.edit(
      "accounts", id: accounts[3], ["Description": "a \"quote\", a 🚲\nand a \\"], now: now)
    try rosa.create(
      "accounts", type: "Account", ["Name": "New shop", "Phone": "+1 555 3"],
      localID: "local_1", now: now)
    try rosa.create(
      "contacts", type: "Contact", ["LastName": "Newcomer", "AccountId": "local_1"],
      localID: "local_2", now: now)
    try rosa.create(
      "visits", type: "Site_Visit__c", ["Name": "First look", "Serial__c": "new/serial #1"],
      localID: "local_3", now: now)
    try rosa.delete("workorders", id: workOrder, now: now)
    try rosa.delete("contacts", id: contact, now: now)
    try li.edit("accounts", id: shared, ["Phone": "+1 555 4"], now: now)
    // Meanwhile, changes by other users.
    try await scene.org.change("Account", id: accounts[0], ["Phone": "+1 555 9"])
    try await scene.org.change("Account", id: accounts[7], ["Name": "Changed by another user"])
    try await scene.org.change("Case", ["Subject": "From another user", "Status": "New"])
    try await scene.org.delete("Contact", id: contact)
    before = try await scene.org.log().count
    try scene.handBack(rosa, as: "rosa.sqlite")
    try scene.handBack(li, as: "li.db")
  }

  /// The differences between the org and the expected result of the day's edits, one per line.
  func faults() async throws -> [String] {
    var faults: [String] = []
    func expect(_ holds: Bool, _ what: String) { if !holds { faults.append(what) } }
    let all = try await scene.org.records("Account")
    func account(_ id: String) -> JSONObject { all.first { $0["Id"]?.string == id } ?? [:] }
    expect(account(accounts[0])["Phone"] == "+1 555 9", "another user's number was overwritten")
    expect(account(accounts[1])["Phone"] == "+1 555 2", "a number did not arrive")
    expect(account(accounts[1])["AnnualRevenue"]?.double == 1.5e9, "a revenue did not arrive")
    expect(account(accounts[2])["Phone"]?.string?.hasPrefix("+1 555") == true, "no rule held")
    expect(
      account(accounts[3])["Description"] == "a \"quote\", a 🚲\nand a \\", "a text did not arrive")
    expect(account(accounts[7])["Name"] == "Changed by another user", "another user's name is gone")
    expect(account(shared)["Phone"] == "+1 555 4", "the number of the shared account is another")
    let shops = all.filter { $0["Name"] == "New shop" }
    expect(shops.count == 1, "\(shops.count) new shops")
    let contacts = try await scene.org.records("Contact").filter { $0["LastName"] == "Newcomer" }
    expect(contacts.count == 1, "\(contacts.count) newcomers")
    expect(
      contacts.first?["AccountId"] == shops.first?["Id"], "the newcomer is not of the new shop")
    expect(
      contacts.first?["CreatedById"]?.string == scene.userIDs["rosa@foreign.example"],
      "the newcomer was not made by its user")
    let visits = try await scene.org.records("Site_Visit__c")
      .filter { $0["Serial__c"] == "new/serial #1" }
    expect(visits.count == 1, "\(visits.count) visits of one serial number")
    let order = try await scene.org.records("WorkOrder").first { $0["Id"]?.string == workOrder }
    expect(order?["IsDeleted"] == true, "the order is not deleted")
    let written = try await scene.org.log().dropFirst(before).reduce(0) { $0 + $1.writes }
    expect(written == Self.writes, "\(written) records were written")
    return faults
  }
}
