import TestSupport

/// The steps drawn from a second random stream, which leaves those of the first one unchanged.
extension History {
  private enum More { case syncUp, syncDown, madeAndSent, returnedAndSent, revert, same }

  mutating func drawMore() {
    var random = HistoryRandom(seed ^ 0x5EC0_4D57)
    setup.across = random.pick(weighted: [(3, .manual), (1, .firstWins), (1, .lastWins)])
    for _ in 0..<(1 + random.below(3)) {
      let drawn = Self.more(&random, setup)
      steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
    }
  }

  private static func more(_ random: inout HistoryRandom, _ setup: HistorySetup) -> [Step] {
    let phone = random.below(3)
    let sync = Step.syncUp(phone: phone, soup: random.below(4), most: random.pick([1, 2, 100]))
    let draws: [(weight: Int, value: More)] = [
      (3, .syncUp), (3, .syncDown), (3, .madeAndSent), (3, .returnedAndSent), (4, .revert),
      (setup.visitKey == .external ? 5 : 0, .same),
    ]
    let kind = random.pick(weighted: draws)
    let soup = random.pick([0, 1, 2])
    let edit = Step.edit(
      phone: phone, soup: soup, pick: random.below(100), field: random.below(100), .boolean)
    let make = Step.create(phone: phone, soup: soup, .boolean)
    let again = Step.editAgain(phone: phone, field: random.below(100))
    let fullRun = Step.run(random.chance(50) ? .all : .reconcile, nil)
    func maybe(_ percent: Int, _ step: Step) -> [Step] { random.chance(percent) ? [step] : [] }
    switch kind {
    case .syncUp: return [edit, sync] + maybe(50, again) + maybe(50, .returnStore(phone: phone))
    case .syncDown: return [.syncDown(phone: phone), edit] + maybe(60, .returnStore(phone: phone))
    case .madeAndSent:
      return [make, .syncUp(phone: phone, soup: 3, most: 100)] + maybe(60, again)
        + maybe(60, .returnStore(phone: phone))
    case .returnedAndSent:
      return [random.chance(50) ? make : edit, .returnStore(phone: phone)] + maybe(50, fullRun)
        + [.syncUp(phone: phone, soup: 3, most: 100)] + maybe(40, again)
        + maybe(60, .returnStore(phone: phone))
    case .revert:
      return [random.chance(75) ? edit : make] + maybe(60, .returnStore(phone: phone))
        + maybe(50, fullRun) + [.revert(phone: phone)] + maybe(30, edit)
        + maybe(70, .returnStore(phone: phone))
    case .same:
      let other = (phone + 1 + random.below(2)) % 3
      return [.create(phone: phone, soup: 2, .boolean)] + maybe(60, .returnStore(phone: phone))
        + maybe(50, fullRun) + [.createSame(phone: other)] + maybe(60, .returnStore(phone: other))
    }
  }

  /// The steps drawn from a third stream: half of the histories redeliver open edits, and have
  /// phones that install them.
  mutating func drawCarried() {
    var random = HistoryRandom(seed ^ 0xCA_2217_ED17)
    setup.carries = random.chance(50)
    guard setup.carries else { return }
    for _ in 0..<(1 + random.below(2)) {
      let drawn = Self.carried(&random)
      steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
    }
  }

  /// The steps drawn from a fourth stream: in most histories, the changes of a run are undone.
  mutating func drawUndos() {
    var random = HistoryRandom(seed ^ 0x0DD0_17BA_CC)
    guard random.chance(60) else { return }
    for _ in 0..<(1 + random.below(2)) {
      let drawn = Self.undo(&random)
      steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
    }
  }

  /// A run sends something; then another user may change it, and the phone may install or continue.
  ///
  /// Then it is undone, sometimes by a run that is killed, and the phone continues.
  private static func undo(_ random: inout HistoryRandom) -> [Step] {
    let phone = random.below(3)
    let soup = random.pick([0, 0, 1, 2])
    func maybe(_ percent: Int, _ step: Step) -> [Step] { random.chance(percent) ? [step] : [] }
    let edit = Step.edit(
      phone: phone, soup: soup, pick: random.below(100), field: random.below(100), .boolean)
    let again = Step.editAgain(phone: phone, field: random.below(100))
    let first = random.pick(
      weighted: [
        (6, edit), (3, .create(phone: phone, soup: soup, .boolean)),
        (1, .delete(phone: phone, soup: soup, pick: random.below(100), .boolean)),
      ])
    var steps = [first] + maybe(30, again) + [.returnStore(phone: phone)]
    let isWhole = random.chance(60)
    steps.append(.run(isWhole ? .all : .reconcile, nil))
    if isWhole { steps += maybe(40, .install(phone: phone)) }
    if random.chance(30) {
      let work = orgChange(&random)
      steps.append(
        .orgChange(
          OrgChange(action: work.action, target: .ofPhone, isSameSecond: work.isSameSecond)))
    }
    steps += maybe(25, .clock(seconds: random.pick([5, 20 * 60, 25 * 3600])))
    if random.chance(25) {
      steps += [again, .returnStore(phone: phone)] + maybe(60, .run(.all, nil))
    }
    let mishap = random.chance(40) ? drawMishap(&random) : nil
    let back = random.pick([0, 0, 0, 0, 1, 1, 2, 3])
    steps.append(.run(.undo(back: back), mishap))
    steps += maybe(20, .lateArrival) + maybe(30, .run(.undo(back: back + 1), nil))
    steps +=
      maybe(30, .install(phone: phone)) + maybe(50, again) + maybe(60, .returnStore(phone: phone))
    return steps + maybe(50, .run(.all, nil))
  }

  /// An edit that the org refuses; its phone installs it as open, and its user fixes or discards
  /// it.
  private static func carried(_ random: inout HistoryRandom) -> [Step] {
    let phone = random.below(3)
    let other = random.chance(50) ? phone : 1 - min(phone, 1)
    let soup = random.pick([0, 1, 2])
    func maybe(_ percent: Int, _ step: Step) -> [Step] { random.chance(percent) ? [step] : [] }
    func orgChange(_ action: OrgChange.Action) -> Step {
      .orgChange(OrgChange(action: action, target: .ofPhone, isSameSecond: random.chance(20)))
    }
    let isNew = random.chance(35)
    let isTooLong = isNew || random.chance(30)
    var steps: [Step] = maybe(10, .backUp(phone: phone))
    if isNew {
      steps += [.create(phone: phone, soup: soup, .boolean), .spoil(phone: phone)]
    } else {
      steps.append(
        .edit(
          phone: phone, soup: soup, pick: random.below(100), field: random.below(100), .boolean,
          isTooLong: isTooLong))
    }
    if !isTooLong {
      let field = random.below(100)
      steps.append(
        orgChange(
          random.pick(weighted: [(6, .update(field: field)), (1, .delete), (1, .reassign)])))
    }
    steps += [.returnStore(phone: phone), .run(.all, nil), .install(phone: phone)]
    if other != phone { steps.append(.install(phone: other)) }
    let fix = Step.fix(phone: other, pick: random.below(100), field: random.below(100))
    switch random.below(6) {
    case 0, 1, 2: steps.append(fix)
    case 3: steps.append(.discard(phone: other, pick: random.below(100)))
    case 4: steps += [.syncUp(phone: other, soup: 3, most: 100)] + maybe(50, fix)
    default: break
    }
    steps += maybe(25, orgChange(.update(field: random.below(100))))
    steps += maybe(30, .backUp(phone: other))
    steps += maybe(85, .returnStore(phone: other)) + maybe(70, .run(.all, nil))
    steps += maybe(30, .returnStore(phone: phone)) + maybe(40, .install(phone: other))
    steps += maybe(30, fix) + maybe(15, .restore(phone: other, pick: random.below(3)))
    return steps + maybe(20, .run(.retry(pick: random.below(100)), nil))
  }
}
