import Ledger
import TestSupport

/// The steps drawn from a sixth random stream: what operators decide while requests are under way,
/// contacts that are given to other accounts, accounts that are sent with their contacts, and
/// upserts that arrive much later.
extension History {
  private static let lost = Mishap(kind: .lateRequest, nth: 1, arrives: false)
  private static let lostTwice = Mishap(kind: .lateRequest, nth: 1, arrives: false, times: 2)

  mutating func drawLater() {
    var random = HistoryRandom(seed ^ 0x0DEC_1DED)
    setup.moves = random.chance(35) && Self.families.contains(.move)
    setup.trees = random.chance(30) && Self.families.contains(.tree)
    let weights: [(weight: Int, value: Family)] = [
      (5, .decide), (setup.moves ? 6 : 0, .move), (setup.trees ? 6 : 0, .tree),
      (setup.visitKey == .external ? 6 : 0, .key),
    ]
    let played = weights.filter { Self.families.contains($0.value) && $0.weight > 0 }
    guard random.chance(75), !played.isEmpty else { return }
    for _ in 0..<(1 + random.below(2)) {
      let drawn = Self.later(&random, random.pick(weighted: played))
      steps.insert(contentsOf: drawn, at: random.below(steps.count + 1))
    }
  }

  private static func later(_ random: inout HistoryRandom, _ family: Family) -> [Step] {
    let (phone, pick) = (random.below(3), random.below(100))
    switch family {
    case .decide:
      return random.chance(65) ? lost(&random, phone, pick) : decided(&random, phone, pick)
    case .move: return moved(&random, pick)
    case .tree: return tree(&random, phone, pick)
    case .key: return keyed(&random, phone, pick)
    case .cascade, .beside, .address, .late, .cut, .alter: return []
    }
  }

  private static func maybe(
    _ random: inout HistoryRandom, _ percent: Int, _ steps: Step...
  ) -> [Step] { random.chance(percent) ? steps : [] }

  private static func decide(
    _ random: inout HistoryRandom, wanted: Decision.Kind? = nil
  ) -> Step {
    let back = random.pick([0, 0, 0, 1, 2])
    return .decide(back: back, way: random.below(100), wanted: wanted)
  }

  private static func ofPhone(_ action: OrgChange.Action) -> Step {
    .orgChange(OrgChange(action: action, target: .ofPhone, isSameSecond: false))
  }

  /// One or both attempts to send an edit are lost, an operator or its phone resolves it, and then
  /// they arrive.
  private static func lost(_ random: inout HistoryRandom, _ phone: Int, _ pick: Int) -> [Step] {
    let soup = random.pick([0, 0, 1, 2])
    let edit = Step.edit(phone: phone, soup: soup, pick: pick, field: random.below(100), .boolean)
    let first = random.pick(
      weighted: [
        (2, edit), (4, .create(phone: phone, soup: soup, .boolean)),
        (4, .delete(phone: phone, soup: soup, pick: pick, .boolean)),
      ])
    let isDeletion = first.kinds.contains(.delete)
    // A run sends a deletion again that left its record in the org.
    let loss = isDeletion ? lostTwice : lost
    var steps: [Step] = [first, .returnStore(phone: phone), .run(.reconcile, loss)]
    steps += maybe(&random, 15, decide(&random), .run(.reconcile, nil))
    steps += [.wait(seconds: 3600)] + maybe(&random, 15, ofPhone(.update(field: pick)))
    steps.append(.run(.reconcile, random.chance(isDeletion ? 90 : 60) ? loss : nil))
    switch random.below(5) {
    case 0: steps += [.takeBack(phone: phone), .returnStore(phone: phone)]
    case 1:
      steps += [decide(&random), .editAgain(phone: phone, field: pick)]
      steps += maybe(&random, 70, .returnStore(phone: phone))
    // A deletion is discarded, and a new row's record is named.
    default:
      steps.append(decide(&random, wanted: isDeletion ? .discard : .record))
    }
    steps += maybe(&random, 30, .wait(seconds: 1200))
    steps.append(.run(.reconcile, random.chance(15) ? lost : nil))
    steps += maybe(&random, 25, ofPhone(.update(field: random.below(100))), .run(.reconcile, nil))
    steps += maybe(&random, 40, .wait(seconds: 1200)) + [.lateArrival]
    steps += maybe(&random, 20, decide(&random)) + [.run(.reconcile, nil)]
    steps += maybe(&random, 50, decide(&random), .run(.reconcile, nil))
    return steps + maybe(&random, 30, .run(.all, nil), .install(phone: phone))
  }

  /// A conflict is decided, sometimes while an earlier request of its record is under way.
  private static func decided(_ random: inout HistoryRandom, _ phone: Int, _ pick: Int) -> [Step] {
    let soup = random.pick([0, 0, 1, 2])
    let field = random.below(100)
    var steps: [Step] = []
    if random.chance(50) {
      steps = [
        .edit(phone: phone, soup: soup, pick: pick, field: field, .boolean),
        .returnStore(phone: phone), .run(.reconcile, lost), .wait(seconds: 3600),
        .run(.reconcile, nil), .editAgain(phone: phone, field: field),
      ]
    } else {
      steps = [.edit(phone: phone, soup: soup, pick: pick, field: field, .boolean)]
    }
    steps += [ofPhone(.update(field: random.below(100))), .returnStore(phone: phone)]
    steps += [.run(random.chance(50) ? .all : .reconcile, nil), decide(&random)]
    steps += maybe(&random, 25, ofPhone(.update(field: random.below(100))))
    steps += maybe(&random, 20, .lateArrival)
    steps.append(.run(.reconcile, random.chance(30) ? drawMishap(&random) : nil))
    steps += maybe(&random, 30, decide(&random), .run(.reconcile, nil))
    steps += maybe(&random, 30, .run(.undo(back: random.below(2)), nil))
    steps += maybe(&random, 40, .editAgain(phone: phone, field: field), .returnStore(phone: phone))
    return steps + maybe(&random, 60, .lateArrival, .run(.reconcile, nil))
  }

  /// A phone gives a contact to an account that another phone or user deletes before the same run.
  private static func moved(_ random: inout HistoryRandom, _ pick: Int) -> [Step] {
    let (deleter, writer) = random.chance(50) ? (0, 1) : (1, 0)
    var steps: [Step] = [.createDetail(phone: writer, pick: pick)]
    if random.chance(80) {
      steps += [
        .returnStore(phone: 0), .returnStore(phone: 1), .run(.all, nil), .run(.all, nil),
        .install(phone: 0), .install(phone: 1),
      ]
    }
    let field = random.below(100)
    let edit = Step.edit(phone: writer, soup: 3, pick: 0, field: field, .boolean)
    steps += maybe(&random, 30, edit)
    steps.append(.moveDetail(phone: writer, pick: 0, parent: random.below(100)))
    let gone = OrgChange(action: .delete, target: .ofMove, isSameSecond: false)
    let deletion = random.pick(
      weighted: [
        (5, Step.deleteParent(phone: deleter, isFormer: false)), (2, .orgChange(gone)),
        (2, .deleteParent(phone: writer, isFormer: true)),
        (1, .deleteParent(phone: deleter, isFormer: true)),
        (1, .deleteParent(phone: writer, isFormer: false)),
      ])
    steps.append(deletion)
    let order = random.chance(50) ? [deleter, writer] : [writer, deleter]
    steps += maybe(&random, 15, .returnStore(phone: writer), .run(.ingest, nil))
    steps += order.map { .returnStore(phone: $0) }
    let mishap = random.chance(35) ? random.pick([lost, drawMishap(&random)]) : nil
    steps.append(.run(random.chance(50) ? .all : .reconcile, mishap))
    steps += maybe(&random, 35, decide(&random), .run(.reconcile, nil))
    steps += maybe(&random, 30, .wait(seconds: 3600), .run(.reconcile, nil))
    return steps + maybe(&random, 40, .lateArrival, .run(.reconcile, nil))
  }

  /// Phones write an account with its contacts, and the answer to a request with several records is
  /// lost.
  private static func tree(_ random: inout HistoryRandom, _ phone: Int, _ pick: Int) -> [Step] {
    let field = random.below(100)
    let edit = Step.edit(phone: phone, soup: 0, pick: pick, field: field, .boolean)
    let detail = Step.createDetail(phone: phone, pick: pick)
    let family = Step.createFamily(phone: phone, contacts: 1 + random.below(2))
    var steps = random.pick(weighted: [(4, [family]), (3, [detail, edit]), (1, [detail])])
    let returned: [Step] = [.returnStore(phone: phone)]
    if random.chance(40) {
      steps += returned + [.run(.all, nil), .run(.all, nil), .install(phone: phone)]
      steps.append(.edit(phone: phone, soup: 3, pick: 0, field: field, .boolean))
      steps += maybe(&random, 50, edit)
      steps += maybe(&random, 25, .delete(phone: phone, soup: 3, pick: 0, .boolean))
      steps += maybe(&random, 25, .delete(phone: phone, soup: 0, pick: pick, .boolean))
    }
    steps += maybe(&random, 25, ofPhone(.update(field: random.below(100))))
    if random.chance(30) {
      let other = (phone + 1 + random.below(2)) % 3
      steps += [
        .edit(phone: other, soup: 0, pick: pick, field: field, .boolean),
        .returnStore(phone: other),
      ]
    }
    let mishap = random.pick(weighted: [(4, lost), (4, drawMishap(&random))])
    steps += returned + [.run(random.chance(50) ? .all : .reconcile, mishap)]
    steps += maybe(&random, 60, .wait(seconds: 3600))
    steps.append(.run(.reconcile, random.chance(25) ? lost : nil))
    steps += maybe(&random, 30, decide(&random), .run(.reconcile, nil))
    steps += maybe(&random, 25, .run(.undo(back: random.below(2)), nil))
    steps += maybe(&random, 60, .lateArrival, .run(.reconcile, nil))
    steps += maybe(&random, 30, decide(&random), .run(.reconcile, nil))
    return steps + maybe(&random, 40, .run(.all, nil), .install(phone: phone))
  }

  /// One or both attempts of an upsert are lost, its record gets another state in one way or
  /// another, and then they arrive.
  private static func keyed(_ random: inout HistoryRandom, _ phone: Int, _ pick: Int) -> [Step] {
    let make = Step.create(phone: phone, soup: 2, .boolean)
    var steps: [Step] = [
      random.chance(50) ? .createOver(phone: phone, pick: pick) : make,
      .returnStore(phone: phone), .run(.reconcile, lost),
    ]
    let change = { (random: inout HistoryRandom) in
      Step.orgKey(phone: phone, random.pick([.deletes, .deletes, .creates, .changes, .restores]))
    }
    steps += maybe(&random, 20, change(&random)) + [.wait(seconds: 3600)]
    steps.append(.run(.reconcile, random.chance(35) ? lost : nil))
    switch random.below(6) {
    case 0: steps += [.takeBack(phone: phone), .returnStore(phone: phone), .run(.reconcile, nil)]
    case 1: steps += [decide(&random), .run(.reconcile, nil)]
    case 2: steps += [.run(.undo(back: 0), nil)]
    case 3: steps += [.editAgain(phone: phone, field: pick), .returnStore(phone: phone)]
    default: break
    }
    steps += maybe(&random, 60, change(&random)) + maybe(&random, 50, .run(.reconcile, nil))
    steps += maybe(&random, 25, change(&random)) + maybe(&random, 30, .wait(seconds: 1200))
    steps += [.lateArrival] + maybe(&random, 20, change(&random)) + [.run(.reconcile, nil)]
    steps += maybe(&random, 40, decide(&random), .run(.reconcile, nil))
    return steps + maybe(&random, 30, .run(.all, nil), .install(phone: phone))
  }
}
