import Ledger
import LocalOrg
import TestSupport
import Testing

struct RequestCountTests {
  private let day: FieldDay
  init() throws { day = try FieldDay() }

  private func user(_ name: String) throws -> OrgUser {
    try day.org.addUser(name + "@example.com", lastName: name, profile: "Field Technician")
  }

  @Test func `updates cost their conditional writes, two reads, and a describe`() async throws {
    // More updates of one user than one read takes.
    let updates = CampaignSize.updates.count
    day.options.maxChanges.perSnapshot = updates
    let cyd = try user("cyd")
    try day.state.save(SnapshotRow(id: cyd.id, userID: cyd.id, username: cyd.username))
    let users = [day.ada, day.ben, cyd]
    var least = 0
    for (place, user) in users.enumerated() {
      let count = place == 0 ? updates - updates / 8 : updates / 16
      let ids = try day.org.transaction {
        try (0..<count).map { number in
          try #require(
            day.org.create("Account", ["Name": .string("a\(number)"), "Phone": "1"], as: user).id)
        }
      }
      let edits = try ids.map { try day.edited(account: $0, ["Phone": "2"]) }
      try day.handBack(edits, user: user)
      let reads = (count + 1999) / 2000
      least += (count + 24) / 25 + 2 * reads + 1
    }
    let before = day.server.log.count
    #expect(day.verdicts(try await day.run()) == "updated \(updates)")
    let entries = day.server.log.entries(after: before)
    let counts = entries.reduce(into: [:]) { $0[$1.kind, default: 0] += 1 }
    #expect(counts[.describe] == users.count)
    let spent = [RequestKind.composite, .retrieve, .describe, .query].reduce(0) {
      $0 + (counts[$1] ?? 0)
    }
    #expect(Double(spent) <= 1.1 * Double(least), "\(counts)")
  }

  @Test func `a collection has at most ten types`() async throws {
    let types = [
      "Account", "Contact", "Case", "WorkOrder", "Site_Visit__c", "Opportunity", "Lead", "Task",
      "Event", "Asset", "Product2", "ServiceAppointment",
    ].filter { day.org.schema($0) != nil }
    day.rules = [FieldDay.rule("things", ["Description"], mode: .overwrite)]
    var edits: [Edit] = []
    for round in 0..<3 {
      for type in types {
        edits.append(day.created("things", type, "local_\(round)_\(type)", ["Description": "x"]))
      }
    }
    try day.handBack(edits)
    try await day.run()
    let creates = day.server.log.entries.filter { $0.kind == .collectionCreate }
    // A record without a name is refused by row, and never as a whole.
    #expect(!creates.isEmpty && creates.allSatisfy { $0.status == 200 })
    #expect(creates.count == (types.count + 9) / 10)
  }
}
