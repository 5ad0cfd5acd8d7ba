/// A rule of a briefcase, as passed to `addBriefcase`.
package struct BriefcaseRule: Sendable {
  /// The object whose records it contains.
  package var object: String
  /// The text after WHERE; nil for all records.
  package var filter: String?
  /// Whether it contains only the user's own records.
  package var mine: Bool
  /// The field to order by; nil for the ID.
  package var orderBy: String?
  /// Whether the order is ascending.
  package var ascending: Bool
  /// The maximum number of records.
  package var limit: Int
  /// The lookup that links records to those of the parent rule: a field of this object that refers
  /// to the parent's, or a field of the parent's that refers to this object.
  ///
  /// Only used in `related`.
  package var relationship: String?
  /// The rules for records related to those of this one.
  package var related: [BriefcaseRule]

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
