import TestSupport
import Testing

/// Runs of fleets whose rights and records change between runs and during them: no file has a value
/// that its user may not read.
@Suite struct SharedNightsTests {
  private static let seeds = CampaignSize.sharedNights.seeds(from: 20_261_129_000)
  /// The runs of one fleet.
  private static let nights = 5

  @Test func `no file has a value that its user cannot read, whatever changes and when`()
    async throws
  {
    let log = SeedLog(.sharedNights)
    var spliced = 0
    for first in stride(from: 0, to: Self.seeds.count, by: Self.nights) {
      let seeds = Self.seeds[first..<min(first + Self.nights, Self.seeds.count)]
      var fleets = try FleetScene.Kind.allCases.map { try SharedFleet($0, seeds[first]) }
      for seed in seeds {
        var faults: [String] = []
        for place in fleets.indices { faults += try await fleets[place].playNight(seed) }
        #expect(faults.isEmpty)
        log?.add(seed, failure: faults.first)
      }
      spliced += fleets.reduce(0) { $0 + $1.spliced }
    }
    // A short list may take fewer calls without shared records, so not every fleet shares any.
    #expect(spliced > 0 || Self.seeds.count <= Self.nights)
  }
}
