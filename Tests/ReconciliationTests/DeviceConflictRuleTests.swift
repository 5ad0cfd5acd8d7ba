import Ledger
import Reconciliation
import Testing

struct DeviceConflictRuleTests {
  private static let before = "2026-01-01T00:00:00.000+0000"
  private static let after = "2026-01-01T00:00:01.000+0000"

  private func claim(
    _ id: Int64, _ verdict: Verdict? = nil, arrived: Int64 = 10, written: String? = nil
  ) -> RecordClaim {
    RecordClaim(editID: id, arrived: arrived, verdict: verdict, writtenDate: written)
  }

  private func opponents(
    _ claims: RecordClaim..., policy: ReconcileOptions.DeviceConflicts = .manual,
    date: String? = before, issued: Int64? = nil
  ) -> [Int64] {
    DeviceConflictRule.opponents(
      of: claim(5), deviceDate: date, issued: issued, claims: claims, policy: policy)
  }

  @Test func `an edit conflicts neither with itself nor with a decision`() {
    #expect(opponents(claim(5)) == [])
    #expect(opponents(claim(1, .conflict), claim(2, .unchanged), claim(3, .superseded)) == [])
  }

  @Test(arguments: [nil, Verdict.deviceConflict, .notAttempted, .blocked, .unconfirmed])
  func `an undecided edit conflicts, in the order of the policy`(_ verdict: Verdict?) {
    let (earlier, later) = (claim(1, verdict), claim(9, verdict))
    #expect(opponents(earlier, later) == [1, 9])
    #expect(opponents(earlier, later, policy: .firstWins) == [1])
    #expect(opponents(earlier, later, policy: .lastWins) == [9])
  }

  @Test func `a write conflicts with an edit that has not seen it`() {
    #expect(opponents(claim(1, .updated, written: Self.after)) == [1])
    #expect(opponents(claim(1, .updated, written: Self.before)) == [])
    #expect(opponents(claim(1, .updated, written: Self.before), date: nil) == [1])
    #expect(opponents(claim(1, .updated, written: Self.after), policy: .lastWins) == [])
    #expect(opponents(claim(9, .updated, written: Self.after), policy: .lastWins) == [9])
  }

  @Test func `an undone write conflicts with nothing`() {
    #expect(opponents(claim(1, .undone, written: Self.after)) == [])
    for verdict in [Verdict.notUndone, .partlyUndone] {
      #expect(opponents(claim(1, verdict, written: Self.after)) == [1])
    }
  }

  @Test func `a device conflict lasts until a bundle is issued after it`() {
    #expect(opponents(claim(1, .deviceConflict, arrived: 10), issued: 5) == [1])
    #expect(opponents(claim(1, .deviceConflict, arrived: 10), issued: 9) == [1])
    // The bundle of the run that reported the conflict.
    #expect(opponents(claim(1, .deviceConflict, arrived: 10), issued: 10) == [])
    #expect(opponents(claim(1, .deviceConflict, arrived: 10), issued: 11) == [])
    #expect(opponents(claim(1, .notAttempted, arrived: 10), issued: 11) == [1])
  }
}
