import Glibc

/// The order of bytes as numbers without a sign, which SQLite's BINARY collation has too.
package enum ByteOrder {
  /// Less than 0, 0 or more than 0, as the first `count` bytes of `left` stand before, at or behind those of `right`.
  @inlinable @inline(__always)
  package static func compare(
    _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int
  ) -> Int { Int(memcmp(left, right, count)) }
}
