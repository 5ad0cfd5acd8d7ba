import System
import TestSupport

/// The steps drawn from a fifth random stream: records and their details, one record under two
/// names, addresses, results that a LIMIT cuts, and requests that arrive much later.
extension History {
  enum Family: String, Sendable, CaseIterable {
    case cascade, beside, address, late, cut, alter
    case decide, move, tree, key

    /// The kinds of steps and setups that only this family has.
    var kinds: Set<String> {
      switch self {
      case .cascade: [Step.Kind.createDetail.rawValue]
      case .beside: [Step.Kind.createOver.rawValue]
      case .address: [Step.Kind.editAddress.rawValue]
      case .late: [Step.Kind.wait.rawValue]
      case .cut: [HistorySetup.Kind.cuts.rawValue]
      case .alter: [Step.Kind.returnAltering.rawValue]
      case .decide: [Step.Kind.decide.rawValue, Step.Kind.takeBack.rawValue]
      case .move:
        [
          HistorySetup.Kind.moves.rawValue, Step.Kind.moveDetail.rawValue,
          Step.Kind.deleteParent.rawValue,
        ]
      case .tree: [HistorySetup.Kind.trees.rawValue, Step.Kind.createFamily.rawValue]
      case .key: [Step.Kind.orgKey.rawValue]
      }
    }
  }

  /// The families to play: all, or those in `ATTACHE_HISTORIES_FAMILIES`, separated by commas.
  static let families: Set<Family> =
    ProcessEnvironment.variable("ATTACHE_HISTORIES_FAMILIES").map { names in
      Set(names.split(separator: ",").compactMap { Family(rawValue: String($0)) })
    } ?? Set(Family.allCases)

  /// Whether a kind of step or setup belongs to a family that is not played.
  static func isLeftOut(_ kind: String) -> Bool {
    Family.allCases.contains { !families.contains($0) && $0.kinds.contains(kind) }
  }

  mutating func drawFamilies() {
    var random = HistoryRandom(seed ^ 0xFA_4171_1E5)
    setup.cuts = random.chance(25) && Self.families.contains(.cut)
    if setup.cuts { drawCut() }
    guard random.chance(70), !Self.families.subtracting([.cut]).isEmpty else { return }
    for _ in 0..<(1 + random.below(2)) {
      let drawn = Self.family(&random, setup)
      steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
    }
  }

  /// An account is edited in the run in which another one is deleted in the org.
  private mutating func drawCut() {
    var random = HistoryRandom(seed ^ 0xC_0717)
    let phone = random.below(3)
    let edit = Step.edit(
      phone: phone, soup: 0, pick: random.below(100), field: random.below(100), .boolean)
    let deletion = OrgChange(
      action: .delete, target: .record(random.below(100)), isSameSecond: false)
    let drawn = [edit, .returnStore(phone: phone), .orgChange(deletion), .run(.all, nil)]
    steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
  }

  private static func family(_ random: inout HistoryRandom, _ setup: HistorySetup) -> [Step] {
    let weights: [(weight: Int, value: Family)] = [
      (3, .cascade), (setup.visitKey == .external ? 4 : 0, .beside), (2, .address), (4, .late),
      (2, .alter),
    ]
    let played = weights.filter { families.contains($0.value) && $0.weight > 0 }
    if played.isEmpty { return [] }
    let kind = random.pick(weighted: played)
    let phone = random.below(3)
    let pick = random.below(100)
    switch kind {
    case .cascade: return cascade(&random, pick)
    case .beside:
      let other = random.below(3)
      let soup = 2
      let edit = Step.edit(phone: other, soup: soup, pick: pick, field: random.below(100), .boolean)
      let both = [Step.createOver(phone: phone, pick: pick), edit]
      return (random.chance(50) ? both : both.reversed())
        + [.returnStore(phone: phone), .returnStore(phone: other), .run(.reconcile, nil)]
    case .address:
      return [.editAddress(phone: phone, pick: pick)]
        + (random.chance(40) ? [.editAgain(phone: phone, field: random.below(100))] : [])
        + [.returnStore(phone: phone), .run(.all, nil), .install(phone: phone)]
    case .late: return late(&random, phone, pick)
    case .alter:
      let soup = random.pick([0, 1, 2])
      let field = random.below(100)
      return [
        .edit(phone: phone, soup: soup, pick: pick, field: field, .boolean),
        .returnAltering(phone: phone, soup: soup), .run(.all, nil),
      ]
    case .cut, .decide, .move, .tree, .key: return []
    }
  }

  /// One device of a user deletes an account below which the other one writes.
  private static func cascade(_ random: inout HistoryRandom, _ pick: Int) -> [Step] {
    let (deleter, writer) = random.chance(50) ? (0, 1) : (1, 0)
    var steps: [Step] = []
    if random.chance(60) {
      steps += [
        .createDetail(phone: writer, pick: pick), .returnStore(phone: 0), .returnStore(phone: 1),
        .run(.all, nil), .run(.all, nil), .install(phone: 0), .install(phone: 1),
      ]
      let field = random.below(100)
      steps.append(.edit(phone: writer, soup: 3, pick: 0, field: field, .boolean))
    } else {
      steps.append(.createDetail(phone: writer, pick: pick))
    }
    steps.append(.delete(phone: deleter, soup: 0, pick: pick, .boolean))
    let order = random.chance(50) ? [deleter, writer] : [writer, deleter]
    steps += order.map { .returnStore(phone: $0) }
    return steps + [.run(random.chance(50) ? .all : .reconcile, nil)]
  }

  /// A request is lost, its edit is resolved in one way or another, and then the request arrives.
  private static func late(_ random: inout HistoryRandom, _ phone: Int, _ pick: Int) -> [Step] {
    func maybe(_ percent: Int, _ step: Step) -> [Step] { random.chance(percent) ? [step] : [] }
    let soup = random.pick([0, 0, 2])
    let edit = Step.edit(phone: phone, soup: soup, pick: pick, field: random.below(100), .boolean)
    let first = random.pick(
      weighted: [
        (5, edit), (3, .create(phone: phone, soup: soup, .boolean)),
        (3, .delete(phone: phone, soup: soup, pick: pick, .boolean)),
      ])
    let lost = Mishap(kind: .lateRequest, nth: 1, arrives: false)
    var steps: [Step] = [first, .returnStore(phone: phone), .run(.reconcile, lost)]
    steps += [.wait(seconds: 3600), .run(.reconcile, nil)]
    let again = Step.editAgain(phone: phone, field: random.below(100))
    func orgChange(_ action: OrgChange.Action) -> Step {
      .orgChange(OrgChange(action: action, target: .ofPhone, isSameSecond: false))
    }
    switch random.below(5) {
    case 0: steps += [again, .returnStore(phone: phone), .run(.reconcile, nil)]
    case 1: steps += [.revert(phone: phone), .returnStore(phone: phone), .run(.reconcile, nil)]
    case 2: steps += [.run(.undo(back: 0), nil)]
    case 3: steps += [orgChange(random.chance(50) ? .undelete : .update(field: random.below(100)))]
    default: break
    }
    steps += maybe(40, .wait(seconds: 1200)) + [.lateArrival, .run(.reconcile, nil)]
    return steps + maybe(30, .run(.all, nil))
  }
}
