/// SQLite's five storage classes.
package enum StorageClass: Sendable {
  /// NULL.
  case null
  /// A 64-bit integer.
  case integer
  /// A double.
  case real
  /// Text.
  case text
  /// Bytes.
  case blob
}
