import JSON
import LocalOrg
import Testing

@Suite struct OrgClockTests {
  @Test func `a stepping clock can be held and moved`() throws {
    let sample = try SampleOrg()
    try sample.org.holdClock(true)
    for name in ["a", "b"] { try sample.make("Account", ["Name": .string(name)]) }
    try sample.org.holdClock(false)
    try sample.org.advanceClock(byMilliseconds: 86_400_000)
    try sample.make("Account", ["Name": "c"])
    #expect(
      try sample.column("SELECT LastModifiedDate FROM Account", "LastModifiedDate") == [
        "2023-11-14T22:13:20.000+0000", "2023-11-14T22:13:20.000+0000",
        "2023-11-15T22:13:21.000+0000",
      ])
    #expect(try sample.column("SELECT Name FROM Account WHERE CreatedDate = YESTERDAY").count == 2)
  }
}
