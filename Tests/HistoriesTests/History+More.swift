import TestSupport

/// What is drawn from a second stream of numbers, so that what the first one draws stays as it is.
extension History {
  private enum More {
    case syncUp, syncDown, madeAndSent, handedAndSent, revert, same
  }

  mutating func drawMore(without: Set<Step.Kind>) {
    var random = HistoryRandom(seed ^ 0x5EC0_4D57)
    setup.across = random.pick(weighted: [(3, .report), (1, .first), (1, .last)])
    for _ in 0..<(1 + random.below(3)) {
      let drawn = Self.more(&random, setup).filter { $0.kinds.isDisjoint(with: without) }
      steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
    }
  }

  private static func more(_ random: inout HistoryRandom, _ setup: HistorySetup) -> [Step] {
    let phone = random.below(3)
    let sync = Step.syncUp(phone: phone, soup: random.below(4), most: random.pick([1, 2, 100]))
    let draws: [(weight: Int, value: More)] = [
      (3, .syncUp), (3, .syncDown), (3, .madeAndSent), (3, .handedAndSent), (4, .revert),
      (setup.visitKey == .external ? 5 : 0, .same),
    ]
    let kind = random.pick(weighted: draws)
    let soup = random.pick([0, 1, 2])
    let edit = Step.edit(
      phone: phone, soup: soup, pick: random.below(100), field: random.below(100), .boolean,
      isTooLong: false)
    let make = Step.create(phone: phone, soup: soup, .boolean)
    let again = Step.editAgain(phone: phone, field: random.below(100))
    let night = Step.run(random.chance(50) ? .all : .reconcile, nil)
    func maybe(_ percent: Int, _ step: Step) -> [Step] { random.chance(percent) ? [step] : [] }
    switch kind {
    case .syncUp: return [edit, sync] + maybe(50, again) + maybe(50, .handBack(phone: phone))
    case .syncDown:
      return [.syncDown(phone: phone), edit] + maybe(60, .handBack(phone: phone))
    case .madeAndSent:
      return [make, .syncUp(phone: phone, soup: 3, most: 100)] + maybe(60, again)
        + maybe(60, .handBack(phone: phone))
    case .handedAndSent:
      return [random.chance(50) ? make : edit, .handBack(phone: phone)] + maybe(50, night)
        + [.syncUp(phone: phone, soup: 3, most: 100)] + maybe(40, again)
        + maybe(60, .handBack(phone: phone))
    case .revert:
      return [random.chance(75) ? edit : make] + maybe(60, .handBack(phone: phone))
        + maybe(50, night) + [.revert(phone: phone)] + maybe(30, edit)
        + maybe(70, .handBack(phone: phone))
    case .same:
      let other = (phone + 1 + random.below(2)) % 3
      return [.create(phone: phone, soup: 2, .boolean)] + maybe(60, .handBack(phone: phone))
        + maybe(50, night) + [.createSame(phone: other)] + maybe(60, .handBack(phone: other))
    }
  }
}
