/// The result of a search.
package struct SearchPage: Sendable {
  /// The records as a JSON array, grouped by object.
  package let records: [UInt8]
  package let count: Int
}
