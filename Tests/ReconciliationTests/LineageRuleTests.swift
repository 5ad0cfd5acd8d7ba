import Ledger
import Testing

struct LineageRuleTests {
  private typealias Edit = ReturnFacts.DirtyRow
  private static func facts(
    _ lineage: Int64? = nil, _ install: String? = nil, _ handback: Int64? = nil,
    _ edits: [Int64: (Int64, String)], clean: [Int64: Int64] = [:]
  ) -> ReturnFacts {
    ReturnFacts(
      lineage: lineage, install: install, handback: handback,
      edits: Dictionary(
        uniqueKeysWithValues: edits.map {
          (LedgerFixture.row($0.key), Edit(lastModified: $0.value.0, content: $0.value.1))
        }),
      cleanRows: Dictionary(
        uniqueKeysWithValues: clean.map { (LedgerFixture.row($0.key), $0.value) }))
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let candidate: ReturnFacts
    let known: [ReturnFacts]
    let expected: LineageRule.Choice
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(
      name: "the first return", candidate: facts(nil, "A", 1, [1: (5, "x")]), known: [],
      expected: .new),
    Case(
      name: "the same install continues", candidate: facts(nil, "A", 2, [1: (9, "y")]),
      known: [facts(1, "A", 1, [1: (5, "x")])], expected: .known(1)),
    Case(
      name: "another install is another device", candidate: facts(nil, "B", 1, [1: (5, "x")]),
      known: [facts(1, "A", 1, [1: (5, "x")])], expected: .new),
    Case(
      name: "an earlier return that arrives later", candidate: facts(nil, "A", 1, [1: (5, "x")]),
      known: [facts(1, "A", 2, [1: (9, "y")])], expected: .known(1)),
    Case(
      name: "an earlier return whose row is clean in the later one",
      candidate: facts(nil, "A", 1, [1: (5, "x")]),
      known: [facts(1, "A", 2, [2: (9, "y")], clean: [1: 5])], expected: .known(1)),
    Case(
      name: "a lower number with a row that no later one holds forks",
      candidate: facts(nil, "A", 2, [3: (12, "n")]),
      known: [facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (9, "y")])],
      expected: .fork(of: 1, at: 2)),
    Case(
      name: "a lower number with a row that was changed after the later one forks",
      candidate: facts(nil, "A", 2, [1: (12, "n")]),
      known: [facts(1, "A", 3, [1: (9, "y")])], expected: .fork(of: 1, at: 2)),
    Case(
      name: "a restored phone continues with known numbers",
      candidate: facts(nil, "A", 3, [3: (14, "n2")]),
      known: [
        facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (9, "y")]),
        facts(2, "A", 2, [3: (12, "n")]),
      ], expected: .known(2)),
    Case(
      name: "a restored phone also continues its edits from before the backup",
      candidate: facts(nil, "A", 3, [1: (5, "x"), 3: (14, "n2")]),
      known: [
        facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (5, "x"), 2: (9, "y")]),
        facts(2, "A", 2, [1: (5, "x"), 3: (12, "n")]),
      ], expected: .known(2)),
    Case(
      name: "a phone continues from its last return",
      candidate: facts(nil, "A", 4, [1: (6, "z"), 3: (14, "n2")]),
      known: [
        facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (9, "y")]),
        facts(2, "A", 2, [3: (12, "n")]),
      ], expected: .known(2)),
    Case(
      name: "one return with two contents forks",
      candidate: facts(nil, "A", 2, [1: (9, "y")]),
      known: [facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 2, [1: (8, "z")])],
      expected: .fork(of: 1, at: 2)),
    Case(
      name: "one return with the same content twice does not fork",
      candidate: facts(nil, "A", 2, [1: (9, "y")]), known: [facts(1, "A", 2, [1: (9, "y")])],
      expected: .known(1)),
    Case(
      name: "after a fork the evidence shows which side continues",
      candidate: facts(nil, "A", 3, [1: (9, "y"), 2: (10, "n")]),
      known: [facts(1, "A", 2, [1: (8, "z")]), facts(2, "A", 2, [1: (9, "y")])],
      expected: .known(2)),
    Case(
      name: "after a fork no evidence is one more device",
      candidate: facts(nil, "A", 3, [1: (10, "n")]),
      known: [facts(1, "A", 2, [1: (8, "z")]), facts(2, "A", 2, [1: (9, "y")])],
      expected: .new),
    Case(
      name: "a later edit of a row continues either side of a fork, one of which returned no edit",
      candidate: facts(nil, "A", 2, [1: (9, "y")]),
      known: [facts(1, "A", 1, [1: (5, "x")]), facts(2, "A", 1, [:])], expected: .new),
    Case(
      name: "an unchanged edit continues the side of a fork that has it",
      candidate: facts(nil, "A", 2, [1: (5, "x"), 2: (9, "y")]),
      known: [facts(1, "A", 1, [1: (5, "x")]), facts(2, "A", 1, [:])], expected: .known(1)),
    Case(
      name: "without install, one edit unchanged and none gone is one device",
      candidate: facts([1: (5, "x"), 2: (9, "y")]), known: [facts(1, [1: (5, "x")])],
      expected: .known(1)),
    Case(
      name: "a clean row is evidence too",
      candidate: facts([2: (9, "y")], clean: [1: 5]), known: [facts(1, [1: (5, "x")])],
      expected: .known(1)),
    Case(
      name: "nothing unchanged is two devices",
      candidate: facts([1: (6, "x")]), known: [facts(1, [1: (5, "x")])], expected: .new),
    Case(
      name: "one edit earlier and one later is two devices",
      candidate: facts([1: (5, "x"), 2: (3, "y"), 3: (9, "n")]),
      known: [facts(1, [1: (5, "x"), 2: (4, "z"), 3: (8, "m")])], expected: .new),
    Case(
      name: "one edit gone and another new is two devices",
      candidate: facts([1: (5, "x"), 3: (9, "n")]),
      known: [facts(1, [1: (5, "x"), 2: (4, "z")])], expected: .new),
    Case(
      name: "the earlier state of one device that comes later",
      candidate: facts([1: (5, "x")]), known: [facts(1, [1: (5, "x"), 2: (6, "y")])],
      expected: .known(1)),
    Case(
      name: "of returns without a number the last to arrive is continued",
      candidate: facts(nil, "A", nil, [1: (9, "y")]),
      known: [
        facts(1, "A", nil, [1: (5, "x")]), facts(1, "A", nil, [1: (9, "y")]),
        facts(2, "A", nil, [2: (6, "z")]),
      ], expected: .known(1)),
    Case(
      name: "evidence of two lineages is evidence of none",
      candidate: facts([1: (5, "x"), 2: (6, "y")]),
      known: [facts(1, [1: (5, "x")]), facts(2, [2: (6, "y")])], expected: .new),
    Case(
      name: "evidence of one return is none where another of its lineage speaks against it",
      candidate: facts([1: (5, "x"), 3: (7, "n")]),
      known: [facts(1, [1: (5, "x")]), facts(1, [1: (5, "x"), 2: (6, "y")])], expected: .new),
    Case(
      name: "an app that names no install is not one that does",
      candidate: facts([1: (5, "x")]), known: [facts(1, "A", nil, [1: (5, "x")])],
      expected: .new),
  ]

  private static func facts(_ edits: [Int64: (Int64, String)], clean: [Int64: Int64] = [:])
    -> ReturnFacts
  { facts(nil, nil, nil, edits, clean: clean) }

  private static func facts(_ lineage: Int64, _ edits: [Int64: (Int64, String)]) -> ReturnFacts {
    facts(lineage, nil, nil, edits)
  }

  @Test(arguments: cases)
  func `a return is assigned to its lineage`(_ row: Case) {
    #expect(LineageRule.choose(for: row.candidate, among: row.known) == row.expected)
  }
}
