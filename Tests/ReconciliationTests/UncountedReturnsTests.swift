import Reconciliation
import Testing

struct UncountedReturnsTests {
  @Test(arguments: [ReconcileOptions.DeviceConflicts.manual, .firstWins])
  func `an older date that arrives later is a device conflict`(
    _ across: ReconcileOptions.DeviceConflicts
  ) async throws {
    let day = try FieldDay()
    day.options.deviceConflicts = across
    let (id, older) = try day.made(
      "Account", ["Name": "One", "Phone": "0"], edited: ["Phone": "1"])
    var newer = try day.edited(account: id, ["Phone": "2"])
    newer.row = older.row
    #expect(try await day.verdicts([newer]) == "updated 1")
    #expect(try await day.verdicts([older]) == "device conflict 1")
    #expect(try day.record("Account", id)["Phone"] == "2")
  }
}
