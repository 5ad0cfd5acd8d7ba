import JSON
import Ledger
import System

/// A day with so many edits of each kind that bulk jobs are used.
struct BulkWork {
  static let verdicts: [Verdict: Int] = [
    .updated: 13, .created: 12, .deleted: 3, .conflict: 1, .failed: 1,
  ]
  static let writes = 28
  private let scene: SecondOrgScene
  private let before: Int
  private let accounts: [String]
  private let orders: [String]
  private let visits: [String]

  /// Plays the day: the phone's store is returned at the end.
  init(_ scene: SecondOrgScene) async throws {
    self.scene = scene
    let rosa = try scene.device("rosa", .ios, as: "rosa")
    func ids(_ soup: String, _ name: String, _ prefix: String) throws -> [String] {
      try rosa.elements(soup).filter { $0[name]?.string?.hasPrefix(prefix) == true }
        .compactMap { $0["Id"]?.string }.sorted()
    }
    let now = Clock.wallMilliseconds()
    accounts = Array(try ids("accounts", "Name", "Rosa's account").prefix(12))
    orders = Array(try ids("workorders", "Subject", "Order").prefix(3))
    visits = Array(try ids("visits", "Name", "Yard").prefix(3))
    for (place, id) in accounts.enumerated() {
      var values: JSONObject = ["Phone": .string("+1 777 \(place)")]
      // A value that the org's rule refuses, and values that CSV must quote.
      if place == 1 { values["Phone"] = "none" }
      if place == 2 { values["Description"] = "a \"quote\", a comma,\r\ntwo lines and 🚲" }
      if place == 3 { values["Description"] = .null }
      if place == 4 { values["AnnualRevenue"] = .number("1.5E9") }
      try rosa.edit("accounts", id: id, values, now: now)
    }
    for number in 0..<3 {
      try rosa.create(
        "accounts", type: "Account", ["Name": .string("Depot \(number)"), "Phone": "+1 778"],
        localID: "local_a\(number)", now: now)
    }
    for number in 0..<4 {
      try rosa.create(
        "contacts", type: "Contact",
        ["LastName": "Clerk", "AccountId": .string("local_a\(number % 3)")],
        localID: "local_c\(number)", now: now)
    }
    for number in 0..<5 {
      try rosa.create(
        "visits", type: "Site_Visit__c",
        ["Name": .string("Look \(number)"), "Serial__c": .string("look-\(number)")],
        localID: "local_v\(number)", now: now)
    }
    for id in visits { try rosa.edit("visits", id: id, ["Name": "Seen"], now: now) }
    for id in orders { try rosa.delete("workorders", id: id, now: now) }
    try await scene.org.change("Account", id: accounts[0], ["Phone": "+1 555 9"])
    before = try await scene.org.log().count
    try scene.handBack(rosa, as: "rosa.sqlite")
  }

  /// The differences between the org and the expected result of the day's edits, one per line.
  func faults() async throws -> [String] {
    var faults: [String] = []
    func expect(_ holds: Bool, _ what: String) { if !holds { faults.append(what) } }
    let all = try await scene.org.records("Account")
    func account(_ place: Int) -> JSONObject {
      all.first { $0["Id"]?.string == accounts[place] } ?? [:]
    }
    expect(account(0)["Phone"] == "+1 555 9", "another user's number was overwritten")
    expect(account(1)["Phone"] != "none", "no rule held")
    for place in 2..<12 {
      expect(account(place)["Phone"]?.string == "+1 777 \(place)", "the number of \(place)")
    }
    expect(
      account(2)["Description"] == "a \"quote\", a comma,\r\ntwo lines and 🚲", "a text is another")
    expect(account(3)["Description"]?.isNull == true, "a text was not emptied")
    expect(account(4)["AnnualRevenue"]?.double == 1.5e9, "a revenue did not arrive")
    let depots = all.filter { $0["Phone"] == "+1 778" }.compactMap { $0["Name"]?.string }.sorted()
    expect(depots == ["Depot 0", "Depot 1", "Depot 2"], "depots \(depots)")
    let clerks = try await scene.org.records("Contact").filter { $0["LastName"] == "Clerk" }
    let named = Dictionary(
      all.map { ($0["Id"]?.string ?? "", $0["Name"]?.string ?? "") },
      uniquingKeysWith: { first, _ in first })
    let places = clerks.map { named[$0["AccountId"]?.string ?? ""] ?? "nobody's" }.sorted()
    expect(places == ["Depot 0", "Depot 0", "Depot 1", "Depot 2"], "clerks of \(places)")
    let sites = try await scene.org.records("Site_Visit__c")
    let serials = sites.compactMap { $0["Serial__c"]?.string }.filter { $0.hasPrefix("look-") }
    expect(serials.sorted() == (0..<5).map { "look-\($0)" }, "visits \(serials)")
    let seen = sites.filter { $0["Name"] == "Seen" }.compactMap { $0["Id"]?.string }.sorted()
    expect(seen == visits, "seen \(seen)")
    let orders = try await scene.org.records("WorkOrder")
      .filter { self.orders.contains($0["Id"]?.string ?? "") && $0["IsDeleted"] == true }
    expect(orders.count == 3, "\(orders.count) orders are deleted")
    let written = try await scene.org.log().dropFirst(before).reduce(0) { $0 + $1.writes }
    expect(written == Self.writes, "\(written) records were written")
    return faults
  }
}
