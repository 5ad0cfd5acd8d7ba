import TestSupport
import Testing

/// Histories that broke a rule once, reduced to the essential steps.
@Suite struct FoundByHistoriesTests {
  /// Two phones of Ada's and one of Ben's.
  private static func phones(
    android: [Bool], marking: [Bool] = [true, true, true]
  ) -> [HistorySetup.PhoneSetup] {
    zip(["ada", "ada", "ben"], zip(android, marking)).map { user, phone in
      .init(user: user, isAndroid: phone.0, marksInstall: phone.1)
    }
  }

  /// Plays a history and expects it to break no rule.
  private func expectHolds(
    _ seed: UInt64, _ setup: HistorySetup, _ steps: [Step],
    sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    var history = History(seed: seed)
    history.setup = setup
    history.steps = steps
    if case .failure(let violation) = await Campaign<History>.attempt(history) {
      Issue.record("\(violation)", sourceLocation: sourceLocation)
    }
  }

  @Test func `a resumed run supersedes an edit that it has decided before`()
    async
  {
    let gone = OrgChange(action: .reassign, target: .ofPhone, isSameSecond: false)
    let setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 0, visitKey: .none,
      phones: Self.phones(android: [true, true, true], marking: [false, false, true]))
    await expectHolds(
      20_261_122_121, setup,
      [
        .run(.all, Mishap(kind: .killAtEvent, nth: 2, arrives: true)),
        .edit(phone: 2, soup: 2, pick: 58, field: 33, .boolean, isTooLong: false), .orgChange(gone),
        .returnStore(phone: 2), .run(.reconcile, nil), .editAgain(phone: 2, field: 34),
      ])
  }

  @Test func `the record of a lost create is found after a phone changed it`() async {
    var setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 120, visitKey: .external,
      phones: Self.phones(android: [false, true, true], marking: [false, true, true]))
    setup.across = .firstWins
    await expectHolds(
      20_261_122_223, setup,
      [
        .create(phone: 0, soup: 0, .boolean), .returnStore(phone: 0),
        .run(.all, Mishap(kind: .killAtWrite, nth: 1, arrives: true)), .run(.all, nil),
        .install(phone: 0),
        .edit(phone: 0, soup: 0, pick: 74, field: 87, .boolean, isTooLong: false),
        .returnStore(phone: 0), .run(.reconcile, nil),
      ])
  }

  @Test func `an edit resolved before a fork came from its backup is the fork's own`() async {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 900, visitKey: .external,
      phones: Self.phones(android: [false, false, false]))
    setup.across = .firstWins
    await expectHolds(
      777_035, setup,
      [
        .edit(phone: 1, soup: 1, pick: 84, field: 78, .boolean, isTooLong: false),
        .backUp(phone: 1), .returnStore(phone: 1), .run(.reconcile, nil),
        .restore(phone: 1, pick: 1),
        .edit(phone: 1, soup: 1, pick: 58, field: 31, .number, isTooLong: false),
        .returnStore(phone: 1),
        .edit(phone: 1, soup: 1, pick: 32, field: 92, .boolean, isTooLong: false),
      ])
  }

  @Test func `an undone value is not sent with the result of several returns at once`() async {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 120, visitKey: .correlation,
      phones: Self.phones(android: [false, false, false], marking: [true, false, false]))
    setup.across = .firstWins
    await expectHolds(
      93_000_048, setup,
      [
        .edit(phone: 1, soup: 0, pick: 43, field: 44, .text, isTooLong: false),
        .edit(phone: 1, soup: 0, pick: 4, field: 21, .boolean, isTooLong: false),
        .returnStore(phone: 1), .run(.all, nil), .run(.undo(back: 0), nil),
        .editAgain(phone: 1, field: 2), .returnStore(phone: 1),
        .edit(phone: 1, soup: 0, pick: 51, field: 23, .text, isTooLong: false),
        .returnStore(phone: 1),
        .edit(phone: 1, soup: 0, pick: 4, field: 7, .text, isTooLong: false),
      ])
  }

  @Test func `unlisted fields of a new record that was undone go back to its phone`() async {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 0, visitKey: .correlation,
      phones: Self.phones(android: [true, false, true]))
    setup.carries = true
    await expectHolds(
      93_000_044, setup,
      [
        .create(phone: 1, soup: 0, .boolean), .returnStore(phone: 1), .run(.reconcile, nil),
        .run(.undo(back: 0), nil), .editAgain(phone: 1, field: 59), .returnStore(phone: 1),
        .run(.all, nil), .install(phone: 1),
      ])
  }

  @Test func `a row that its app fetched reverts nothing that another row has sent`()
    async
  {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 120, visitKey: .correlation,
      phones: Self.phones(android: [false, false, true]))
    setup.across = .firstWins
    let orgChange = OrgChange(action: .update(field: 2), target: .ofPhone, isSameSecond: false)
    await expectHolds(
      20_261_122_487, setup,
      [
        .edit(phone: 0, soup: 1, pick: 5, field: 61, .boolean, isTooLong: false),
        .orgChange(orgChange), .returnStore(phone: 0), .syncDown(phone: 1),
        .edit(phone: 1, soup: 1, pick: 53, field: 23, .boolean, isTooLong: false),
        .returnStore(phone: 1), .run(.all, nil),
        .edit(phone: 1, soup: 0, pick: 13, field: 81, .text, isTooLong: false),
      ])
  }

  @Test func `a record that a phone sent is not recreated after a restore from a backup`() async {
    var setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 120, visitKey: .external,
      phones: Self.phones(android: [false, false, true]))
    setup.carries = true
    await expectHolds(
      20_261_123_189, setup,
      [
        .create(phone: 0, soup: 1, .text), .backUp(phone: 0),
        .syncUp(phone: 0, soup: 3, most: 100), .returnStore(phone: 0), .restore(phone: 0, pick: 2),
      ])
  }

  @Test
  func `a lost create is not repeated after a phone that syncs changed its record`()
    async
  {
    let setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 120, visitKey: .none,
      phones: Self.phones(android: [false, false, true], marking: [true, false, true]))
    var death = Mishap(kind: .killAtWrite, nth: 1, arrives: true)
    death.then = OrgChange(action: .update(field: 52), target: .newest, isSameSecond: true)
    await expectHolds(
      20_261_126_176, setup,
      [
        .create(phone: 1, soup: 1, .boolean), .returnStore(phone: 1),
        .run(.all, death), .syncDown(phone: 0),
        .edit(phone: 0, soup: 1, pick: 59, field: 12, .boolean, isTooLong: false),
        .returnStore(phone: 0), .run(.all, nil),
      ])
  }

  @Test func `returns of a phone that was restored in between are recorded as they came`() async {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 900, visitKey: .none,
      phones: Self.phones(android: [true, false, true]))
    setup.carries = true
    await expectHolds(
      20_261_126_166, setup,
      [
        .returnStore(phone: 1),
        .edit(phone: 1, soup: 0, pick: 16, field: 18, .number, isTooLong: false),
        .returnStore(phone: 1),
        .backUp(phone: 1), .returnStore(phone: 2),
        .edit(phone: 1, soup: 0, pick: 48, field: 8, .boolean, isTooLong: false),
        .returnStore(phone: 1), .restore(phone: 1, pick: 0),
        .create(phone: 0, soup: 2, .boolean), .returnStore(phone: 0), .returnStore(phone: 0),
        .returnStore(phone: 0), .returnStore(phone: 0), .editAgain(phone: 0, field: 10),
        .returnStore(phone: 1), .editAgain(phone: 1, field: 44),
      ])
  }

  @Test func `a later send by an app is not reverted after a request without an answer`() async {
    var setup = HistorySetup(
      overwrites: false, strict: false, quietSeconds: 0, visitKey: .correlation,
      phones: Self.phones(android: [false, true, false]))
    setup.carries = true
    await expectHolds(
      20_261_122_049, setup,
      [
        .edit(phone: 1, soup: 2, pick: 38, field: 45, .boolean, isTooLong: false),
        .returnStore(phone: 1), .run(.reconcile, Self.held), .run(.all, nil), .install(phone: 1),
        .edit(phone: 1, soup: 2, pick: 78, field: 13, .boolean, isTooLong: false),
        .syncUp(phone: 1, soup: 3, most: 100),
      ])
  }

  @Test func `a write of the record's other row is not the first row's late request`() async {
    var setup = HistorySetup(
      overwrites: true, strict: false, quietSeconds: 0, visitKey: .external,
      phones: Self.phones(android: [false, true, false]))
    (setup.across, setup.carries) = (.firstWins, true)
    await expectHolds(
      20_261_122_001, setup,
      [
        .edit(phone: 0, soup: 1, pick: 87, field: 2, .boolean, isTooLong: false),
        .editInOtherSoup(phone: 0, field: 71), .returnStore(phone: 0), .run(.reconcile, Self.held),
        .editAgain(phone: 0, field: 11),
      ])
  }

  @Test func `the duplicate of an edit stays in the reports when its app creates a third`() async {
    let setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 120, visitKey: .none,
      phones: Self.phones(android: [false, true, false], marking: [true, true, false]))
    await expectHolds(
      20_261_122_055, setup,
      [
        .create(phone: 0, soup: 0, .boolean), .returnStore(phone: 0), .run(.reconcile, Self.held),
        .wait(seconds: 3600), .run(.reconcile, nil), .lateArrival, .run(.reconcile, nil),
        .syncUp(phone: 0, soup: 3, most: 100),
      ])
  }

  @Test func `unlisted fields of a recreated record are reported`() async {
    let setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 120, visitKey: .correlation,
      phones: Self.phones(android: [false, false, false], marking: [true, false, false]))
    await expectHolds(
      700_100_057, setup,
      [
        .create(phone: 1, soup: 0, .boolean), .returnStore(phone: 1), .run(.reconcile, nil),
        .editAgain(phone: 1, field: 64), .run(.undo(back: 0), nil),
      ])
  }

  @Test func `after an undo another phone deletes the record in its other soup`() async {
    let setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 120, visitKey: .none,
      phones: Self.phones(android: [false, false, false]))
    await expectHolds(
      915_300_076, setup,
      [
        .delete(phone: 1, soup: 0, pick: 1, .boolean), .returnStore(phone: 1),
        .run(.reconcile, nil), .run(.undo(back: 0), nil),
        .delete(phone: 0, soup: 1, pick: 1, .boolean),
      ])
  }

  @Test func `a deletion of an undeleted record deletes no work of another device`() async {
    var setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 120, visitKey: .correlation,
      phones: Self.phones(android: [true, true, false]))
    setup.carries = true
    await expectHolds(
      731_000_049, setup,
      [
        .edit(phone: 0, soup: 0, pick: 62, field: 75, .boolean, isTooLong: false),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: false)),
        .returnStore(phone: 0), .run(.reconcile, nil),
        .orgChange(OrgChange(action: .undelete, target: .newest, isSameSecond: false)),
        .run(.all, nil), .install(phone: 0), .install(phone: 1),
        .createDetail(phone: 1, pick: 47), .delete(phone: 0, soup: 0, pick: 47, .boolean),
      ])
  }

  @Test func `an edit that one phone discards is resolved on the phone that still shows it`() async
  {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 120, visitKey: .external,
      phones: Self.phones(android: [false, false, false], marking: [false, true, false]))
    setup.carries = true
    await expectHolds(
      824_600_134, setup,
      [
        .create(phone: 1, soup: 0, .boolean), .returnStore(phone: 1), .run(.all, nil),
        .spoil(phone: 1), .returnStore(phone: 1), .run(.all, nil), .install(phone: 1),
        .install(phone: 0), .discard(phone: 0, pick: 77), .returnStore(phone: 0),
        .returnStore(phone: 1), .run(.all, nil), .install(phone: 1),
      ])
  }

  @Test func `a record that an upsert found stays when its phone discards the new row`() async {
    let setup = HistorySetup(
      overwrites: false, strict: false, quietSeconds: 900, visitKey: .external,
      phones: Self.phones(android: [false, false, false]))
    await expectHolds(
      538_900_080, setup,
      [
        .createOver(phone: 2, pick: 0), .returnStore(phone: 2), .run(.reconcile, nil),
        .delete(phone: 2, soup: 2, pick: 1, .boolean),
      ])
  }

  @Test func `a new row that was discarded before its create was found is left as a conflict`()
    async
  {
    let setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 900, visitKey: .none,
      phones: Self.phones(android: [false, true, false]))
    await expectHolds(
      310_700_150, setup,
      [
        .create(phone: 0, soup: 2, .boolean), .returnStore(phone: 0),
        .run(.reconcile, Mishap(kind: .killAtWrite, nth: 1, arrives: true)),
        .run(.reconcile, nil), .revert(phone: 0), .returnStore(phone: 0),
      ])
  }

  @Test func `an edit of a record that its phone deleted is left deleted on server`() async {
    let setup = HistorySetup(
      overwrites: false, strict: false, quietSeconds: 900, visitKey: .correlation,
      phones: Self.phones(android: [false, false, false]))
    await expectHolds(
      427_100_017, setup,
      [
        .edit(phone: 2, soup: 2, pick: 96, field: 79, .boolean, isTooLong: false),
        .delete(phone: 2, soup: 2, pick: 81, .boolean), .returnStore(phone: 2),
        .run(.reconcile, nil), .revert(phone: 2), .editAgain(phone: 2, field: 47),
      ])
  }

  @Test func `a restored phone without an install ID supersedes what its backup lacks`() async {
    var setup = HistorySetup(
      overwrites: false, strict: false, quietSeconds: 0, visitKey: .none,
      phones: Self.phones(android: [true, true, true], marking: [false, true, true]))
    setup.across = .lastWins
    await expectHolds(
      427_100_010, setup,
      [
        .edit(phone: 0, soup: 1, pick: 96, field: 67, .boolean, isTooLong: false),
        .backUp(phone: 0),
        .edit(phone: 0, soup: 0, pick: 80, field: 77, .boolean, isTooLong: true),
        .returnStore(phone: 0), .restore(phone: 0, pick: 1),
        .edit(phone: 0, soup: 0, pick: 52, field: 59, .boolean, isTooLong: false),
      ])
  }

  @Test func `a lost recreation is not found in the deleted record that it replaces`() async {
    var setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 0, visitKey: .correlation,
      phones: Self.phones(android: [false, false, false]))
    (setup.across, setup.cuts, setup.concurrency) = (.firstWins, true, 4)
    await expectHolds(
      649_300_058, setup,
      [
        .edit(phone: 1, soup: 0, pick: 65, field: 44, .number, isTooLong: false),
        .editAgain(phone: 1, field: 11),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: true)),
        .returnStore(phone: 1), .run(.reconcile, Self.held),
      ])
  }

  @Test func `a revert takes back all changes of its row, also the first one of a field`() async {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 0, visitKey: .external,
      phones: Self.phones(android: [false, false, false]))
    (setup.cuts, setup.prunes) = (true, true)
    await expectHolds(
      538_900_033, setup,
      [
        .edit(phone: 2, soup: 0, pick: 85, field: 77, .boolean, isTooLong: false),
        .returnStore(phone: 2),
        .edit(phone: 2, soup: 0, pick: 64, field: 65, .boolean, isTooLong: false),
        .run(.all, nil), .revert(phone: 2), .editAgain(phone: 2, field: 14),
      ])
  }

  @Test func `an edit made after its phone sent the record stays when the phone is restored`() async
  {
    var setup = HistorySetup(
      overwrites: false, strict: true, quietSeconds: 120, visitKey: .external,
      phones: Self.phones(android: [true, false, true]))
    (setup.across, setup.carries, setup.concurrency) = (.firstWins, true, 4)
    await expectHolds(
      538_900_150, setup,
      [
        .create(phone: 1, soup: 0, .boolean), .spoil(phone: 1), .returnStore(phone: 1),
        .run(.all, nil), .install(phone: 1), .backUp(phone: 1),
        .fix(phone: 1, pick: 5, field: 95), .syncUp(phone: 1, soup: 3, most: 100),
        .edit(phone: 1, soup: 0, pick: 79, field: 70, .boolean, isTooLong: false),
        .returnStore(phone: 1), .restore(phone: 1, pick: 0),
        .edit(phone: 1, soup: 1, pick: 15, field: 95, .number, isTooLong: false),
      ])
  }

  @Test func `a value that its app sent after a lost write is undone with its edit`() async {
    var setup = HistorySetup(
      overwrites: true, strict: false, quietSeconds: 0, visitKey: .none,
      phones: Self.phones(android: [false, false, true], marking: [false, true, true]))
    (setup.across, setup.concurrency) = (.lastWins, 4)
    await expectHolds(
      812_300_042, setup,
      [
        .edit(phone: 1, soup: 0, pick: 12, field: 22, .boolean, isTooLong: false),
        .returnStore(phone: 1),
        .run(.reconcile, Mishap(kind: .killAtWrite, nth: 1, arrives: false)),
        .syncUp(phone: 1, soup: 3, most: 100), .run(.all, nil), .run(.all, nil), .run(.all, nil),
        .run(.undo(back: 2), nil),
      ])
  }

  @Test func `a later value that its app sent after a lost write is not undone`() async {
    let setup = HistorySetup(
      overwrites: true, strict: false, quietSeconds: 0, visitKey: .none,
      phones: Self.phones(android: [false, false, true]))
    await expectHolds(
      812_300_043, setup,
      [
        .edit(phone: 1, soup: 0, pick: 0, field: 0, .boolean, isTooLong: false),
        .returnStore(phone: 1),
        .run(.reconcile, Mishap(kind: .killAtWrite, nth: 1, arrives: false)),
        .editAgain(phone: 1, field: 1), .syncUp(phone: 1, soup: 3, most: 100), .run(.all, nil),
        .run(.undo(back: 0), nil),
      ])
  }

  /// The first write is held, or lost if the pipeline does not wait for answers.
  private static let held = Mishap(kind: .lateRequest, nth: 1, arrives: false)
}
