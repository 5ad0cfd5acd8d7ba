import System

/// The number of cases that each campaign runs in `make test`, in CI and in `make soak`.
///
/// `ATTACHE_CAMPAIGN` selects the column. The variable named after a campaign sets another number
/// for that campaign. `docs/dev/campaigns.md` has this table with a description of each campaign.
package enum CampaignSize: String, Sendable, CaseIterable {
  case histories = "ATTACHE_HISTORIES"
  case pruned = "ATTACHE_HISTORIES_PRUNED"
  case kits = "ATTACHE_HISTORIES_KITS"
  case golden = "ATTACHE_HISTORIES_GOLDEN"
  case convergence = "ATTACHE_CONVERGENCE"
  case killPoints = "ATTACHE_KILL_POINTS"
  case faults = "ATTACHE_FAULTS"
  case secondOrg = "ATTACHE_SECOND_ORG"
  case secondOrgFaults = "ATTACHE_SECOND_ORG_FAULTS"
  case secondOrgJobs = "ATTACHE_SECOND_ORG_JOBS"
  case secondOrgJobFaults = "ATTACHE_SECOND_ORG_JOB_FAULTS"
  case sessionRecords = "ATTACHE_SESSION_RECORDS"
  case recoveryDays = "ATTACHE_RECOVERY_DAYS"
  case nights = "ATTACHE_NIGHTS"
  case returns = "ATTACHE_RETURNS"
  case edits = "ATTACHE_EDITS"
  case bulkEdits = "ATTACHE_BULK_EDITS"
  case bulkRecords = "ATTACHE_BULK_RECORDS"
  case updates = "ATTACHE_UPDATES"
  case rows = "ATTACHE_ROWS"
  case reportEdits = "ATTACHE_REPORT_EDITS"
  case shortRuns = "ATTACHE_SHORT_RUNS"
  case largeBundles = "ATTACHE_LARGE_BUNDLES"
  case pageDays = "ATTACHE_PAGE_DAYS"
  case fuzz = "ATTACHE_FUZZ"
  case model = "ATTACHE_MODEL"
  case deltas = "ATTACHE_DELTAS"
  case fleetUsers = "ATTACHE_FLEET_USERS"
  case fleetRecords = "ATTACHE_FLEET_RECORDS"
  case sharedNights = "ATTACHE_SHARED_NIGHTS"
  case workers = "ATTACHE_WORKERS"

  /// The occasion on which campaigns run.
  package enum Scale: String, Sendable, CaseIterable {
    case test, ci, soak

    package static let current: Scale = {
      guard let text = ProcessEnvironment.variable("ATTACHE_CAMPAIGN") else { return .test }
      guard let scale = Scale(rawValue: text) else {
        preconditionFailure("ATTACHE_CAMPAIGN is test, ci or soak, not \(text)")
      }
      return scale
    }()
  }

  /// The number of cases at a scale.
  package func count(at scale: Scale) -> Int {
    let sizes: (test: Int, ci: Int, soak: Int) =
      switch self {
      case .histories: (60, 150, 5000)
      case .pruned: (6, 12, 100)
      case .kits: (15, 300, 3000)
      case .golden: (10, 30, 300)
      case .convergence: (120, 300, 5000)
      case .killPoints: (6, 12, 60)
      case .faults: (12, 24, 216)
      case .secondOrg: (3, 9, 27)
      case .secondOrgFaults: (12, 24, 132)
      case .secondOrgJobs: (2, 4, 12)
      case .secondOrgJobFaults: (3, 5, 12)
      case .sessionRecords: (3000, 3000, 200_000)
      case .recoveryDays: (2, 4, 500)
      case .nights: (4, 6, 365)
      case .returns: (6, 6, 1000)
      case .edits: (40, 40, 100)
      case .bulkEdits: (1000, 2500, 100_000)
      case .bulkRecords: (6000, 6000, 1_000_000)
      case .updates: (2400, 2400, 8000)
      case .rows: (10_000, 10_000, 100_000)
      case .reportEdits: (10_000, 100_000, 100_000)
      case .shortRuns: (20, 60, 1000)
      case .largeBundles: (0, 0, 1)
      case .pageDays: (10, 40, 400)
      case .fuzz: (60, 290, 2000)
      case .model: (60, 100, 1000)
      case .deltas: (40, 500, 20_000)
      case .fleetUsers: (12, 50, 500)
      case .fleetRecords: (1200, 5000, 10_000)
      case .sharedNights: (2, 25, 5000)
      case .workers: (4, 20, 200)
      }
    return switch scale {
    case .test: sizes.test
    case .ci: sizes.ci
    case .soak: sizes.soak
    }
  }

  /// The number of cases to run.
  package var count: Int {
    guard let text = ProcessEnvironment.variable(rawValue) else { return count(at: Scale.current) }
    guard let number = Int(text), number >= 0 else {
      preconditionFailure("\(rawValue) is a number, not \(text)")
    }
    return number
  }

  /// The seeds to run: `count` seeds from `first` on, except for those that an interrupted soak has
  /// already run.
  ///
  /// `SEED` sets another first seed. Each round of `make soak` continues after the seeds of the
  /// previous round.
  package func seeds(from first: UInt64) -> [UInt64] {
    let start = firstSeed(first)
    let done = SeedLog(self)?.done ?? []
    return (0..<UInt64(count)).map { start &+ $0 }.filter { !done.contains($0) }
  }

  /// The first of the seeds to run.
  package func firstSeed(_ first: UInt64) -> UInt64 {
    ProcessEnvironment.variable("SEED").flatMap { UInt64($0) }
      ?? first &+ UInt64(SeedLog.round * count)
  }
}

extension Array {
  /// At most `count` of the elements, evenly spaced from the first to the last.
  package func spread(_ count: Int) -> [Element] {
    guard count < self.count else { return self }
    guard count > 1 else { return Array(prefix(count)) }
    return (0..<count).map { self[$0 * (self.count - 1) / (count - 1)] }
  }
}

/// Every pair of two lists, ordered so that each prefix has as many elements of both lists as
/// possible.
package func mixedPairs<A, B>(_ ones: [A], _ others: [B]) -> [(A, B)] {
  guard !ones.isEmpty, !others.isEmpty else { return [] }
  // Along the diagonals. If the side lengths have a common divisor, a diagonal closes before it
  // meets every cell.
  var seen: Set<Int> = []
  var pairs: [(A, B)] = []
  var shift = 0
  while pairs.count < ones.count * others.count {
    for step in 0..<(max(ones.count, others.count)) {
      let (one, other) = ((step + shift) % ones.count, step % others.count)
      if seen.insert(one * others.count + other).inserted {
        pairs.append((ones[one], others[other]))
      }
    }
    shift += 1
  }
  return pairs
}
