import Ledger
import Testing

@Suite struct ServerDateTests {
  @Test(arguments: [
    ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:00.000+0000", true, false),
    ("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.000+00:00", true, false),
    ("2026-03-01T11:00:00.000+0100", "2026-03-01T10:00:00.000Z", true, false),
    ("2026-03-01T10:00:00.000Z", "2026-03-01T10:00:01.000+0000", false, true),
    ("2026-03-01T10:00:00.000+0000", "2026-03-01T09:30:00.000Z", false, false),
    ("2026-03-01T10:00:00.000+0100", "2026-03-01T09:30:00.000Z", false, true),
    ("no date", "no date", true, false), ("a", "b", false, true),
  ])
  func `dates are compared as times, in any format`(
    one: String, other: String, isSame: Bool, isBefore: Bool
  ) {
    #expect(ServerDate.isSame(one, other) == isSame)
    #expect(ServerDate.isBefore(one, other) == isBefore)
  }
}
