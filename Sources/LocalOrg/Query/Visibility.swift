import SQLite

/// The condition for records of an object that a user may read.
struct Visibility {
  let store: OrgStore
  let user: OrgUser

  /// Whether sharing lets the user see every record of the object.
  func isUnlimited(_ object: ObjectSchema) -> Bool {
    user.viewsAll || object.sharing == .publicRead
  }

  /// The condition for a scan, in which an index covers both halves.
  ///
  /// Nil if everything is visible.
  func scan(_ object: ObjectSchema, _ alias: String) throws -> SQL? {
    let restriction = try store.restriction(on: object, alias, as: user)
    guard !isUnlimited(object) else { return restriction }
    let shared: SQL = """
      (\(raw: alias)."OwnerId" = \(user.id) OR \(raw: alias)."Id" IN \
      (SELECT record FROM share WHERE user = \(user.id)))
      """
    return restriction.map { "(\(shared) AND \($0))" } ?? shared
  }

  /// The condition for single rows: a lookup instead of a list.
  ///
  /// Nil if everything is visible.
  func probe(_ object: ObjectSchema, _ alias: String) throws -> SQL? {
    let restriction = try store.restriction(on: object, alias, as: user)
    guard !isUnlimited(object) else { return restriction }
    let shared: SQL = """
      (\(raw: alias)."OwnerId" = \(user.id) OR EXISTS (SELECT 1 FROM share s \
      WHERE s.user = \(user.id) AND s.record = \(raw: alias)."Id"))
      """
    return restriction.map { "(\(shared) AND \($0))" } ?? shared
  }
}
