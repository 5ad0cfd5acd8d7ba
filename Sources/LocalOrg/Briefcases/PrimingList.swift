/// All records of a user's rules at one time, in serving order.
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
  /// The rules that failed, each with its position in the list.
  var errors: [(place: Int, rule: String)] = []
  /// The token of the saved list, if it does not fit into one page.
  var token: String?

  init(ruleCount: Int) { self.ruleCount = ruleCount }

  /// Returns the page that starts at `offset`.
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
