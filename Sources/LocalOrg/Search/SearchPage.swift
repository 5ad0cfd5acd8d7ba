/// What a search found.
package struct SearchPage: Sendable {
  /// The records as a JSON array, those of one object side by side.
  package let records: [UInt8]
  /// How many there are.
  package let count: Int
}
