/// One page of a query's answer.
package struct QueryPage: Sendable {
  /// How many records match in all.
  package let totalSize: Int
  /// The locator of the next page; nil when this is the last.
  package let locator: String?
  /// The records as a JSON array.
  package let records: [UInt8]
  /// How many records the page holds.
  package let count: Int

  /// Whether this is the last page.
  package var done: Bool { locator == nil }
}
