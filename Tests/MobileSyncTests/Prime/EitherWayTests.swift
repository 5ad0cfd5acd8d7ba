import JSON
import SQLite
import SmartStore
import Testing

@Suite struct EitherWayTests {
  private static let query =
    "SELECT Id, Name, Description, AccountNumber, AnnualRevenue, NumberOfEmployees, IsDeleted, "
    + "CreatedDate, LastModifiedDate FROM Account"

  private static let texts: [String] =
    (0..<0x20).map { "a\(Character(Unicode.Scalar(UInt8($0))))b" }
    + ["\u{0}", "\u{0}\u{0}x", "x\u{0}"]
    + ["\r\n", "a\r\nb", "a\rb", "a\nb", "\n", "\t"].map { "x\($0)x" }
    + [
      "\u{7F}", "\u{85}", "\u{A0}", "\u{2028}\u{2029}", "\u{FEFF}", "\u{FFFD}", "é", "e\u{301}",
      "😀",
    ]
    + [
      "\"", "\"\"", "a\"b", "\"a\"", "\"\n\"", "\\", "\\n", "\\u0000", "a/b", ",", ";", "a,\"b\",c",
      "'", "`", " ", "  a", "a  ", "#N/A", "null", "true", "0", "-0", "1e5", "=1+1", "@a",
      "<a>&amp;</a>", "{}", "[1]",
    ]

  private static let numbers = [
    "0", "-0", "1", "-1", "0.1", "-0.5", "12.50", "10000000", "1.0E7", "1e-7", "123456789012345",
    "139000000.25", "99999999999999", "0.000001", "1E2",
  ]

  @Test(arguments: Platform.allCases)
  func `a query job fills a store as the query's pages do`(_ platform: Platform) async throws {
    let org = try SyncedOrg { $0.bulkPageSize = 40 }
    try org.org.transaction {
      for (place, text) in Self.texts.enumerated() {
        var fields: JSONObject = [
          "Name": .string("n\(place)"), "Description": .string(text),
          "NumberOfEmployees": JSONValue(place),
        ]
        if place.isMultiple(of: 3) { fields["AccountNumber"] = .string("") }
        if place.isMultiple(of: 2) {
          fields["AnnualRevenue"] = .number(Self.numbers[place / 2 % Self.numbers.count])
        }
        if place.isMultiple(of: 5) { fields["NumberOfEmployees"] = .null }
        try org.make("Account", fields)
      }
    }
    let snapshots = [1, Int.max].map { bulkAbove in
      let snapshot = Snapshot(
        org,
        soups: [
          .sample("accounts", "Name", "Description", "AccountNumber", "AnnualRevenue", "IsDeleted")
        ], syncs: [.soql("down", Self.query, into: "accounts")])
      snapshot.platforms = [platform]
      snapshot.bulkAbove = bulkAbove
      return snapshot
    }
    for snapshot in snapshots { try await snapshot.prime() }
    #expect(org.requests(.bulkCreate) == 1)
    let (bulk, paged) = (try rows(snapshots[0], platform), try rows(snapshots[1], platform))
    #expect(bulk.count == Self.texts.count)
    for (one, other) in zip(bulk, paged) { #expect(one == other) }
    // The next prime, by pages, finds nothing to change.
    #expect(try await !snapshots[0].prime().changed)
    #expect(try snapshots[0].column("Description", of: "accounts", platform).contains("a\u{0}b"))
  }

  /// Each row in the order of the records: the element without its row number, and all index
  /// columns.
  private func rows(_ snapshot: Snapshot, _ platform: Platform) throws -> [String] {
    let file = try Connection(snapshot.path(platform), mode: .readOnly)
    let columns = (0..<11).map { "typeof(TABLE_1_\($0)) || hex(TABLE_1_\($0))" }
    return try file.texts(
      """
      SELECT hex(replace(soup, '"_soupEntryId":' || id, '')) || \(raw: columns.joined(separator: " || "))
      FROM TABLE_1 ORDER BY TABLE_1_0
      """)
  }
}
