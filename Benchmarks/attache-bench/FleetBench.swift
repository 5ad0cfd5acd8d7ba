import LocalOrg
import MobileSync
import System

/// The first prime of many users who see nine of ten contacts in common, counted by the org's log, by
/// queries and by briefcase, and by users who fetch all records themselves.
struct FleetBench {
  /// How the contacts are fetched.
  enum Kind: String, CaseIterable {
    case soql, briefcase

    /// The mode in which records are shared.
    var mode: RecordPool.Mode { self == .soql ? .always : .auto }
  }

  private let options: BenchOptions
  private let fleet: BenchFleet
  private var shared: Int { options.records * 9 / 10 }
  private var own: Int { options.records - shared }

  init(_ options: BenchOptions) {
    self.options = options
    // The child of the other bench primes any pipeline.
    var fleet = BriefcaseBench.fleet(in: "\(options.directory)/fleet")
    fleet.profile = "Field Technician"
    self.fleet = fleet
  }

  func measure() throws -> FleetReport {
    options.note("\(options.users) users, \(shared) records of all and \(own) of each")
    let org = try Self.makeOrg(of: fleet, options, shared: shared, own: own)
    var report = FleetReport(options, shared: shared, own: own)
    for kind in Kind.allCases {
      try fleet.write(syncs: kind == .soql ? BenchFleet.syncsFile : BriefcaseBench.syncsFile)
      for mode in [kind.mode, .never] {
        try fleet.write(
          members: #""platforms": ["ios", "android"], "prime": {"share": "\#(mode.rawValue)"}"#)
        if Files.exists(fleet.root) { try Files.remove(fleet.root) }
        report.add(kind, mode, try play(org))
        report.load.note()
      }
    }
    try Files.remove(fleet.directory)
    return report
  }

  /// Creates the org, in which each user sees the shared contacts and some others.
  static func makeOrg(
    of fleet: BenchFleet, _ options: BenchOptions, shared: Int, own: Int
  ) throws -> LocalOrg.Org {
    let org = try fleet.makeOrg(users: options.users, records: 0)
    let object = ObjectShape.contact.object
    let names = (0..<options.users).map(BenchFleet.username)
    try org.seedBulk(object: object, count: shared, owner: BenchFleet.integration)
    let ids = try BenchFleet.ids(
      of: object, in: org, as: BenchFleet.user(BenchFleet.integration, of: org))
    for name in names { try org.seedBulk(object: object, count: own, owner: name) }
    try org.transaction { for id in ids { for name in names { try org.share(id, with: name) } } }
    try org.addBriefcase(
      "Contacts", rules: [BriefcaseRule(object, limit: options.records)], users: names)
    try org.moveClock(by: 86_400_000)
    return org
  }

  private func play(_ org: LocalOrg.Org) throws -> FleetReport.Run {
    let (told, log) = try BriefcaseBench.play(org, fleet, options)
    return FleetReport.Run(BriefcaseReport.Run(told, log: log.entries), log.totals())
  }
}
