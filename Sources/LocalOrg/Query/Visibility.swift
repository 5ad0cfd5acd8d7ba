import SQLite

/// The condition for records of an object that a user may read.
struct Visibility {
  let user: OrgUser

  /// Whether every record of the object is visible.
  func isUnlimited(_ object: ObjectSchema) -> Bool {
    user.viewsAll || object.sharing == .publicRead
  }

  /// The condition for a scan, in which an index covers both halves.
  ///
  /// Nil if everything is visible.
  func scan(_ object: ObjectSchema, _ alias: String) -> SQL? {
    guard !isUnlimited(object) else { return nil }
    return """
      (\(raw: alias)."OwnerId" = \(user.id) OR \(raw: alias)."Id" IN \
      (SELECT record FROM share WHERE user = \(user.id)))
      """
  }

  /// The condition for single rows: a lookup instead of a list.
  ///
  /// Nil if everything is visible.
  func probe(_ object: ObjectSchema, _ alias: String) -> SQL? {
    guard !isUnlimited(object) else { return nil }
    return """
      (\(raw: alias)."OwnerId" = \(user.id) OR EXISTS (SELECT 1 FROM share s \
      WHERE s.user = \(user.id) AND s.record = \(raw: alias)."Id"))
      """
  }
}
