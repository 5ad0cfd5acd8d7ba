/// A share of something, written as `10%`.
package struct Percentage: Sendable, Hashable, CustomStringConvertible {
  /// 0 to 100.
  package let value: Int

  /// A share in percent.
  package init(_ value: Int) { self.value = value }

  /// As the file has it.
  package var description: String { "\(value)%" }

  /// How many of `count` that is, rounded down.
  package func of(_ count: Int) -> Int { count / 100 * value + count % 100 * value / 100 }
}
