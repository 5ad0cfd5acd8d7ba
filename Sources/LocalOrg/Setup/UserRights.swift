/// A user's rights to an object's records, independent of which records are visible.
package struct ObjectRights: Sendable, Hashable {
  /// Whether the object is visible to the user.
  package var reads = true
  /// Whether records may be created.
  package var creates = true
  /// Whether records may be changed.
  package var edits = true
  /// Whether records may be deleted.
  package var deletes = true

  package static let all = ObjectRights()

  /// Returns the rights without those that require a missing one: creating or changing requires
  /// reading, and deleting requires changing.
  var grounded: ObjectRights {
    ObjectRights(
      reads: reads, creates: reads && creates, edits: reads && edits,
      deletes: reads && edits && deletes)
  }
}

/// A user's rights to a field, in ascending order.
enum FieldRight: String, CaseIterable, Comparable, Sendable {
  case none, read, edit

  static func < (left: FieldRight, right: FieldRight) -> Bool { left.rank < right.rank }

  private var rank: Int {
    switch self {
    case .none: 0
    case .read: 1
    case .edit: 2
    }
  }
}

/// The rights to objects that a profile or a permission set defines; for objects that it does not
/// name, a profile allows everything and a permission set adds nothing.
struct AccessGrant: Sendable {
  /// The rights to one object.
  struct OfObject: Sendable {
    var reads: Bool?
    var creates: Bool?
    var edits: Bool?
    var deletes: Bool?
    /// By field name; the parts of a compound field follow the compound field.
    var fields: [String: FieldRight] = [:]
  }

  /// The name of the profile or permission set.
  let name: String
  /// The user names in lower case; the users of a profile are moved to it.
  var users: [String] = []
  /// Whether its users see encrypted fields without their masks.
  var viewsEncryptedData = false
  /// By object name.
  var objects: [String: OfObject] = [:]
}

/// The rights of one user: those of the profile, plus those of permission sets.
///
/// Rights to objects and fields are decided only here: everything done for a user reads the
/// resulting catalog, which lacks what the user may not read.
struct UserRights {
  let profile: AccessGrant?
  let permissionSets: [AccessGrant]

  /// Returns the catalog as the user sees it.
  func view(of catalog: Catalog) -> Catalog { Catalog(catalog.objects.compactMap(view)) }

  /// Returns an object as the user sees it; nil if it is hidden.
  private func view(of object: ObjectSchema) -> ObjectSchema? {
    let own = profile?.objects[object.name]
    let added = permissionSets.compactMap { $0.objects[object.name] }
    func right(_ path: KeyPath<AccessGrant.OfObject, Bool?>) -> Bool {
      own?[keyPath: path] ?? true || added.contains { $0[keyPath: path] == true }
    }
    let rights = ObjectRights(
      reads: right(\.reads), creates: right(\.creates), edits: right(\.edits),
      deletes: right(\.deletes)
    ).grounded
    guard rights.reads else { return nil }
    let fields = object.fields.compactMap { field -> FieldSchema? in
      let name = field.compoundFieldName ?? field.name
      let best = ([own?.fields[name] ?? .edit] + added.compactMap { $0.fields[name] }).max()
      switch best ?? .edit {
      case .none: return nil
      case .read: return field.readOnly
      case .edit: return field
      }
    }
    return object.with(rights: rights, fields: fields)
  }
}
