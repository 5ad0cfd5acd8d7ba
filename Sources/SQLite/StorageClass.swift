/// SQLite's five storage classes.
package enum StorageClass: Sendable {
  case null
  case integer
  case real
  case text
  case blob
}
