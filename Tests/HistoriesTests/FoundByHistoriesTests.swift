import Testing

/// Histories that broke a promise once, shrunk to what matters.
@Suite struct FoundByHistoriesTests {
  /// Plays a history; nil where it holds.
  private func violation(_ steps: [Step]) async -> String? {
    var history = History(seed: 20_261_122_121)
    history.setup = HistorySetup(
      overwrites: true, strict: true, quietSeconds: 0, visitKey: .none,
      phones: [
        .init(user: "ada", isAndroid: true, marksInstall: false),
        .init(user: "ada", isAndroid: true, marksInstall: false),
        .init(user: "ben", isAndroid: true, marksInstall: true),
      ])
    history.steps = steps
    if case .failure(let violation) = await Campaign.attempt(history) {
      return violation.description
    }
    return nil
  }

  @Test func `a run that goes on after its death supersedes an edit that it has judged before`()
    async
  {
    let gone = OfficeWork(action: .reassign, target: .ofPhone, isSameSecond: false)
    let violation = await violation([
      .run(.all, Mishap(kind: .killAtEvent, nth: 2, arrives: true)),
      .edit(phone: 2, soup: 2, pick: 58, field: 33, .boolean, isTooLong: false), .office(gone),
      .handBack(phone: 2), .run(.reconcile, nil), .editAgain(phone: 2, field: 34),
    ])
    #expect(violation == nil)
  }
}
