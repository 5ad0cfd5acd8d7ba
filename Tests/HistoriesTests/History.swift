import TestSupport

/// Not the fault of a store, which has the same name.
typealias Violation = TestSupport.Violation

/// How the pipeline of a history is set up.
struct HistorySetup: Sendable, Hashable, CustomStringConvertible {
  /// The merge mode of all sync ups.
  var overwrites: Bool
  var strict: Bool
  var quietSeconds: Int
  var visitKey: VisitKey
  /// `reconcile.deviceConflicts`.
  var across = DeviceConflicts.manual
  /// `reconcile.returnOpenEdits`.
  var carries = false
  /// `org.concurrency`; in which order requests beside each other arrive, no seed says.
  var concurrency = 1
  /// Whether the accounts come by a query whose LIMIT leaves some out.
  var cuts = false
  /// Whether each run removes all that it may: `keep` with the least of everything.
  var prunes = false
  var phones: [PhoneSetup]

  enum DeviceConflicts: String, Sendable, Hashable, CaseIterable {
    case manual, firstWins, lastWins
  }

  /// What keeps the creates of visits from being done twice.
  enum VisitKey: String, Sendable, Hashable {
    case none
    /// They are upserted by an external id of the app's.
    case external
    /// `reconcile.correlationField`.
    case correlation
  }

  struct PhoneSetup: Sendable, Hashable {
    /// Whose it is: `ada` or `ben`.
    var user: String
    var isAndroid: Bool
    /// Whether its app sets `install` and `handback`.
    var marksInstall: Bool
  }

  /// What setups are counted by.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    case acrossFirst, acrossLast, carries, cuts
  }

  var kinds: Set<Kind> {
    let kinds: Set<Kind> =
      switch across {
      case .manual: []
      case .firstWins: [.acrossFirst]
      case .lastWins: [.acrossLast]
      }
    return kinds.union(carries ? [.carries] : []).union(cuts ? [.cuts] : [])
  }

  var description: String {
    (overwrites ? "OVERWRITE" : "LEAVE_IF_CHANGED") + (strict ? ", strict" : "")
      + ", quiet \(quietSeconds) s"
      + (visitKey == .none ? "" : ", visits by \(visitKey.rawValue) key")
      + (across == .manual ? "" : ", deviceConflicts: \(across.rawValue)")
      + (carries ? ", open edits are carried" : "")
      + (cuts ? ", accounts by a LIMIT that cuts" : "")
      + (concurrency == 1 ? "" : ", \(concurrency) requests at once")
      + (prunes ? ", what is old goes" : "")
      + phones.enumerated().map {
        "; phone \($0) is \($1.user)'s, \($1.isAndroid ? "android" : "ios")"
          + ($1.marksInstall ? "" : ", without install")
      }.joined()
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

/// A history over a whole pipeline: what is set up and what happens, all of it from one seed.
struct History: RandomHistory, Hashable {
  /// How many steps are drawn where a test asks for what they are about, and else.
  static let (length, lengthWithMore) = (18, 14)

  var seed: UInt64
  var setup: HistorySetup
  var steps: [Step]
  /// Whether all was drawn, and not only what the first stream of numbers has.
  private(set) var hasMore = false

  init(seed: UInt64, focus: Focus? = nil) {
    self.seed = seed
    var random = HistoryRandom(seed)
    setup = HistorySetup.draw(&random)
    setup.concurrency = seed.isMultiple(of: 2) ? 4 : 1
    setup.prunes = seed % 4 < 2
    steps = []
    let length = focus == nil ? Self.lengthWithMore : Self.length
    while steps.count < length { steps += Self.draw(&random, focus) }
    // What is about one thing is as it was before more was drawn.
    hasMore = focus == nil
    if hasMore {
      drawMore()
      drawCarried()
      drawUndos()
      drawFamilies()
    }
  }

  func play() async throws -> Tally { try await World.run(self) }

  /// What a history is mostly about, where a test asks for that.
  enum Focus: Sendable, Hashable { case retry, restore, mishap }

  private enum Draw {
    case edit, again, create, createAndDelete, delete, handBack, install, office, clock, late, night
    case verb, retry, restore, mishap, twoSoups
  }

  /// A step, or a few that belong together.
  private static func draw(_ random: inout HistoryRandom, _ focus: Focus?) -> [Step] {
    if let focus, random.chance(60) {
      let phone = random.below(3)
      switch focus {
      case .retry: return retry(&random, phone)
      case .restore: return restore(&random, phone)
      case .mishap: return mishap(&random, phone)
      }
    }
    let phone = random.below(3)
    let soup = random.pick([0, 0, 1, 2])
    let pick = random.below(100)
    let spelling = random.pick(
      weighted: [(6, Step.Spelling.boolean), (2, .text), (2, .number)])
    let draws: [(weight: Int, value: Draw)] = [
      (22, .edit), (6, .again), (7, .create), (2, .createAndDelete), (4, .delete), (13, .handBack),
      (6, .install), (18, .office), (3, .clock), (3, .late), (10, .night), (4, .verb),
      (5, .retry), (5, .restore), (14, .mishap), (4, .twoSoups),
    ]
    switch random.pick(weighted: draws) {
    case .edit: return [edit(&random, phone)]
    case .again: return [.editAgain(phone: phone, field: random.below(100))]
    case .create: return [.create(phone: phone, soup: soup, spelling)]
    case .createAndDelete: return [.createAndDelete(phone: phone, soup: soup, spelling)]
    case .delete: return [.delete(phone: phone, soup: soup, pick: pick, spelling)]
    case .handBack:
      return random.chance(12) ? [.handBackAgain(pick: pick)] : [.handBack(phone: phone)]
    case .install:
      return [.handBack(phone: phone), .run(.all, nil), .run(.all, nil), .install(phone: phone)]
    case .office: return [.office(office(&random))]
    case .clock: return [.clock(seconds: random.pick([5, 20 * 60, 25 * 3600]))]
    case .late: return [.lateArrival]
    case .night: return [.run(random.chance(70) ? .all : .reconcile, nil)]
    case .verb: return [.run(random.pick([.ingest, .pack, .ingest, .reconcile]), nil)]
    case .retry: return retry(&random, phone)
    case .restore: return restore(&random, phone)
    case .mishap: return mishap(&random, phone)
    case .twoSoups:
      return [
        .edit(
          phone: phone, soup: pick % 2, pick: pick, field: random.below(100), .boolean,
          isTooLong: false),
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

  /// Something that the org does not take, mended on the phone and sent, and then the first again.
  private static func retry(_ random: inout HistoryRandom, _ phone: Int) -> [Step] {
    let last = Step.run(.retry(pick: random.below(100)), nil)
    if random.chance(40) { return [last] }
    let ways: [(OfficeWork.Action, OfficeWork.Action)] = [
      (.reassign, .reassign), (.delete, .undelete),
      (.update(field: random.below(100)), .update(field: random.below(100))),
    ]
    let (away, back) = random.pick(ways)
    func office(_ action: OfficeWork.Action) -> Step {
      .office(OfficeWork(action: action, target: .ofPhone, isSameSecond: false))
    }
    var steps = [
      edit(&random, phone), office(away), .handBack(phone: phone), .run(.reconcile, nil),
    ]
    if random.chance(70) { steps.append(office(back)) }
    steps += [
      .editAgain(phone: phone, field: random.below(100)), .handBack(phone: phone),
      .run(random.chance(50) ? .all : .reconcile, nil), last,
    ]
    return steps
  }

  private static func restore(_ random: inout HistoryRandom, _ phone: Int) -> [Step] {
    var steps: [Step] = random.chance(30) ? [edit(&random, phone)] : []
    steps.append(.backUp(phone: phone))
    if random.chance(70) { steps.append(edit(&random, phone)) }
    if random.chance(80) { steps.append(.handBack(phone: phone)) }
    if random.chance(50) { steps.append(.run(.reconcile, nil)) }
    steps += [.restore(phone: phone, pick: random.below(3)), edit(&random, phone)]
    if random.chance(70) { steps.append(.handBack(phone: phone)) }
    return steps
  }

  /// A hand-back with something in it, and a run in which something goes wrong.
  private static func mishap(_ random: inout HistoryRandom, _ phone: Int) -> [Step] {
    var steps: [Step] = []
    for _ in 0..<(1 + random.below(2)) {
      steps.append(
        random.chance(45)
          ? .create(phone: phone, soup: random.pick([0, 1, 2]), .boolean) : edit(&random, phone))
    }
    steps.append(.handBack(phone: phone))
    let mishap = drawMishap(&random)
    steps.append(.run(random.chance(50) ? .all : .reconcile, mishap))
    if random.chance(25) { steps.append(.clock(seconds: random.pick([5, 20 * 60, 25 * 3600]))) }
    if random.chance(35) {
      steps.append(.run(random.pick([.ingest, .pack, .reconcile, .all]), nil))
    }
    if mishap.kind == .lateRequest, random.chance(70) { steps.append(.lateArrival) }
    return steps
  }

  static func office(_ random: inout HistoryRandom) -> OfficeWork {
    let action = random.pick(
      weighted: [
        (12, OfficeWork.Action.update(field: random.below(100))), (3, .delete), (3, .undelete),
        (2, .reassign), (3, .create),
      ])
    let target = random.pick(
      weighted: [
        (4, OfficeWork.Target.record(random.below(100))), (5, .ofPhone), (2, .newest),
      ])
    return OfficeWork(action: action, target: target, isSameSecond: random.chance(35))
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
    var then = isWrite && random.chance(60) ? office(&random) : nil
    // What became of a create is hard to tell when somebody has had its record in hand.
    if random.chance(60) { then?.target = .newest }
    return Mishap(kind: kind, nth: nth, arrives: random.chance(65), then: then)
  }

  var description: String {
    let lines = steps.enumerated().map { "  \($0 + 1). \($1)" }
    return "\(setup)\n" + lines.joined(separator: "\n")
  }
}
