import Glibc

/// The order of bytes as unsigned numbers, which is also that of SQLite's BINARY collation.
package enum ByteOrder {
  /// A number less than, equal to or greater than 0 if the first `count` bytes of `left` sort
  /// before, equal to or after those of `right`.
  @inlinable @inline(__always)
  package static func compare(
    _ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int
  ) -> Int { Int(memcmp(left, right, count)) }
}
