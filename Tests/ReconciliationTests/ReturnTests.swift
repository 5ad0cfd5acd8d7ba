import Ledger
import Testing

struct ReturnTests {
  private let fixture: F
  init() throws { fixture = try F() }

  private typealias F = LedgerFixture

  @Test func `the same file twice is one return`() throws {
    let edits = [F.update(1, date: 5, name: "x")]
    let first = try fixture.record("a", edits)
    let again = try fixture.record("a", edits)
    #expect(first.new == 1)
    #expect(again.isKnown)
    #expect(again.new == 0)
    #expect(try fixture.verdicts() == ["open -"])
  }

  @Test func `a later return supersedes edits that it changed or no longer has`() throws {
    try fixture.record(
      "a", install: "A", handback: 1,
      [
        F.update(1, date: 5, name: "x"), F.update(2, id: "001000000000002AAA", date: 6, name: "y"),
        F.update(3, id: "001000000000003AAA", date: 6, name: "same"),
      ])
    let second = try fixture.record(
      "b", install: "A", handback: 2,
      [
        F.update(1, date: 9, name: "x2"),
        F.update(3, id: "001000000000003AAA", date: 6, name: "same"),
      ])
    #expect(second.new == 1)
    #expect(second.known == 1)
    #expect(second.superseded == 0)
    #expect(
      try fixture.verdicts() == ["closed superseded", "closed superseded", "open -", "open -"])
  }

  @Test func `an earlier return that arrives late changes nothing`() throws {
    try fixture.record(
      "b", install: "A", handback: 2, [F.update(1, date: 9, name: "x2")],
      witnesses: [CleanRow(row: F.row(2), created: 10, lastModified: 8)])
    let late = try fixture.record(
      "a", install: "A", handback: 1,
      [F.update(1, date: 5, name: "x"), F.update(2, id: "001000000000002AAA", date: 6, name: "y")])
    #expect(late.superseded == 2)
    #expect(try fixture.verdicts() == ["open -", "closed superseded", "closed superseded"])
  }

  @Test func `a lower number with rows that the later return lacks is a restored device`() throws {
    try fixture.record(
      "b", install: "A", handback: 3, [F.update(1, date: 9, name: "x2")],
      witnesses: [CleanRow(row: F.row(2), created: 10, lastModified: 8)])
    let restored = try fixture.record(
      "a", install: "A", handback: 2,
      [F.update(1, date: 5, name: "x"), F.update(2, id: "001000000000002AAA", date: 12, name: "y")])
    #expect(restored.superseded == 0)
    #expect(restored.new == 2)
    #expect(try fixture.verdicts() == ["open -", "open -", "open -"])
    #expect(Set(try fixture.state.editStates().map(\.lineage)).count == 2)
  }

  @Test func `an edit of a record replaces none in another soup`() throws {
    let totals = ["accounts", "others"].reduce(into: [:]) {
      $0[SoupKey(store: F.store, soup: $1)] = 100
    }
    var other = F.update(7, date: 5, name: "other")
    other.row = F.row(7, soup: "others")
    try fixture.record("a", install: "A", handback: 1, totals: totals, [other])
    let second = try fixture.record(
      "b", install: "A", handback: 2, totals: totals, [F.update(1, date: 9, name: "x"), other])
    #expect(second.new == 1 && second.known == 1 && second.superseded == 0)
    #expect(try fixture.verdicts() == ["open -", "open -"])
  }

  @Test func `a return without the soup supersedes nothing of it`() throws {
    try fixture.record("a", install: "A", handback: 1, [F.update(1, date: 5, name: "x")])
    try fixture.record("b", install: "A", handback: 2, totals: [:], [])
    #expect(try fixture.verdicts() == ["open -"])
  }

  @Test func `without return counters an older date with other content is not ordered`() throws {
    try fixture.record("b", install: "A", [F.update(1, date: 9, name: "new")])
    let late = try fixture.record("a", install: "A", [F.update(1, date: 5, name: "old")])
    #expect(late.unordered == 1)
    #expect(try fixture.verdicts() == ["open -", "open -"])
  }

  @Test func `two devices of one bundle that create the same row create two records`() throws {
    try fixture.record("a", [F.create(101, local: "local_1", date: 500, name: "one")])
    try fixture.record("b", [F.create(101, local: "local_2", date: 500, name: "two")])
    try fixture.record(
      "c", [F.create(101, local: "local_1", created: 501, date: 501, name: "three")])
    #expect(try fixture.state.creationCount() == 3)
    #expect(try fixture.verdicts() == ["open -", "open -", "open -"])
  }

  @Test func `a create that returns changed is the same record`() throws {
    try fixture.record(
      "a", install: "A", handback: 1, [F.create(101, local: "local_1", date: 500, name: "one")])
    try fixture.record(
      "b", install: "A", handback: 2, [F.create(101, local: "local_1", date: 600, name: "one more")]
    )
    #expect(try fixture.state.creationCount() == 1)
    #expect(try fixture.verdicts() == ["closed superseded", "open -"])
  }

  @Test func `rows of earlier returns are requested as unchanged rows`() throws {
    try fixture.record("a", [F.update(7, date: 5, name: "x")])
    #expect(try fixture.state.rowsToWitness(stampIDs: ["stamp-1"]) == [F.row(7)])
    #expect(try fixture.state.rowsToWitness(stampIDs: ["stamp-2"]).isEmpty)
  }
}
