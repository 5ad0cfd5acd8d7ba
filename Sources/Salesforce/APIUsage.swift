/// What the org says of its daily requests in `Sforce-Limit-Info`.
package struct APIUsage: Sendable, Hashable {
  /// The requests of the last 24 hours.
  package let used: Int
  /// The most that there may be.
  package let maximum: Int

  /// Reads `api-usage=18/15000`, with or without what follows; nil if it says nothing of the kind.
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
