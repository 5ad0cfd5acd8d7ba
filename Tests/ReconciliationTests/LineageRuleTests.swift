import Ledger
import Testing

struct LineageRuleTests {
  private typealias Edit = LineageEvidence.DirtyRow
  private static func facts(
    _ lineage: Int64? = nil, _ install: String? = nil, _ handback: Int64? = nil,
    _ edits: [Int64: (Int64, String)], clean: [Int64: Int64] = [:]
  ) -> LineageEvidence {
    LineageEvidence(
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
    let candidate: LineageEvidence
    let known: [LineageEvidence]
    let expected: LineageRule.Choice
    var testDescription: String { name }
    init(
      _ name: String, _ candidate: LineageEvidence, after known: [LineageEvidence],
      _ expected: LineageRule.Choice
    ) {
      (self.name, self.candidate, self.known, self.expected) = (name, candidate, known, expected)
    }
  }

  static let cases: [Case] = [
    Case("the first return", facts(nil, "A", 1, [1: (5, "x")]), after: [], .new),
    Case(
      "the same install continues", facts(nil, "A", 2, [1: (9, "y")]),
      after: [facts(1, "A", 1, [1: (5, "x")])], .known(1)),
    Case(
      "another install is another device", facts(nil, "B", 1, [1: (5, "x")]),
      after: [facts(1, "A", 1, [1: (5, "x")])], .new),
    Case(
      "an earlier return that arrives later", facts(nil, "A", 1, [1: (5, "x")]),
      after: [facts(1, "A", 2, [1: (9, "y")])], .known(1)),
    Case(
      "an earlier return whose row is clean in the later one", facts(nil, "A", 1, [1: (5, "x")]),
      after: [facts(1, "A", 2, [2: (9, "y")], clean: [1: 5])], .known(1)),
    Case(
      "a lower number with a row that no later one holds forks", facts(nil, "A", 2, [3: (12, "n")]),
      after: [facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (9, "y")])], .fork(of: 1, at: 2)
    ),
    Case(
      "a lower number with a row that was changed after the later one forks",
      facts(nil, "A", 2, [1: (12, "n")]), after: [facts(1, "A", 3, [1: (9, "y")])],
      .fork(of: 1, at: 2)),
    Case(
      "a restored phone continues with known numbers", facts(nil, "A", 3, [3: (14, "n2")]),
      after: [
        facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (9, "y")]),
        facts(2, "A", 2, [3: (12, "n")]),
      ], .known(2)),
    Case(
      "a restored phone also continues its edits from before the backup",
      facts(nil, "A", 3, [1: (5, "x"), 3: (14, "n2")]),
      after: [
        facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (5, "x"), 2: (9, "y")]),
        facts(2, "A", 2, [1: (5, "x"), 3: (12, "n")]),
      ], .known(2)),
    Case(
      "a phone continues from its last return", facts(nil, "A", 4, [1: (6, "z"), 3: (14, "n2")]),
      after: [
        facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 3, [1: (9, "y")]),
        facts(2, "A", 2, [3: (12, "n")]),
      ], .known(2)),
    Case(
      "one return with two contents forks", facts(nil, "A", 2, [1: (9, "y")]),
      after: [facts(1, "A", 1, [1: (5, "x")]), facts(1, "A", 2, [1: (8, "z")])], .fork(of: 1, at: 2)
    ),
    Case(
      "one return with the same content twice does not fork", facts(nil, "A", 2, [1: (9, "y")]),
      after: [facts(1, "A", 2, [1: (9, "y")])], .known(1)),
    Case(
      "after a fork the evidence shows which side continues",
      facts(nil, "A", 3, [1: (9, "y"), 2: (10, "n")]),
      after: [facts(1, "A", 2, [1: (8, "z")]), facts(2, "A", 2, [1: (9, "y")])], .known(2)),
    Case(
      "after a fork no evidence is one more device", facts(nil, "A", 3, [1: (10, "n")]),
      after: [facts(1, "A", 2, [1: (8, "z")]), facts(2, "A", 2, [1: (9, "y")])], .new),
    Case(
      "a later edit of a row continues either side of a fork, one of which returned no edit",
      facts(nil, "A", 2, [1: (9, "y")]),
      after: [facts(1, "A", 1, [1: (5, "x")]), facts(2, "A", 1, [:])], .new),
    Case(
      "an unchanged edit continues the side of a fork that has it",
      facts(nil, "A", 2, [1: (5, "x"), 2: (9, "y")]),
      after: [facts(1, "A", 1, [1: (5, "x")]), facts(2, "A", 1, [:])], .known(1)),
    Case(
      "without install, one edit unchanged and none gone is one device",
      facts([1: (5, "x"), 2: (9, "y")]), after: [facts(1, [1: (5, "x")])], .known(1)),
    Case(
      "a clean row is evidence too", facts([2: (9, "y")], clean: [1: 5]),
      after: [facts(1, [1: (5, "x")])], .known(1)),
    Case(
      "nothing unchanged is two devices", facts([1: (6, "x")]), after: [facts(1, [1: (5, "x")])],
      .new),
    Case(
      "one edit earlier and one later is two devices",
      facts([1: (5, "x"), 2: (3, "y"), 3: (9, "n")]),
      after: [facts(1, [1: (5, "x"), 2: (4, "z"), 3: (8, "m")])], .new),
    Case(
      "one edit gone and another new is two devices", facts([1: (5, "x"), 3: (9, "n")]),
      after: [facts(1, [1: (5, "x"), 2: (4, "z")])], .new),
    Case(
      "the earlier state of one device that comes later", facts([1: (5, "x")]),
      after: [facts(1, [1: (5, "x"), 2: (6, "y")])], .known(1)),
    Case(
      "of returns without a number the last to arrive is continued",
      facts(nil, "A", nil, [1: (9, "y")]),
      after: [
        facts(1, "A", nil, [1: (5, "x")]), facts(1, "A", nil, [1: (9, "y")]),
        facts(2, "A", nil, [2: (6, "z")]),
      ], .known(1)),
    Case(
      "evidence of two lineages is evidence of none", facts([1: (5, "x"), 2: (6, "y")]),
      after: [facts(1, [1: (5, "x")]), facts(2, [2: (6, "y")])], .new),
    Case(
      "evidence of one return is none where another of its lineage speaks against it",
      facts([1: (5, "x"), 3: (7, "n")]),
      after: [facts(1, [1: (5, "x")]), facts(1, [1: (5, "x"), 2: (6, "y")])], .new),
    Case(
      "an app that names no install is not one that does", facts([1: (5, "x")]),
      after: [facts(1, "A", nil, [1: (5, "x")])], .new),
  ]

  private static func facts(_ edits: [Int64: (Int64, String)], clean: [Int64: Int64] = [:])
    -> LineageEvidence
  { facts(nil, nil, nil, edits, clean: clean) }

  private static func facts(_ lineage: Int64, _ edits: [Int64: (Int64, String)]) -> LineageEvidence
  {
    facts(lineage, nil, nil, edits)
  }

  @Test(arguments: cases) func `a return is assigned to its lineage`(_ row: Case) {
    #expect(LineageRule.choose(for: row.candidate, among: row.known) == row.expected)
  }
}
