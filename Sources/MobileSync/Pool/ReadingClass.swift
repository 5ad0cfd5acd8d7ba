/// Users who read the records of an object alike.
///
/// If two users have equal classes, the org sends both the same bytes for a record that both may
/// read.
package struct ReadingClass: Sendable, Hashable {
  /// The kind of request; the org orders the members of a record differently for each.
  package enum Request: Sendable, Hashable { case retrieve, query }

  /// The field by whose value two states of a record are distinguished.
  static let stamp = "SystemModstamp"

  /// The object, as the org spells it.
  package let object: String
  /// The requested fields, in order.
  let fields: [String]
  let request: Request
  /// What the user's description of the object says about the fields and about the fields that
  /// their formulas read, in order.
  let meaning: [String]

  /// Whether the stamp must be requested in addition to the fields.
  var lacksStamp: Bool { !fields.contains { $0.lowercased() == Self.stamp.lowercased() } }
}
