import Ledger
import System

/// A short day of one technician: a record of each kind of write.
struct Chores {
  static let verdicts: [Verdict: Int] = [.updated: 1, .created: 2, .deleted: 1]
  private let scene: SecondOrgScene
  private let name: String
  private let phone: String
  private let account: String
  private let workOrder: String

  /// Plays the day with this number: the phone's store is returned at the end.
  init(_ scene: SecondOrgScene, number: Int) async throws {
    self.scene = scene
    name = "Chore \(number)"
    phone = "+1 999 \(number)"
    let rosa = try scene.device("rosa", number % 2 == 0 ? .ios : .android, as: "rosa-\(number)")
    func ids(_ soup: String) throws -> [String] {
      try rosa.elements(soup).compactMap { $0["Id"]?.string }.sorted()
    }
    account = try ids("accounts")[10 + number]
    workOrder = try ids("workorders")[3]
    let now = Clock.wallMilliseconds()
    try rosa.edit("accounts", id: account, ["Phone": .string(phone)], now: now)
    try rosa.create(
      "contacts", type: "Contact", ["LastName": .string(name), "AccountId": .string(account)],
      localID: "local_1", now: now)
    try rosa.create(
      "visits", type: "Site_Visit__c", ["Name": .string(name), "Serial__c": .string(name)],
      localID: "local_2", now: now)
    try rosa.delete("workorders", id: workOrder, now: now)
    try await scene.org.change("Case", ["Subject": .string(name), "Status": "New"])
    try await scene.org.change("Account", id: ids("accounts")[60], ["Name": .string(name)])
    try scene.handBack(rosa, as: "rosa-\(number).sqlite")
  }

  /// The differences between the org and the expected result of the day's edits, one per line.
  func faults(since before: Int) async throws -> [String] {
    var faults: [String] = []
    func expect(_ holds: Bool, _ what: String) { if !holds { faults.append(what) } }
    let accounts = try await scene.org.records("Account")
    let numbers = accounts.filter { $0["Phone"]?.string == phone }.map { $0["Id"]?.string }
    expect(numbers == [account], "the number is at \(numbers)")
    let contacts = try await scene.org.records("Contact").filter { $0["LastName"]?.string == name }
    expect(contacts.count == 1, "\(contacts.count) contacts")
    let visits = try await scene.org.records("Site_Visit__c")
      .filter { $0["Serial__c"]?.string == name }
    expect(visits.count == 1, "\(visits.count) visits")
    let order = try await scene.org.records("WorkOrder").first { $0["Id"]?.string == workOrder }
    expect(order?["IsDeleted"] == true, "the order is not deleted")
    let written = try await scene.org.log().dropFirst(before).reduce(0) { $0 + $1.writes }
    expect(written == 4, "\(written) records were written")
    return faults
  }
}
