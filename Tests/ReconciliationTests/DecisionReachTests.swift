import JSON
import Ledger
import Reports
import Testing

struct DecisionReachTests {
  private typealias F = LedgerFixture

  @Test func `discarding a later edit leaves an earlier one of its row open`() async throws {
    let day = try FieldDay()
    let id = try day.make("Account", ["Name": "Mill", "Phone": "0"])
    let first = try day.edited("accounts", "Account", id, ["Phone": "1"])
    try day.change("Account", id, ["Phone": "office"])
    #expect(try await day.verdicts([first]) == "conflict 1")
    // The app does not count its returns, so nothing shows that the second replaces the first.
    var second = first
    second.lastModified += 10
    var element = try #require(try JSONValue(parsing: first.element).object)
    element["Phone"] = "2"
    second.element = JSONValue.object(element).bytes
    try day.handBack([second])
    _ = try await day.run()
    try day.decide(2, .server)
    #expect(day.verdicts(try await day.run()) == "discarded 1")
    #expect(try day.state.unsettledEdits() == [.conflict: 1])
    #expect(try day.record("Account", id)["Phone"] == "office")
  }

  @Test(arguments: ["•••", "(not shown)"])
  func `the placeholder of a hidden value cannot be sent`(_ text: String) {
    let found = DecisionFacts(
      edit: 1, subject: .init(verdict: .conflict, operation: .update, hasRecord: true),
      detail: OutcomeDetail(), soup: SoupKey(store: FieldDay.store, soup: "accounts"))
    let request = DecisionRequest(edit: 1, .fields(["Phone": .text(text)], rest: .device))
    #expect(throws: DecisionRefusal.self) {
      try request.decision(for: found, sendable: ["Phone"], ReportMask(mask: ["Phone"]))
    }
  }

  @Test func `the return counters of two users of a device are not compared`() throws {
    let fixture = try F()
    let soup = SoupKey(store: F.store, soup: "accounts")
    let edit = F.update(7, date: 100, name: "ours")
    func row(
      _ name: String, _ stamp: String, _ snapshot: String, _ handback: Int64, _ edits: [Edit] = []
    ) -> ReturnRow {
      var row = ReturnRow(
        sha256: name, sourceName: name, stampID: stamp, snapshotID: snapshot, generation: 1,
        platform: "ios", install: stamp == "stamp-g" ? "phone" : "install of \(snapshot)",
        handback: handback, arrived: 1, soupTotals: stamp == "stamp-g" ? [soup: 1] : [:])
      row.edits = edits
      return row
    }
    // The same open edit of the device's global store arrives with Ada's first bundle and Ben's
    // fifth.
    for (user, number, own) in [("ada", 1, 1), ("ben", 5, 2)] as [(String, Int64, Int64)] {
      _ = try fixture.state.record(
        return: row("\(user)-\(number)", "stamp-\(user)", user, number),
        parts: [row("\(user)-\(number)-g", "stamp-g", user, own, [edit])])
    }
    _ = try fixture.state.record(return: row("ada-6", "stamp-ada", "ada", 6))
    #expect(try fixture.state.includes(snapshotID: "ada") == [])
  }
}
