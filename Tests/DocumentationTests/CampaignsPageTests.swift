import TestSupport
import Testing

/// The table in `docs/dev/campaigns.md` has the sizes of all campaigns.
@Suite struct CampaignsPageTests {
  @Test func `the table has each campaign with its sizes, and no other`() throws {
    let rows = try Page("docs/dev/campaigns.md").text.split(separator: "\n")
      .filter { $0.hasPrefix("| `ATTACHE_") }
      .map { $0.split(separator: "|").map { $0.filter { !" `".contains($0) } } }
    let found = rows.map { [$0[0]] + $0.dropFirst(2) }
    let expected = CampaignSize.allCases.map { size in
      [size.rawValue] + CampaignSize.Scale.allCases.map { "\(size.count(at: $0))" }
    }
    #expect(found == expected)
  }
}
