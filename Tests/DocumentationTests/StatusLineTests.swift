import Testing
import attache

@Suite struct StatusLineTests {
  @Test(arguments: [
    (80, "prime: contacts 120, 40 records/s; 1 of 3 snapshots, 590 requests left"),
    (70, "prime: contacts 120, 40 records/s; 1 of 3 snapshots, 590 requests left"),
    (69, "prime: contacts 120, 40 records/s; 1 of 3 snapshots"),
    (51, "prime: contacts 120, 40 records/s; 1 of 3 snapshots"),
    (50, "prime: contacts 120, 40 records/s"), (20, "prime: contacts 120"), (18, "prime: contacts"),
    (10, "prime:"), (3, "pri"), (0, ""),
  ])
  func `it is cut between parts, otherwise between words`(_ columns: Int, _ shown: String) {
    let line = "prime: contacts 120, 40 records/s; 1 of 3 snapshots, 590 requests left"
    #expect(StatusLine.cut(line, columns: columns) == shown)
  }
}
