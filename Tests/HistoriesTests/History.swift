import TestSupport

/// Not the violation of a store's rules, which has the same name.
typealias Violation = TestSupport.Violation

struct HistorySetup: Sendable, Hashable {
  var overwrites: Bool
  var strict: Bool
  var quietSeconds: Int
  var visitKey: VisitKey
  var across = DeviceConflicts.manual
  /// `reconcile.returnOpenEdits`.
  var carries = false
  /// `org.concurrency`; the order of concurrent requests does not depend on the seed.
  var concurrency = 1
  /// Whether the accounts come from a query whose LIMIT leaves some out.
  var cuts = false
  /// Whether a phone's edit of a contact can give it to another account.
  var moves = false
  /// Whether accounts are sent with their contacts, by a parent-children sync up.
  var trees = false
  /// Whether each run prunes as much as possible, with the lowest values of `keep`.
  var prunes = false
  /// Whether the phones' apps are built on the kits of `clients/`.
  var kits = false
  var phones: [PhoneSetup]

  enum DeviceConflicts: String, Sendable, Hashable, CaseIterable {
    case manual, firstWins, lastWins
  }

  enum VisitKey: String, Sendable, Hashable {
    case none
    case external
    case correlation
  }

  struct PhoneSetup: Sendable, Hashable {
    /// Its user: `ada` or `ben`.
    var user: String
    var isAndroid: Bool
    var marksInstall: Bool
  }

  enum Kind: String, Sendable, Hashable, CaseIterable {
    case acrossFirst, acrossLast, carries, cuts, moves, trees
  }

  var kinds: Set<Kind> {
    let kinds: Set<Kind> =
      switch across {
      case .manual: []
      case .firstWins: [.acrossFirst]
      case .lastWins: [.acrossLast]
      }
    return kinds.union(carries ? [.carries] : []).union(cuts ? [.cuts] : [])
      .union(moves ? [.moves] : []).union(trees ? [.trees] : [])
  }

  static func draw(_ random: inout HistoryRandom) -> HistorySetup {
    var phones: [PhoneSetup] = []
    for user in ["ada", "ada", "ben"] {
      phones.append(
        PhoneSetup(user: user, isAndroid: random.chance(40), marksInstall: random.chance(80)))
    }
    return HistorySetup(
      overwrites: random.chance(30), strict: random.chance(50),
      quietSeconds: random.pick([0, 120, 900]),
      visitKey: random.pick([.none, .external, .correlation]), phones: phones)
  }
}

/// A history of a whole pipeline: its setup and its events, all drawn from one seed.
struct History: RandomHistory, Hashable {
  /// The number of steps drawn before the later streams.
  static let length = 14
  var seed: UInt64
  var setup: HistorySetup
  var steps: [Step]
  /// Draws the history of a seed.
  ///
  /// - Parameter isKept: whether it stays as it was before there was a sixth stream
  init(seed: UInt64, isKept: Bool = false) {
    self.seed = seed
    var random = HistoryRandom(seed)
    setup = HistorySetup.draw(&random)
    setup.concurrency = seed.isMultiple(of: 2) ? 4 : 1
    setup.prunes = seed % 4 < 2
    steps = []
    while steps.count < Self.length { steps += Self.draw(&random) }
    drawMore()
    drawCarried()
    drawUndos()
    drawFamilies()
    if !isKept { drawLater() }
  }

  func play() async throws -> Tally { try await World.run(self) }

  private enum Draw {
    case edit, again, create, createAndDelete, delete, returnStore, install, orgChange, clock, late,
      fullRun
    case verb, retry, restore, mishap, twoSoups
  }

  private static func draw(_ random: inout HistoryRandom) -> [Step] {
    let phone = random.below(3)
    let soup = random.pick([0, 0, 1, 2])
    let pick = random.below(100)
    let spelling = random.pick(weighted: [(6, Step.Spelling.boolean), (2, .text), (2, .number)])
    let draws: [(weight: Int, value: Draw)] = [
      (22, .edit), (6, .again), (7, .create), (2, .createAndDelete), (4, .delete),
      (13, .returnStore), (6, .install), (18, .orgChange), (3, .clock), (3, .late), (10, .fullRun),
      (4, .verb), (5, .retry), (5, .restore), (14, .mishap), (4, .twoSoups),
    ]
    switch random.pick(weighted: draws) {
    case .edit: return [edit(&random, phone)]
    case .again: return [.editAgain(phone: phone, field: random.below(100))]
    case .create: return [.create(phone: phone, soup: soup, spelling)]
    case .createAndDelete: return [.createAndDelete(phone: phone, soup: soup, spelling)]
    case .delete: return [.delete(phone: phone, soup: soup, pick: pick, spelling)]
    case .returnStore:
      return random.chance(12) ? [.returnAgain(pick: pick)] : [.returnStore(phone: phone)]
    case .install:
      return [.returnStore(phone: phone), .run(.all, nil), .run(.all, nil), .install(phone: phone)]
    case .orgChange: return [.orgChange(orgChange(&random))]
    case .clock: return [.clock(seconds: random.pick([5, 20 * 60, 25 * 3600]))]
    case .late: return [.lateArrival]
    case .fullRun: return [.run(random.chance(70) ? .all : .reconcile, nil)]
    case .verb: return [.run(random.pick([.ingest, .pack, .ingest, .reconcile]), nil)]
    case .retry: return retry(&random, phone)
    case .restore: return restore(&random, phone)
    case .mishap: return mishap(&random, phone)
    case .twoSoups:
      return [
        .edit(phone: phone, soup: pick % 2, pick: pick, field: random.below(100), .boolean),
        .editInOtherSoup(phone: phone, field: random.below(100)),
      ]
    }
  }

  private static func edit(_ random: inout HistoryRandom, _ phone: Int) -> Step {
    .edit(
      phone: phone, soup: random.pick([0, 0, 1, 2]), pick: random.below(100),
      field: random.below(100),
      random.pick(weighted: [(6, Step.Spelling.boolean), (2, .text), (2, .number)]),
      isTooLong: random.chance(5))
  }

  /// An edit that the org refuses, then fixed on the phone and sent, and then the first one again.
  private static func retry(_ random: inout HistoryRandom, _ phone: Int) -> [Step] {
    let last = Step.run(.retry(pick: random.below(100)), nil)
    if random.chance(40) { return [last] }
    let ways: [(OrgChange.Action, OrgChange.Action)] = [
      (.reassign, .reassign), (.delete, .undelete),
      (.update(field: random.below(100)), .update(field: random.below(100))),
    ]
    let (away, back) = random.pick(ways)
    func orgChange(_ action: OrgChange.Action) -> Step {
      .orgChange(OrgChange(action: action, target: .ofPhone, isSameSecond: false))
    }
    var steps = [
      edit(&random, phone), orgChange(away), .returnStore(phone: phone), .run(.reconcile, nil),
    ]
    if random.chance(70) { steps.append(orgChange(back)) }
    steps += [
      .editAgain(phone: phone, field: random.below(100)), .returnStore(phone: phone),
      .run(random.chance(50) ? .all : .reconcile, nil), last,
    ]
    return steps
  }

  private static func restore(_ random: inout HistoryRandom, _ phone: Int) -> [Step] {
    var steps: [Step] = random.chance(30) ? [edit(&random, phone)] : []
    steps.append(.backUp(phone: phone))
    if random.chance(70) { steps.append(edit(&random, phone)) }
    if random.chance(80) { steps.append(.returnStore(phone: phone)) }
    if random.chance(50) { steps.append(.run(.reconcile, nil)) }
    steps += [.restore(phone: phone, pick: random.below(3)), edit(&random, phone)]
    if random.chance(70) { steps.append(.returnStore(phone: phone)) }
    return steps
  }

  /// A return with an edit, and a run in which something fails.
  private static func mishap(_ random: inout HistoryRandom, _ phone: Int) -> [Step] {
    var steps: [Step] = []
    for _ in 0..<(1 + random.below(2)) {
      steps.append(
        random.chance(45)
          ? .create(phone: phone, soup: random.pick([0, 1, 2]), .boolean) : edit(&random, phone))
    }
    steps.append(.returnStore(phone: phone))
    let mishap = drawMishap(&random)
    steps.append(.run(random.chance(50) ? .all : .reconcile, mishap))
    if random.chance(25) { steps.append(.clock(seconds: random.pick([5, 20 * 60, 25 * 3600]))) }
    if random.chance(35) {
      steps.append(.run(random.pick([.ingest, .pack, .reconcile, .all]), nil))
    }
    if mishap.kind == .lateRequest, random.chance(70) { steps.append(.lateArrival) }
    return steps
  }

  static func orgChange(_ random: inout HistoryRandom) -> OrgChange {
    let action = random.pick(
      weighted: [
        (12, OrgChange.Action.update(field: random.below(100))), (3, .delete), (3, .undelete),
        (2, .reassign), (3, .create),
      ])
    let target = random.pick(
      weighted: [
        (4, OrgChange.Target.record(random.below(100))), (5, .ofPhone), (2, .newest),
      ])
    return OrgChange(action: action, target: target, isSameSecond: random.chance(35))
  }

  static func drawMishap(_ random: inout HistoryRandom) -> Mishap {
    let kind = random.pick(
      weighted: [
        (6, Mishap.Kind.lostAnswer), (2, .lostRequest), (3, .lateRequest), (4, .killAtRequest),
        (5, .killAtWrite), (4, .killAtEvent), (1, .unavailable),
      ])
    let nth: Int =
      switch kind {
      case .lostAnswer, .lostRequest, .lateRequest, .killAtWrite: random.pick([1, 1, 1, 2, 3])
      case .killAtRequest: 1 + random.below(30)
      case .killAtEvent: 1 + random.below(12)
      case .unavailable: 1 + random.below(20)
      }
    let isWrite = [.lostAnswer, .lateRequest, .killAtWrite].contains(kind)
    var then = isWrite && random.chance(60) ? orgChange(&random) : nil
    // The outcome of a create is hard to determine if another user has changed its record.
    if random.chance(60) { then?.target = .newest }
    return Mishap(kind: kind, nth: nth, arrives: random.chance(65), then: then)
  }

  var description: String { Campaign<History>.text(setup, steps) }
}
