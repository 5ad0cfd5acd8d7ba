import SmartStore
import System

/// The soups of `QueryBench`: accounts, and two contacts for every second account.
struct QuerySoups {
  /// The number of records in each soup.
  let records: Int

  static func accountID(_ number: Int) -> String { "001" + digits(number) }

  private static func contactID(_ number: Int) -> String { "003" + digits(number) }

  /// Fifteen digits, the length of an ID.
  private static func digits(_ number: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: 15 - text.count) + text
  }

  /// Writes a store as a prime does.
  func write(to path: String) throws {
    let store = try Store(creating: path, platform: .android)
    try load(
      "accounts", into: store,
      specs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "Name", type: .string),
        IndexSpec(path: "Size", type: .integer), IndexSpec(path: "__local__", type: .string),
      ]
    ) { number in
      """
      {"Id":"\(Self.accountID(number))","Name":"Account \(number)","Size":\(number &* 7_919 % 10_007),\
      "Industry":"Energy","BillingCity":"Hamburg","Phone":"+49 40 \(number)",\
      "LastModifiedDate":"2026-01-01T00:00:00.000+0000"}
      """
    }
    try load(
      "contacts", into: store,
      specs: [
        IndexSpec(path: "Id", type: .string), IndexSpec(path: "LastName", type: .string),
        IndexSpec(path: "AccountId", type: .string), IndexSpec(path: "__local__", type: .string),
      ]
    ) { number in
      """
      {"Id":"\(Self.contactID(number))","FirstName":"Ada","LastName":"Contact \(number)",\
      "AccountId":"\(Self.accountID(number / 2 * 2))","Email":"contact\(number)@example.com",\
      "LastModifiedDate":"2026-01-01T00:00:00.000+0000"}
      """
    }
    try store.close()
  }

  private func load(
    _ soup: String, into store: Store, specs: [IndexSpec], _ record: (Int) -> String
  ) throws {
    let loader = try BulkLoader(
      .cold, destinations: [BulkLoader.Destination(store)],
      options: BulkLoader.Options(soup: soup, specs: specs, syncID: 1, now: 1_767_225_600_000))
    for start in stride(from: 0, to: records, by: 2_000) {
      let page = (start..<min(records, start + 2_000)).map(record).joined(separator: ",")
      _ = try loader.load(Array("[\(page)]".utf8), in: .array)
    }
    _ = try loader.finish()
  }
}
