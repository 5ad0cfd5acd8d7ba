/// One page of a user's briefcases.
package struct PrimingPage: Sendable {
  /// A record that a rule served.
  package struct Entry: Sendable, Hashable {
    package let object: String
    /// Its record type; `012000000000000AAA` if it has none.
    package let recordTypeID: String
    package let id: String
    /// When it last changed, as `2024-01-31T12:34:56.000Z`.
    package let systemModstamp: String
  }

  /// The records, in the order of the rules.
  package let entries: [Entry]
  /// The token for the next page; nil on the last one.
  package let relayToken: String?
  /// The IDs of the rules that failed.
  package let ruleErrors: [String]
  /// The number of rules that apply.
  package let ruleCountTotal: Int
  /// The number of records on all pages.
  package let recordCountTotal: Int
  /// The number of rules that this page served, in whole or in part.
  package let ruleCountServed: Int

  package var recordCountServed: Int { entries.count }
}
