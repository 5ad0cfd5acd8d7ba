import SQLite

/// A user's access to a record.
struct Access {
  /// The levels of access, in ascending order.
  enum Level {
    /// The record does not exist or is not visible to the user.
    case none
    /// It is in the recycle bin.
    case deleted
    case read
    case edit
    /// Edit, delete and transfer.
    case full
  }

  let store: OrgStore
  let user: OrgUser

  /// Returns the user's access; `inBin` returns the access that the user would have if the record
  /// were not deleted.
  func level(_ schema: ObjectSchema, id: String, inBin: Bool = false) throws -> Level {
    guard let rights = store.catalog(of: user).object(schema.name)?.rights else { return .none }
    let table = try store.table(schema.name)
    let owner = schema.hasOwner ? "\"OwnerId\"" : "NULL"
    let statement = try store.prepared(
      """
      SELECT "IsDeleted", \(owner), (SELECT edit FROM share WHERE user = ?1 AND record = ?2)
      FROM \(table.table) WHERE "Id" = ?2
      """)
    try statement.bind(1, user.id)
    try statement.bind(2, id)
    defer { statement.reset() }
    guard try statement.step() else { return .none }
    let isDeleted = statement.columnInteger(0) != 0
    let owns = statement.columnText(1) == user.id
    let edits: Bool? = statement.isNull(2) ? nil : statement.columnInteger(2) != 0
    let level: Level
    if user.modifiesAll || owns {
      level = .full
    } else if schema.sharing == .publicRead || user.viewsAll {
      level = edits == true ? .edit : .read
    } else if let edits {
      level = edits ? .edit : .read
    } else {
      level = .none
    }
    if level != .none, try !store.admits(user, to: id, of: schema) { return .none }
    if isDeleted, level != .none, !inBin { return .deleted }
    return rights.edits || level == .none ? level : .read
  }
}
