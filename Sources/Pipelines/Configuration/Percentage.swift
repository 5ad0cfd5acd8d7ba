/// A share, written as `10%`.
package struct Percentage: Sendable, Hashable, CustomStringConvertible {
  /// The share in percent, 0 to 100.
  package let value: Int

  package init(_ value: Int) { self.value = value }

  /// The share as written in a file.
  package var description: String { "\(value)%" }

  /// Returns this share of `count`, rounded down.
  package func of(_ count: Int) -> Int { count / 100 * value + count % 100 * value / 100 }
}
