/// One page of a user's briefcases.
package struct PrimingPage: Sendable {
  /// A record that a rule served.
  package struct Entry: Sendable, Hashable {
    /// The API name of its object.
    package let object: String
    /// Its record type, `012000000000000AAA` when it has none.
    package let recordTypeID: String
    /// Its id.
    package let id: String
    /// When it last changed, as `2024-01-31T12:34:56.000Z`.
    package let systemModstamp: String
  }

  /// The records, in the order of the rules.
  package let entries: [Entry]
  /// What to ask the next page with; nil when this is the last.
  package let relayToken: String?
  /// The ids of the rules that could not be served.
  package let ruleErrors: [String]
  /// How many rules apply.
  package let ruleCountTotal: Int
  /// How many records all pages hold.
  package let recordCountTotal: Int
  /// How many rules this page served, wholly or in part.
  package let ruleCountServed: Int

  /// How many records this page holds.
  package var recordCountServed: Int { entries.count }
}
