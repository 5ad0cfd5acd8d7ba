import JSON
import Ledger
import Reconciliation
import Testing

/// Apps that count no hand-backs: nothing says which of two of their returns came first.
struct UncountedReturnsTests {
  @Test(arguments: [ReconcileOptions.Across.report, .first])
  func `an older date that comes later is a clash`(_ across: ReconcileOptions.Across) async throws {
    let day = try FieldDay()
    day.options.acrossSnapshots = across
    let id = try day.make("Account", ["Name": "One", "Phone": "0"])
    let older = try day.edited("accounts", "Account", id, ["Phone": "1"])
    var newer = try day.edited("accounts", "Account", id, ["Phone": "2"])
    newer.row = older.row
    try day.handBack([newer])
    #expect(day.verdicts(try await day.run()) == "updated 1")
    try day.handBack([older])
    #expect(day.verdicts(try await day.run()) == "clash 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
  }
}
