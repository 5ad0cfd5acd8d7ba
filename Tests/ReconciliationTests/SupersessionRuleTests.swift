import Ledger
import Testing

struct SupersessionRuleTests {
  private static func sighting(
    _ handback: Int64?, _ date: Int64, _ content: String, lineage: Int64 = 1
  ) -> Sighting {
    Sighting(
      lineage: lineage, handback: handback, row: LedgerFixture.row(1), lastModified: date,
      content: content)
  }

  private func disposition(
    _ handback: Int64?, _ date: Int64, _ content: String,
    after known: (handback: Int64?, date: Int64, content: String),
    _ standing: SupersessionRule.Version.Standing = .unsettled, lineage: Int64 = 1
  ) -> SupersessionRule.Disposition {
    SupersessionRule.disposition(
      of: Self.sighting(handback, date, content), value: content,
      ancestry: Ancestry(lineage: 1),
      versions: [
        SupersessionRule.Version(
          editID: 7,
          sightings: [Self.sighting(known.handback, known.date, known.content, lineage: lineage)],
          value: known.content, standing: standing)
      ])
  }

  @Test func `a later return replaces unresolved edits, whatever the dates are`() {
    #expect(disposition(2, 3, "b", after: (1, 9, "a")) == .new(superseding: [7]))
    #expect(disposition(2, 9, "b", after: (1, 3, "a"), .settled) == .new(superseding: []))
    #expect(disposition(2, 9, "b", after: (1, 3, "a"), .underWay) == .new(superseding: []))
    #expect(disposition(2, 9, "b", after: (1, 3, "a"), lineage: 2) == .new(superseding: []))
  }

  @Test func `without a later return nothing is replaced, and an older date is not ordered`() {
    #expect(disposition(nil, 9, "b", after: (nil, 3, "a")) == .new(superseding: []))
    #expect(disposition(nil, 3, "b", after: (nil, 9, "a")) == .unordered(with: 7))
    #expect(disposition(2, 9, "b", after: (2, 3, "a")) == .new(superseding: []))
    #expect(disposition(2, 3, "b", after: (2, 9, "a")) == .unordered(with: 7))
    #expect(disposition(2, 9, "b", after: (2, 9, "a")) == .unordered(with: 7))
  }

  @Test func `a late or repeated edit is known`() {
    #expect(disposition(1, 3, "a", after: (2, 9, "b")) == .superseded(by: 7))
    #expect(disposition(2, 3, "a", after: (1, 3, "a")) == .known(7, isSavedAgain: false))
    #expect(disposition(2, 3, "a", after: (1, 3, "a"), .settled) == .superseded(by: 7))
    #expect(disposition(2, 9, "a", after: (1, 3, "a")) == .known(7, isSavedAgain: true))
    #expect(disposition(2, 9, "a", after: (1, 3, "a"), .settled) == .new(superseding: []))
  }
}
