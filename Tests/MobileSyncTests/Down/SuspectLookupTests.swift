import JSON
import MobileSync
import SmartStore
import TestSupport
import Testing

@Suite struct SuspectLookupTests {
  private static let soup = "accounts"
  private let directory = TemporaryDirectory("suspects")

  /// An ID in one of the forms found in stores, and texts with the same prefix as one.
  private static func id(_ random: inout HistoryRandom) -> String? {
    let digits = String(random.below(60))
    let short = "001" + String(repeating: "A", count: 12 - digits.count) + digits
    let long = short.recordID18 ?? short
    return random.pick(weighted: [
      (6, long), (2, short), (1, short + long.suffix(3).lowercased()), (1, long + "x"),
      (1, short + "\u{10FFFF}"), (1, "local_\(digits)"), (1, "é\(digits)"), (1, nil),
    ])
  }

  private static func element(_ random: inout HistoryRandom) -> JSONObject {
    var element: JSONObject = [
      "__local__": .bool(random.chance(20)), "__locally_updated__": .bool(false),
    ]
    if let id = id(&random) { element["Id"] = .string(id) }
    if random.chance(90) { element["__sync_id__"] = random.chance(70) ? 7 : 8 }
    return element
  }

  @Test(
    arguments: [Platform.ios, .android],
    [["Id", "__local__", "__sync_id__"], ["Id"], ["__local__"]])
  func `looking up few suspects finds the same as reading everything`(
    _ platform: Platform, _ indexes: [String]
  ) throws {
    for seed in 1...12 as ClosedRange<UInt64> {
      var random = HistoryRandom(seed)
      let store = try Store(creating: directory.file("\(seed).db"), platform: platform)
      try store.registerSoup(
        Self.soup, indexSpecs: indexes.map { IndexSpec(path: $0, type: .string) })
      let elements = (0..<200).map { _ in JSONValue.object(Self.element(&random)) }
      let hasNulls = seed.isMultiple(of: 3)
      try store.upsert(elements.filter { hasNulls || $0["Id"] != nil }, into: Self.soup)
      let reader = SoupReader(store: store, soup: Self.soup)
      for count in [0, 1, 5, 20, 24, 25, 100] {
        let suspects = RecordIDSet((0..<count).compactMap { _ in Self.id(&random) })
        for claims in [false, true] {
          func entries(_ among: RecordIDSet?) throws -> Set<SoupReader.Entry> {
            Set(
              try reader.cleanEntries(
                idPath: "Id", syncID: 7, claimsOrphans: claims, among: among,
                where: suspects.contains))
          }
          let found = try entries(suspects)
          #expect(try found == entries(nil), "seed \(seed), \(count) suspects")
          if count == 100 { #expect(!found.isEmpty) }
        }
      }
      try store.close()
    }
  }

  @Test(arguments: [Platform.ios, .android])
  func `an index that was not filled is not used for suspects`(_ platform: Platform) throws {
    var random = HistoryRandom(1)
    let store = try Store(creating: directory.file("store.db"), platform: platform)
    let flag = IndexSpec(path: "__local__", type: .string)
    try store.registerSoup(Self.soup, indexSpecs: [flag])
    let ids = (0..<30).compactMap { _ in Self.id(&random) }
    try store.upsert(
      ids.map { ["Id": .string($0), "__local__": .bool(false), "__sync_id__": 7] }, into: Self.soup)
    try store.alterSoup(
      Self.soup, indexSpecs: [flag, IndexSpec(path: "Id", type: .string)], reIndexData: false)
    let found = try SoupReader(store: store, soup: Self.soup).cleanEntries(
      idPath: "Id", syncID: 7, among: RecordIDSet([ids[0]])
    ) { $0 == ids[0] }
    #expect(!found.isEmpty)
  }
}
