import TestSupport
import Testing

@Suite struct FoundByHistoriesTests {
  struct Found: Sendable, CustomTestStringConvertible {
    /// The rule that was broken.
    let testDescription: String
    let history: History
    init(_ rule: String, _ seed: UInt64, _ setup: HistorySetup, _ steps: [Step]) {
      testDescription = rule
      var history = History(seed: seed)
      history.setup = setup
      history.steps = steps
      self.history = history
    }
  }

  /// A setup with two phones of Ada's and one of Ben's.
  ///
  /// - Parameters:
  ///   - android: the phones that are not iOS
  ///   - unmarked: the phones whose app sets no `install`
  private static func setup(
    overwrites: Bool = false, strict: Bool = true, quiet: Int, _ visitKey: HistorySetup.VisitKey,
    android: Set<Int> = [], unmarked: Set<Int> = [], across: HistorySetup.DeviceConflicts = .manual,
    carries: Bool = false, cuts: Bool = false, moves: Bool = false, trees: Bool = false,
    concurrency: Int = 1, prunes: Bool = false
  ) -> HistorySetup {
    HistorySetup(
      overwrites: overwrites, strict: strict, quietSeconds: quiet, visitKey: visitKey,
      across: across, carries: carries, concurrency: concurrency, cuts: cuts, moves: moves,
      trees: trees, prunes: prunes,
      phones: ["ada", "ada", "ben"].enumerated().map { phone, user in
        .init(
          user: user, isAndroid: android.contains(phone), marksInstall: !unmarked.contains(phone))
      })
  }

  /// The first write is held, or lost if the pipeline does not wait for answers.
  private static let held = Mishap(kind: .lateRequest, nth: 1, arrives: false)
  private static let heldTwice = Mishap(kind: .lateRequest, nth: 1, arrives: false, times: 2)

  /// The answer to the first write is lost, and another user then changes the phone's record.
  private static let lostAndChanged = {
    var lost = Mishap(kind: .lostAnswer, nth: 1, arrives: false)
    lost.then = OrgChange(action: .update(field: 81), target: .ofPhone, isSameSecond: false)
    return lost
  }()

  /// The run is killed at its first write, and another user then changes the newest record.
  private static let changed = {
    var death = Mishap(kind: .killAtWrite, nth: 1, arrives: true)
    death.then = OrgChange(action: .update(field: 52), target: .newest, isSameSecond: true)
    return death
  }()

  /// The answer to the first write is lost, and another user then changes the newest record.
  private static let lostAnswer = {
    var loss = Mishap(kind: .lostAnswer, nth: 1, arrives: false)
    loss.then = OrgChange(action: .update(field: 75), target: .newest, isSameSecond: true)
    return loss
  }()

  /// The answer to the third write is lost, and another user then changes the newest record.
  private static let lostDeletion = {
    var loss = Mishap(kind: .lostAnswer, nth: 3, arrives: true)
    loss.then = OrgChange(action: .update(field: 68), target: .newest, isSameSecond: true)
    return loss
  }()

  static let found: [Found] = [
    Found(
      "a resumed run supersedes an edit that it has decided before", 20_261_122_121,
      setup(overwrites: true, quiet: 0, .none, android: [0, 1, 2], unmarked: [0, 1]),
      [
        .run(.all, Mishap(kind: .killAtEvent, nth: 2, arrives: true)),
        .edit(phone: 2, soup: 2, pick: 58, field: 33, .boolean),
        .orgChange(OrgChange(action: .reassign, target: .ofPhone, isSameSecond: false)),
        .returnStore(phone: 2), .run(.reconcile, nil), .editAgain(phone: 2, field: 34),
      ]),
    Found(
      "the record of a lost create is found after a phone changed it", 20_261_122_223,
      setup(
        overwrites: true, quiet: 120, .external, android: [1, 2], unmarked: [0], across: .firstWins),
      [
        .create(phone: 0, soup: 0, .boolean), .returnStore(phone: 0),
        .run(.all, Mishap(kind: .killAtWrite, nth: 1, arrives: true)), .run(.all, nil),
        .install(phone: 0), .edit(phone: 0, soup: 0, pick: 74, field: 87, .boolean),
        .returnStore(phone: 0), .run(.reconcile, nil),
      ]),
    Found(
      "an edit resolved before a fork came from its backup is the fork's own", 777_035,
      setup(quiet: 900, .external, across: .firstWins),
      [
        .edit(phone: 1, soup: 1, pick: 84, field: 78, .boolean), .backUp(phone: 1),
        .returnStore(phone: 1), .run(.reconcile, nil), .restore(phone: 1, pick: 1),
        .edit(phone: 1, soup: 1, pick: 58, field: 31, .number), .returnStore(phone: 1),
        .edit(phone: 1, soup: 1, pick: 32, field: 92, .boolean),
      ]),
    Found(
      "an undone value is not sent with the result of several returns at once", 93_000_048,
      setup(quiet: 120, .correlation, unmarked: [1, 2], across: .firstWins),
      [
        .edit(phone: 1, soup: 0, pick: 43, field: 44, .text),
        .edit(phone: 1, soup: 0, pick: 4, field: 21, .boolean), .returnStore(phone: 1),
        .run(.all, nil), .run(.undo(back: 0), nil), .editAgain(phone: 1, field: 2),
        .returnStore(phone: 1), .edit(phone: 1, soup: 0, pick: 51, field: 23, .text),
        .returnStore(phone: 1), .edit(phone: 1, soup: 0, pick: 4, field: 7, .text),
      ]),
    Found(
      "unlisted fields of a new record that was undone go back to its phone", 93_000_044,
      setup(quiet: 0, .correlation, android: [0, 2], carries: true),
      [
        .create(phone: 1, soup: 0, .boolean), .returnStore(phone: 1), .run(.reconcile, nil),
        .run(.undo(back: 0), nil), .editAgain(phone: 1, field: 59), .returnStore(phone: 1),
        .run(.all, nil), .install(phone: 1),
      ]),
    Found(
      "a row that its app fetched reverts nothing that another row has sent", 20_261_122_487,
      setup(quiet: 120, .correlation, android: [2], across: .firstWins),
      [
        .edit(phone: 0, soup: 1, pick: 5, field: 61, .boolean),
        .orgChange(OrgChange(action: .update(field: 2), target: .ofPhone, isSameSecond: false)),
        .returnStore(phone: 0), .syncDown(phone: 1),
        .edit(phone: 1, soup: 1, pick: 53, field: 23, .boolean), .returnStore(phone: 1),
        .run(.all, nil), .edit(phone: 1, soup: 0, pick: 13, field: 81, .text),
      ]),
    Found(
      "a record that a phone sent is not recreated after a restore from a backup", 20_261_123_189,
      setup(overwrites: true, quiet: 120, .external, android: [2], carries: true),
      [
        .create(phone: 0, soup: 1, .text), .backUp(phone: 0), .syncUp(phone: 0, soup: 3, most: 100),
        .returnStore(phone: 0), .restore(phone: 0, pick: 2),
      ]),
    Found(
      "a lost create is not repeated after a phone that syncs changed its record", 20_261_126_176,
      setup(quiet: 120, .none, android: [2], unmarked: [1]),
      [
        .create(phone: 1, soup: 1, .boolean), .returnStore(phone: 1), .run(.all, changed),
        .syncDown(phone: 0), .edit(phone: 0, soup: 1, pick: 59, field: 12, .boolean),
        .returnStore(phone: 0), .run(.all, nil),
      ]),
    Found(
      "returns of a phone that was restored in between are recorded as they came", 20_261_126_166,
      setup(quiet: 900, .none, android: [0, 2], carries: true),
      [
        .returnStore(phone: 1), .edit(phone: 1, soup: 0, pick: 16, field: 18, .number),
        .returnStore(phone: 1), .backUp(phone: 1), .returnStore(phone: 2),
        .edit(phone: 1, soup: 0, pick: 48, field: 8, .boolean), .returnStore(phone: 1),
        .restore(phone: 1, pick: 0), .create(phone: 0, soup: 2, .boolean), .returnStore(phone: 0),
        .returnStore(phone: 0), .returnStore(phone: 0), .returnStore(phone: 0),
        .editAgain(phone: 0, field: 10), .returnStore(phone: 1), .editAgain(phone: 1, field: 44),
      ]),
    Found(
      "a later send by an app is not reverted after a request without an answer", 20_261_122_049,
      setup(strict: false, quiet: 0, .correlation, android: [1], carries: true),
      [
        .edit(phone: 1, soup: 2, pick: 38, field: 45, .boolean), .returnStore(phone: 1),
        .run(.reconcile, held), .run(.all, nil), .install(phone: 1),
        .edit(phone: 1, soup: 2, pick: 78, field: 13, .boolean),
        .syncUp(phone: 1, soup: 3, most: 100),
      ]),
    Found(
      "a write of the record's other row is not the first row's late request", 20_261_122_001,
      setup(
        overwrites: true, strict: false, quiet: 0, .external, android: [1], across: .firstWins,
        carries: true),
      [
        .edit(phone: 0, soup: 1, pick: 87, field: 2, .boolean),
        .editInOtherSoup(phone: 0, field: 71), .returnStore(phone: 0), .run(.reconcile, held),
        .editAgain(phone: 0, field: 11),
      ]),
    Found(
      "the duplicate of an edit stays in the reports when its app creates a third", 20_261_122_055,
      setup(quiet: 120, .none, android: [1], unmarked: [2]),
      [
        .create(phone: 0, soup: 0, .boolean), .returnStore(phone: 0), .run(.reconcile, held),
        .wait(seconds: 3600), .run(.reconcile, nil), .lateArrival, .run(.reconcile, nil),
        .syncUp(phone: 0, soup: 3, most: 100),
      ]),
    Found(
      "unlisted fields of a recreated record are reported", 700_100_057,
      setup(overwrites: true, quiet: 120, .correlation, unmarked: [1, 2]),
      [
        .create(phone: 1, soup: 0, .boolean), .returnStore(phone: 1), .run(.reconcile, nil),
        .editAgain(phone: 1, field: 64), .run(.undo(back: 0), nil),
      ]),
    Found(
      "after an undo another phone deletes the record in its other soup", 915_300_076,
      setup(overwrites: true, quiet: 120, .none),
      [
        .delete(phone: 1, soup: 0, pick: 1, .boolean), .returnStore(phone: 1),
        .run(.reconcile, nil), .run(.undo(back: 0), nil),
        .delete(phone: 0, soup: 1, pick: 1, .boolean),
      ]),
    Found(
      "a deletion of an undeleted record deletes no work of another device", 731_000_049,
      setup(overwrites: true, quiet: 120, .correlation, android: [0, 1], carries: true),
      [
        .edit(phone: 0, soup: 0, pick: 62, field: 75, .boolean),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: false)),
        .returnStore(phone: 0), .run(.reconcile, nil),
        .orgChange(OrgChange(action: .undelete, target: .newest, isSameSecond: false)),
        .run(.all, nil), .install(phone: 0), .install(phone: 1), .createDetail(phone: 1, pick: 47),
        .delete(phone: 0, soup: 0, pick: 47, .boolean),
      ]),
    Found(
      "an edit that one phone discards is resolved on the phone showing it", 824_600_134,
      setup(quiet: 120, .external, unmarked: [0, 2], carries: true),
      [
        .create(phone: 1, soup: 0, .boolean), .returnStore(phone: 1), .run(.all, nil),
        .spoil(phone: 1), .returnStore(phone: 1), .run(.all, nil), .install(phone: 1),
        .install(phone: 0), .discard(phone: 0, pick: 77), .returnStore(phone: 0),
        .returnStore(phone: 1), .run(.all, nil), .install(phone: 1),
      ]),
    Found(
      "a record that an upsert found stays when its phone discards the new row", 538_900_080,
      setup(strict: false, quiet: 900, .external),
      [
        .createOver(phone: 2, pick: 0), .returnStore(phone: 2), .run(.reconcile, nil),
        .delete(phone: 2, soup: 2, pick: 1, .boolean),
      ]),
    Found(
      "a new row discarded before its create was found is left as a conflict", 310_700_150,
      setup(quiet: 900, .none, android: [1]),
      [
        .create(phone: 0, soup: 2, .boolean), .returnStore(phone: 0),
        .run(.reconcile, Mishap(kind: .killAtWrite, nth: 1, arrives: true)), .run(.reconcile, nil),
        .revert(phone: 0), .returnStore(phone: 0),
      ]),
    Found(
      "an edit of a record that its phone deleted is left deleted on server", 427_100_017,
      setup(strict: false, quiet: 900, .correlation),
      [
        .edit(phone: 2, soup: 2, pick: 96, field: 79, .boolean),
        .delete(phone: 2, soup: 2, pick: 81, .boolean), .returnStore(phone: 2),
        .run(.reconcile, nil), .revert(phone: 2), .editAgain(phone: 2, field: 47),
      ]),
    Found(
      "a restored phone without an install ID supersedes what its backup lacks", 427_100_010,
      setup(strict: false, quiet: 0, .none, android: [0, 1, 2], unmarked: [0], across: .lastWins),
      [
        .edit(phone: 0, soup: 1, pick: 96, field: 67, .boolean), .backUp(phone: 0),
        .edit(phone: 0, soup: 0, pick: 80, field: 77, .boolean, isTooLong: true),
        .returnStore(phone: 0), .restore(phone: 0, pick: 1),
        .edit(phone: 0, soup: 0, pick: 52, field: 59, .boolean),
      ]),
    Found(
      "a lost recreation is not found in the deleted record that it replaces", 649_300_058,
      setup(
        overwrites: true, quiet: 0, .correlation, across: .firstWins, cuts: true, concurrency: 4),
      [
        .edit(phone: 1, soup: 0, pick: 65, field: 44, .number), .editAgain(phone: 1, field: 11),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: true)),
        .returnStore(phone: 1), .run(.reconcile, held),
      ]),
    Found(
      "a revert takes back all changes of its row, also the first one of a field", 538_900_033,
      setup(quiet: 0, .external, cuts: true, prunes: true),
      [
        .edit(phone: 2, soup: 0, pick: 85, field: 77, .boolean), .returnStore(phone: 2),
        .edit(phone: 2, soup: 0, pick: 64, field: 65, .boolean), .run(.all, nil),
        .revert(phone: 2), .editAgain(phone: 2, field: 14),
      ]),
    Found(
      "an edit made after its phone sent the record stays when the phone is restored", 538_900_150,
      setup(
        quiet: 120, .external, android: [0, 2], across: .firstWins, carries: true, concurrency: 4),
      [
        .create(phone: 1, soup: 0, .boolean), .spoil(phone: 1), .returnStore(phone: 1),
        .run(.all, nil), .install(phone: 1), .backUp(phone: 1), .fix(phone: 1, pick: 5, field: 95),
        .syncUp(phone: 1, soup: 3, most: 100),
        .edit(phone: 1, soup: 0, pick: 79, field: 70, .boolean), .returnStore(phone: 1),
        .restore(phone: 1, pick: 0), .edit(phone: 1, soup: 1, pick: 15, field: 95, .number),
      ]),
    Found(
      "a value that its app sent after a lost write is undone with its edit", 812_300_042,
      setup(
        overwrites: true, strict: false, quiet: 0, .none, android: [2], unmarked: [0],
        across: .lastWins, concurrency: 4),
      [
        .edit(phone: 1, soup: 0, pick: 12, field: 22, .boolean), .returnStore(phone: 1),
        .run(.reconcile, Mishap(kind: .killAtWrite, nth: 1, arrives: false)),
        .syncUp(phone: 1, soup: 3, most: 100), .run(.all, nil), .run(.all, nil), .run(.all, nil),
        .run(.undo(back: 2), nil),
      ]),
    Found(
      "a later value that its app sent after a lost write is not undone", 812_300_043,
      setup(overwrites: true, strict: false, quiet: 0, .none, android: [2]),
      [
        .edit(phone: 1, soup: 0, pick: 0, field: 0, .boolean), .returnStore(phone: 1),
        .run(.reconcile, Mishap(kind: .killAtWrite, nth: 1, arrives: false)),
        .editAgain(phone: 1, field: 1), .syncUp(phone: 1, soup: 3, most: 100), .run(.all, nil),
        .run(.undo(back: 0), nil),
      ]),
    Found(
      "a row that its app sent replaces its create, also next to a changed row with its Id",
      677_100_087, setup(quiet: 120, .external, android: [1], across: .firstWins),
      [
        .edit(phone: 2, soup: 2, pick: 28, field: 3, .boolean), .createOver(phone: 2, pick: 28),
        .returnStore(phone: 2), .run(.reconcile, nil), .syncUp(phone: 2, soup: 3, most: 100),
        .editAgain(phone: 2, field: 32),
      ]),
    Found(
      "a user who was shown both values decides for each of the row's own", 903_700_180,
      setup(
        quiet: 900, .external, android: [2], across: .lastWins, carries: true, cuts: true,
        concurrency: 4, prunes: true),
      [
        .delete(phone: 1, soup: 0, pick: 2, .boolean), .returnStore(phone: 1), .run(.all, nil),
        .syncDown(phone: 0), .edit(phone: 0, soup: 0, pick: 2, field: 28, .boolean),
        .orgChange(OrgChange(action: .update(field: 90), target: .ofPhone, isSameSecond: true)),
        .returnStore(phone: 0), .run(.all, nil), .install(phone: 0),
        .fix(phone: 0, pick: 55, field: 21),
      ]),
    Found(
      "a decision to undo an edit does not close what its late request made", 731_900_242,
      setup(
        strict: false, quiet: 120, .none, android: [1], across: .lastWins, cuts: true,
        concurrency: 4),
      [
        .create(phone: 0, soup: 2, .boolean), .returnStore(phone: 0), .run(.reconcile, held),
        .wait(seconds: 3600), .run(.reconcile, nil), .lateArrival, .run(.undo(back: 0), held),
        .syncUp(phone: 0, soup: 2, most: 1), .editAgain(phone: 0, field: 95),
      ]),
    Found(
      "what a late request made stays in a report when its app sends the row too", 731_900_242,
      setup(
        strict: false, quiet: 120, .none, android: [1], across: .lastWins, cuts: true,
        concurrency: 4),
      [
        .create(phone: 0, soup: 2, .boolean), .returnStore(phone: 0), .run(.reconcile, held),
        .wait(seconds: 3600), .run(.reconcile, nil), .lateArrival, .run(.undo(back: 0), held),
        .editAgain(phone: 0, field: 20), .returnStore(phone: 0),
        .syncUp(phone: 0, soup: 2, most: 1), .editAgain(phone: 0, field: 95),
      ]),
    Found(
      "a value that a lost upsert overwrote before another user did is reported", 903_700_125,
      setup(quiet: 120, .external, android: [1], across: .lastWins, cuts: true, prunes: true),
      [
        .create(phone: 1, soup: 2, .boolean), .createSame(phone: 0), .returnStore(phone: 0),
        .run(.all, nil), .returnStore(phone: 1), .run(.reconcile, lostAnswer),
      ]),
    Found(
      "a value entered right before an upsert is sent is reported, if it is overwritten",
      903_700_125,
      setup(quiet: 120, .external, android: [1], across: .lastWins, cuts: true, prunes: true),
      [
        .create(phone: 1, soup: 2, .boolean), .createSame(phone: 0), .returnStore(phone: 0),
        .run(.all, nil), .create(phone: 1, soup: 1, .boolean), .returnStore(phone: 1),
        .run(.reconcile, lostAnswer),
      ]),
    Found(
      "another user's deletion of a record whose deletion was undone does not reopen the undo",
      881_234_025,
      setup(quiet: 120, .none, carries: true, prunes: true),
      [
        .delete(phone: 0, soup: 0, pick: 89, .number),
        .edit(phone: 0, soup: 2, pick: 60, field: 57, .text), .create(phone: 0, soup: 0, .boolean),
        .returnStore(phone: 0), .run(.reconcile, lostDeletion), .run(.all, nil),
        .run(.reconcile, nil), .run(.all, nil), .run(.undo(back: 3), nil), .run(.all, nil),
        .install(phone: 0), .edit(phone: 0, soup: 0, pick: 39, field: 86, .number),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: true)),
      ]),
    Found(
      "OVERWRITE sends a recreated record the values that a phone was issued before", 881_234_054,
      setup(
        overwrites: true, quiet: 0, .correlation, android: [2], unmarked: [0], across: .lastWins,
        cuts: true, concurrency: 4),
      [
        .edit(phone: 0, soup: 0, pick: 18, field: 82, .boolean),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: false)),
        .returnStore(phone: 0), .run(.reconcile, nil),
        .edit(phone: 1, soup: 1, pick: 48, field: 30, .text),
      ]),
    Found(
      "an edit that recreated a record conflicts with another phone's, under either ID",
      552_100_035,
      setup(overwrites: true, quiet: 120, .external, android: [1, 2], carries: true, cuts: true),
      [
        .edit(phone: 0, soup: 0, pick: 1, field: 57, .boolean), .returnStore(phone: 0),
        .orgChange(OrgChange(action: .delete, target: .record(97), isSameSecond: false)),
        .run(.all, nil), .edit(phone: 1, soup: 1, pick: 25, field: 75, .number),
        .returnStore(phone: 1), .run(.all, nil), .install(phone: 1),
        .fix(phone: 1, pick: 84, field: 42),
      ]),
    Found(
      "what a late request overwrote is restored by the next run if that request is lost, too",
      434_000_001,
      setup(
        overwrites: true, quiet: 0, .correlation, android: [0, 1], unmarked: [0, 1], trees: true),
      [
        .edit(phone: 0, soup: 0, pick: 75, field: 5, .boolean), .returnStore(phone: 0),
        .run(.all, held), .run(.reconcile, held), .run(.undo(back: 1), nil),
        .syncUp(phone: 0, soup: 3, most: 100), .run(.all, held),
      ]),
    Found(
      "a record that has nothing of a lost create is not taken for it", 316_227_195,
      setup(quiet: 900, .external, android: [0, 1], across: .lastWins, carries: true, moves: true),
      [
        .create(phone: 0, soup: 0, .boolean), .returnStore(phone: 0),
        .run(
          .reconcile,
          Mishap(
            kind: .killAtWrite, nth: 1, arrives: false,
            then: OrgChange(action: .delete, target: .newest, isSameSecond: true))),
        .create(phone: 1, soup: 0, .boolean), .syncUp(phone: 1, soup: 3, most: 100),
        .editAgain(phone: 1, field: 80),
        .orgChange(OrgChange(action: .update(field: 3), target: .ofPhone, isSameSecond: true)),
      ]),
    Found(
      "what an operator entered for one row stands against another row of the record",
      20_261_129_163,
      setup(quiet: 0, .correlation, android: [1, 2], across: .firstWins, carries: true),
      [
        .edit(phone: 2, soup: 1, pick: 79, field: 1, .boolean),
        .editInOtherSoup(phone: 2, field: 90), .returnStore(phone: 2), .run(.reconcile, nil),
        .decide(back: 0, way: 70),
      ]),
    Found(
      "a deletion that arrives after an operator discarded it stays open", 1,
      setup(quiet: 120, .none),
      [
        .delete(phone: 0, soup: 0, pick: 0, .boolean), .returnStore(phone: 0),
        .run(.reconcile, heldTwice), .wait(seconds: 3600), .run(.reconcile, heldTwice),
        .decide(back: 0, way: 0, wanted: .discard), .run(.reconcile, nil), .lateArrival,
        .run(.reconcile, nil),
      ]),
    Found(
      "a create that arrives after an operator named another record stays open", 2,
      setup(quiet: 120, .none),
      [
        .create(phone: 0, soup: 0, .boolean), .returnStore(phone: 0), .run(.reconcile, held),
        .wait(seconds: 3600), .run(.reconcile, held),
        .decide(back: 0, way: 0, wanted: .record), .run(.reconcile, nil), .lateArrival,
        .run(.reconcile, nil),
      ]),
    Found(
      "what a late request overwrote of its own edit's later write is reported", 412_000_070,
      setup(
        overwrites: true, quiet: 120, .correlation, android: [1], carries: true, trees: true,
        concurrency: 4),
      [
        .edit(phone: 1, soup: 1, pick: 48, field: 8, .boolean), .returnStore(phone: 1),
        .run(.reconcile, held), .lateArrival, .run(.reconcile, nil), .decide(back: 0, way: 90),
        .run(.reconcile, nil), .syncUp(phone: 1, soup: 3, most: 100),
      ]),
    Found(
      "a child that arrives late under its parent's first record is reported after its parent's second",
      412_000_211,
      setup(
        overwrites: true, quiet: 900, .correlation, android: [0], across: .lastWins, trees: true),
      [
        .createFamily(phone: 1, contacts: 2), .returnStore(phone: 1), .run(.reconcile, held),
        .wait(seconds: 3600), .run(.reconcile, held), .decide(back: 2, way: 97),
      ]),
    Found(
      "a create with the external id of a record does not replace what its own device sent there since",
      731_000_175, setup(quiet: 900, .external, carries: true),
      [
        .createOver(phone: 2, pick: 26), .edit(phone: 2, soup: 2, pick: 26, field: 86, .boolean),
        .returnStore(phone: 2), .run(.reconcile, held), .editAgain(phone: 2, field: 7),
        .returnStore(phone: 2), .run(.all, nil),
        .edit(phone: 2, soup: 2, pick: 11, field: 39, .boolean),
      ]),
    Found(
      "a detail of a new record that its own phone deletes is deleted with it", 731_000_232,
      setup(
        overwrites: true, quiet: 900, .external, android: [0, 1], cuts: true, moves: true,
        trees: true,
        concurrency: 4, prunes: true),
      [
        .createFamily(phone: 0, contacts: 2), .returnStore(phone: 0), .run(.all, nil),
        .edit(phone: 0, soup: 1, pick: 0, field: 67, .boolean),
        .delete(phone: 0, soup: 0, pick: 59, .boolean),
      ]),
    Found(
      "a child that arrives late is reported although several records may be its parent's",
      731_000_179, setup(strict: false, quiet: 900, .none, across: .firstWins, trees: true),
      [
        .createFamily(phone: 1, contacts: 2), .returnStore(phone: 1), .run(.reconcile, held),
        .wait(seconds: 3600), .run(.reconcile, held), .decide(back: 0, way: 11),
        .run(.reconcile, nil), .decide(back: 0, way: 21),
      ]),
    Found(
      "what an undo without an answer restored is not the effect of an older request without one",
      847_000_036,
      setup(
        overwrites: true, quiet: 0, .correlation, android: [1], unmarked: [0], across: .firstWins,
        concurrency: 4, prunes: true),
      [
        .edit(phone: 0, soup: 2, pick: 43, field: 56, .boolean), .returnStore(phone: 0),
        .editAgain(phone: 0, field: 1), .returnStore(phone: 0), .run(.reconcile, held),
        .decide(back: 1, way: 68, wanted: .record), .run(.reconcile, nil), .run(.reconcile, nil),
        .run(.reconcile, nil), .run(.all, nil),
        .run(.undo(back: 3), lostAndChanged),
      ]),
    Found(
      "a record that was issued while its create had no answer may be what it made", 847_000_213,
      setup(
        overwrites: true, quiet: 900, .correlation, unmarked: [0], carries: true, trees: true,
        prunes: true),
      [
        .edit(phone: 1, soup: 0, pick: 16, field: 72, .text), .create(phone: 1, soup: 0, .boolean),
        .returnStore(phone: 1), .run(.reconcile, Mishap(kind: .lostAnswer, nth: 2, arrives: false)),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: false)),
        .run(.all, nil),
        .install(phone: 0), .edit(phone: 0, soup: 0, pick: 95, field: 51, .boolean),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: false)),
        .returnStore(phone: 0), .run(.all, nil),
      ]),
    Found(
      "a new detail of a new record that its phone deleted is blocked", 953_000_207,
      setup(quiet: 120, .correlation, unmarked: [2], trees: true),
      [.createFamily(phone: 1, contacts: 1), .delete(phone: 1, soup: 0, pick: 49, .boolean)]),
    Found(
      "a record that a device had before its upsert was sent is not what the upsert created",
      277_000_023,
      setup(
        quiet: 900, .external, android: [0], carries: true, cuts: true, moves: true, trees: true),
      [
        .edit(phone: 2, soup: 2, pick: 68, field: 27, .boolean),
        .orgChange(OrgChange(action: .reassign, target: .ofPhone, isSameSecond: false)),
        .createOver(phone: 2, pick: 93), .returnStore(phone: 2), .run(.reconcile, held),
      ]),
    Found(
      "what others changed before a decision stands against later edits of the device's own copy",
      519_000_191, setup(quiet: 0, .none, android: [2]),
      [
        .create(phone: 2, soup: 2, .boolean), .syncUp(phone: 2, soup: 3, most: 100),
        .editAgain(phone: 2, field: 92),
        .orgChange(OrgChange(action: .update(field: 7), target: .ofPhone, isSameSecond: false)),
        .returnStore(phone: 2), .run(.all, nil), .decide(back: 2, way: 4), .run(.reconcile, nil),
        .edit(phone: 2, soup: 2, pick: 77, field: 91, .boolean),
      ]),
    Found(
      "a bundle may be installed over an edit that a late request opened after it was packed",
      386_000_038,
      setup(
        overwrites: true, quiet: 900, .external, android: [1, 2], unmarked: [0], trees: true,
        concurrency: 4),
      [
        .edit(phone: 1, soup: 0, pick: 48, field: 50, .boolean), .returnStore(phone: 1),
        .run(.all, held), .lateArrival, .run(.reconcile, nil), .install(phone: 1),
      ]),
    Found(
      "a restored phone without an install ID looks as if it had taken an edit back", 495_000_042,
      setup(
        strict: false, quiet: 0, .none, unmarked: [2], carries: true, cuts: true, concurrency: 4),
      [
        .delete(phone: 2, soup: 0, pick: 10, .boolean),
        .edit(phone: 2, soup: 2, pick: 34, field: 96, .boolean), .returnStore(phone: 2),
        .backUp(phone: 2), .edit(phone: 2, soup: 2, pick: 7, field: 76, .boolean),
        .returnStore(phone: 2), .restore(phone: 2, pick: 0),
        .edit(phone: 2, soup: 2, pick: 4, field: 84, .text),
      ]),
    Found(
      "a second record that is discarded before it was reported is reported", 495_000_066,
      setup(
        quiet: 900, .external, android: [1, 2], unmarked: [0], across: .lastWins, carries: true,
        moves: true, concurrency: 4),
      [
        .create(phone: 1, soup: 1, .boolean), .returnStore(phone: 1), .run(.all, nil),
        .syncUp(phone: 1, soup: 3, most: 100), .returnStore(phone: 1),
        .run(.all, Mishap(kind: .killAtRequest, nth: 8, arrives: true)), .decide(back: 0, way: 1),
      ]),
    Found(
      "an edit of a deleted record is over when its device's sync has made the record again",
      612_000_077,
      setup(
        overwrites: true, strict: false, quiet: 120, .none, android: [1], across: .lastWins,
        carries: true, moves: true, trees: true, prunes: true),
      [
        .create(phone: 0, soup: 0, .text), .edit(phone: 2, soup: 0, pick: 45, field: 44, .boolean),
        .orgChange(OrgChange(action: .delete, target: .ofPhone, isSameSecond: true)),
        .create(phone: 1, soup: 0, .boolean), .returnStore(phone: 0), .returnStore(phone: 1),
        .run(.all, nil), .install(phone: 0), .delete(phone: 0, soup: 0, pick: 73, .boolean),
        .returnStore(phone: 0), .run(.all, nil),
        .edit(phone: 0, soup: 1, pick: 63, field: 92, .boolean), .returnStore(phone: 0),
        .syncUp(phone: 0, soup: 3, most: 100), .editAgain(phone: 0, field: 7),
      ]),
  ]

  @Test(arguments: found)
  func `a history that broke a rule once breaks none`(_ found: Found) async {
    if case .failure(let violation) = await Campaign<History>.attempt(found.history) {
      Issue.record("\(violation)")
    }
  }
}
