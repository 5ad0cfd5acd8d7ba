/// Users who read the records of an object alike.
///
/// If two users have equal classes, the org sends both the same bytes for a record that both may
/// read, apart from the values of each user's own fields.
package struct ReadingClass: Sendable, Hashable {
  /// The kind of request; the org orders the members of a record differently for each.
  package enum Request: Sendable, Hashable { case retrieve, query }

  /// What users ask, whatever they may read.
  struct Question: Sendable, Hashable {
    /// The object, in lower case.
    let object: String
    let fields: [String]
    let request: Request

    init(_ object: String, _ fields: [String], _ request: Request) {
      (self.object, self.fields, self.request) = (object.lowercased(), fields, request)
    }
  }

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
  /// Whether a value is that of a formula.
  ///
  /// Without formulas, the description of one user is enough for all: what a stored field is does
  /// not depend on the user. Who may read it does, and the org refuses a request for a field that
  /// the user may not read. So a user whose own request for these fields was answered is in the
  /// class.
  let hasFormulas: Bool
  /// The requested fields of which each user fetches the values, as the org spells them.
  package let own: [String]
  /// Those of them whose values may change between two requests of a user.
  let moving: Set<String>

  var question: Question { Question(object, fields, request) }

  /// A line that is the same for equal classes, in every process.
  var text: String {
    ([object, "\(request)"] + fields + meaning).map { "\($0.utf8.count):\($0)" }.joined()
  }

  /// The requested fields whose values are the same for all users of the class.
  package var shared: [String] {
    let own = Set(own.map { $0.lowercased() })
    return fields.filter { !own.contains($0.lowercased()) }
  }

  /// Whether the stamp must be requested in addition to the fields.
  var lacksStamp: Bool { !fields.contains { $0.lowercased() == Self.stamp.lowercased() } }
}
