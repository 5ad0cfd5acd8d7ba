/// All that the rules of a user hold at one moment, in the order in which it is served.
struct PrimingList {
  struct Item {
    let rule: Int
    let object: String
    let recordType: String
    let id: String
    let stamp: String
  }

  let ruleCount: Int
  var items: [Item] = []
  /// The rules that failed, each with the place at which its turn came.
  var errors: [(place: Int, rule: String)] = []
  /// What the list is kept under, when one page does not hold it.
  var token: String?

  init(ruleCount: Int) { self.ruleCount = ruleCount }

  /// The page that begins at `offset`.
  func page(_ offset: Int, _ size: Int) -> PrimingPage {
    let end = min(items.count, offset + size)
    let isLast = end == items.count
    var seen: Set<String> = []
    let served = items[offset..<end]
    let entries = served.filter { seen.insert($0.id).inserted }.map { item in
      PrimingPage.Entry(
        object: item.object, recordTypeID: item.recordType, id: item.id,
        systemModstamp: String(item.stamp.dropLast(5)) + "Z")
    }
    let failed = errors.filter { $0.place >= offset && ($0.place < end || isLast) }
    return PrimingPage(
      entries: entries, relayToken: isLast ? nil : token.map { "\($0)-\(end)" },
      ruleErrors: failed.map(\.rule), ruleCountTotal: ruleCount, recordCountTotal: items.count,
      ruleCountServed: Set(served.map(\.rule)).count)
  }
}
