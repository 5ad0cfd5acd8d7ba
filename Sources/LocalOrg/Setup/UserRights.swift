/// What a user may do with the records of an object, before it is asked which of them the user sees.
package struct ObjectRights: Sendable, Hashable {
  /// Whether the object is there for the user.
  package var reads = true
  /// Whether records may be made.
  package var creates = true
  /// Whether records may be changed.
  package var edits = true
  /// Whether records may be deleted.
  package var deletes = true

  /// Everything.
  package static let all = ObjectRights()

  /// Without what has no ground: nothing is made or changed unread, nothing deleted that may not be
  /// changed.
  var grounded: ObjectRights {
    ObjectRights(
      reads: reads, creates: reads && creates, edits: reads && edits,
      deletes: reads && edits && deletes)
  }
}

/// What a user may do with a field, from nothing to everything.
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

/// What a profile or a permission set says of objects; of what it does not name, a profile allows
/// everything and a permission set adds nothing.
struct AccessGrant: Sendable {
  /// What it says of one object.
  struct OfObject: Sendable {
    var reads: Bool?
    var creates: Bool?
    var edits: Bool?
    var deletes: Bool?
    /// By the name of the field; the parts of a compound field follow the whole.
    var fields: [String: FieldRight] = [:]
  }

  /// The name of the profile or permission set.
  let name: String
  /// The names of the users who have it, in small letters; those of a profile are moved to it.
  var users: [String] = []
  /// By the name of the object.
  var objects: [String: OfObject] = [:]
}

/// What one user may do: what the profile leaves, and what permission sets add.
///
/// The only place where rights to objects and fields are decided: all that is done for a user reads
/// the catalog that comes of it, in which what the user may not read does not exist.
struct UserRights {
  let profile: AccessGrant?
  let permissionSets: [AccessGrant]

  /// The catalog as the user sees it.
  func view(of catalog: Catalog) -> Catalog { Catalog(catalog.objects.compactMap(view)) }

  /// An object as the user sees it; nil when it is hidden.
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
