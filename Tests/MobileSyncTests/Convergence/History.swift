import MobileSync
import TestSupport

struct HistorySetup: Sendable, Hashable {
  var object: String
  var fields: [String]
  var isBriefcase: Bool
  var upKind: SyncUpTarget.Kind
  var upBatch: Int
  var downMode: MergeMode
  var upMode: MergeMode
  var overlapSeconds = 60
  /// How long a create whose response was lost is not sent again.
  var quietSeconds: Int
  /// Whether re-read records are recognized as unchanged.
  var deduplicates = true
  /// Whether the org's clock is set back once.
  var goesBack: Bool

  /// The field that makes a create safe to repeat.
  var externalID: String? { object == "Site_Visit__c" ? "External_Id__c" : nil }

  static func draw(_ random: inout HistoryRandom) -> HistorySetup {
    let isCustom = random.chance(40)
    let isBriefcase = random.chance(30)
    let kind = random.pick(weighted: [(6, SyncUpTarget.Kind.collection), (2, .batch), (2, .single)])
    return HistorySetup(
      object: isCustom ? "Site_Visit__c" : "Account",
      fields: isCustom ? ["Notes__c", "Equipment__c"] : ["Description", "Site"],
      isBriefcase: isBriefcase, upKind: kind,
      upBatch: kind == .single ? 1 : random.pick([2, 3, kind.mostRecords, kind.mostRecords]),
      downMode: random.chance(60) ? .leaveIfChanged : .overwrite,
      upMode: random.chance(50) ? .leaveIfChanged : .overwrite,
      quietSeconds: random.pick([0, 120]), goesBack: random.chance(12))
  }
}

/// A history: its setup and its steps, all derived from one seed.
struct History: RandomHistory, Hashable {
  static let length = 30
  var seed: UInt64
  var setup: HistorySetup
  var steps: [Step]
  init(seed: UInt64) {
    self.seed = seed
    var random = HistoryRandom(seed)
    setup = HistorySetup.draw(&random)
    steps = []
    var hasGoneBack = false
    while steps.count < Self.length {
      let step = Self.step(&random, setup, hasGoneBack: hasGoneBack)
      if case .clock(let seconds) = step, seconds < 0 { hasGoneBack = true }
      steps.append(step)
    }
  }

  func play() async throws -> Tally { try await World.run(self) }

  private enum Draw {
    case create, edit, delete, orgCreate, orgUpdate, orgDelete, orgLeave, clock, sync(Step.Sync)
    case resolve, kill
  }

  private static func step(
    _ random: inout HistoryRandom, _ setup: HistorySetup, hasGoneBack: Bool
  ) -> Step {
    let device = random.below(2)
    let pick = random.below(100)
    let field = random.below(2)
    let draws: [(weight: Int, value: Draw)] = [
      (10, .create), (20, .edit), (5, .delete), (6, .orgCreate), (17, .orgUpdate),
      (4, .orgDelete), (2, .orgLeave), (4, .clock), (20, .sync(.down)), (20, .sync(.up)),
      (5, .sync(.ghosts)), (4, .resolve), (3, .kill),
    ]
    switch random.pick(weighted: draws) {
    case .create: return .create(device: device)
    case .edit: return .edit(device: device, pick: pick, field: field)
    case .delete: return .delete(device: device, pick: pick)
    case .orgCreate: return .orgCreate(moment(&random))
    case .orgUpdate: return .orgUpdate(pick: pick, field: field, moment(&random))
    case .orgDelete: return .orgDelete(pick: pick)
    case .orgLeave: return .orgLeave(pick: pick)
    case .clock:
      guard setup.goesBack else { return .clock(seconds: 30 + random.below(600)) }
      return hasGoneBack ? .clock(seconds: 1) : .clock(seconds: -7200)
    case .sync(let sync):
      let mishap = random.chance(50) ? Mishap.draw(&random, sync, setup) : nil
      return .sync(device: device, sync, mishap)
    case .resolve: return .resolve(device: device, random.chance(50) ? .server : .device)
    case .kill: return .kill(device: device)
    }
  }

  private static func moment(_ random: inout HistoryRandom) -> Step.Moment {
    random.pick(weighted: [(5, Step.Moment.now), (2, .same), (3, .late(1 + random.below(40)))])
  }

  var description: String { Campaign<History>.text(setup, steps) }
}
