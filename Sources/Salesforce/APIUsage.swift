/// The org's count of its daily requests, from `Sforce-Limit-Info`.
package struct APIUsage: Sendable, Hashable {
  /// The number of requests in the last 24 hours.
  package let used: Int
  /// The maximum number of requests in 24 hours.
  package let maximum: Int

  /// Parses `api-usage=18/15000`, with or without further text; nil for anything else.
  package init?(header: String?) {
    guard let part = header?.split(separator: ";").first?.split(separator: "=").last else {
      return nil
    }
    let numbers = part.split(separator: "/")
    guard numbers.count == 2, let used = Int(numbers[0]), let maximum = Int(numbers[1]),
      used >= 0, maximum > 0
    else { return nil }
    self.used = used
    self.maximum = maximum
  }
}
