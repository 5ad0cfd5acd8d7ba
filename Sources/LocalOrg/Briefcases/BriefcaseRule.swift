/// A rule of a briefcase, as `addBriefcase` takes it.
package struct BriefcaseRule: Sendable {
  /// The object whose records it holds.
  package var object: String
  /// What could follow WHERE; nil for all.
  package var filter: String?
  /// Whether only records of the user's own are meant.
  package var mine: Bool
  /// The field of the order; nil is the id.
  package var orderBy: String?
  /// Whether the order ascends.
  package var ascending: Bool
  /// The most records it holds.
  package var limit: Int
  /// The lookup that connects records to those of the rule above: a field of this object that
  /// points at the parent's, or a field of the parent's that points here.
  ///
  /// Only in `related`.
  package var relationship: String?
  /// Rules for records related to those of this one.
  package var related: [BriefcaseRule]

  /// Makes a rule.
  package init(
    _ object: String, filter: String? = nil, mine: Bool = false, orderBy: String? = nil,
    ascending: Bool = true, limit: Int = 500, relationship: String? = nil,
    related: [BriefcaseRule] = []
  ) {
    self.object = object
    self.filter = filter
    self.mine = mine
    self.orderBy = orderBy
    self.ascending = ascending
    self.limit = limit
    self.relationship = relationship
    self.related = related
  }
}
