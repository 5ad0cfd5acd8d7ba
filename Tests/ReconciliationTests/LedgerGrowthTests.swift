import Ledger
import Reports
import Testing

struct LedgerGrowthTests {
  private static let edits = 20

  /// Returns a device's edits and new records, then returns them again after a run.
  private func handBack(_ fixture: LedgerFixture, user: Int, handback: Int64) throws {
    let snapshot = "005000000000\(1000 + user)AAA"
    var row = LedgerFixture.returned(
      "sha-\(user)-\(handback)", install: "phone", handback: handback, stamp: "stamp-\(user)")
    row.snapshotID = snapshot
    var edits = (0..<Self.edits).map { place in
      LedgerFixture.update(
        Int64(place), id: "001000000\(100_000 + user * 100 + place)AAA", date: 1000 + handback,
        name: "n\(handback)")
    }
    edits.append(LedgerFixture.create(900, local: "local_\(user)", date: 1000, name: "new"))
    _ = try fixture.state.record(return: row, edits: edits)
  }

  private func ask(_ fixture: LedgerFixture, user: Int, run: String) throws {
    let snapshot = "005000000000\(1000 + user)AAA"
    _ = try fixture.state.openEdits(run: run, snapshotID: snapshot)
    _ = try fixture.state.edits(.left(snapshotID: snapshot))
    _ = try fixture.state.carriable(snapshotID: snapshot)
    _ = try fixture.state.includes(snapshotID: snapshot)
    _ = try fixture.state.rowsToWitness(stampIDs: ["stamp-\(user)"])
    _ = try fixture.state.isClaimed(recordID: "001000000000009AAA")
  }

  @Test func `the last of many returns costs as much as the first`() throws {
    let fixture = try LedgerFixture()
    let run = try fixture.state.beginRun(pipeline: "p", now: 5000, configHash: "c", host: "h")
    var costs: [Int] = []
    for group in 0..<10 {
      costs.append(
        try fixture.state.connection.work {
          for user in group * 20..<(group + 1) * 20 {
            try handBack(fixture, user: user, handback: 1)
            try handBack(fixture, user: user, handback: 2)
            try ask(fixture, user: user, run: run.id)
          }
        })
    }
    #expect(costs[9] * 10 <= costs[1] * 13, "\(costs)")
  }

  /// The work of reading the report of a run with this number of verdicts.
  private func reporting(_ count: Int) throws -> Int {
    let fixture = try LedgerFixture()
    let run = try fixture.state.beginRun(pipeline: "p", now: 5000, configHash: "c", host: "h")
    let edits = (0..<count).map { place in
      LedgerFixture.update(
        Int64(place), id: "001000000\(100_000 + place)AAA", date: 1000, name: "n")
    }
    try fixture.record("sha", install: "phone", handback: 1, edits)
    for edit in try fixture.state.openEdits(run: run.id, snapshotID: "005000000000001AAA") {
      try fixture.state.settle(edit.id, run: run.id, Settlement(.updated, OutcomeDetail()))
    }
    try fixture.state.note(.report(.begun), run: run.id)
    return try fixture.state.connection.work {
      let report = try ReportModel(state: fixture.state, run: run.id, called: "demo")
      var numbers: [Int64] = []
      try report.edits.forEach { numbers.append($0.number) }
      #expect(numbers == Array(1...Int64(count)))
    }
  }

  @Test func `a report of five times as many edits takes five times the work`() throws {
    let (some, many) = (try reporting(400), try reporting(2000))
    #expect(many * 10 <= some * 60, "\(some) and \(many)")
  }
}
