import SQLite

/// Which records of an object a user may read, as a condition.
struct Visibility {
  let user: OrgUser

  /// Whether every record of the object is visible.
  func isUnlimited(_ object: ObjectSchema) -> Bool {
    user.viewsAll || object.sharing == .publicRead
  }

  /// For a scan: both halves can be answered by an index.
  ///
  /// Nil when everything is visible.
  func scan(_ object: ObjectSchema, _ alias: String) -> SQL? {
    guard !isUnlimited(object) else { return nil }
    return """
      (\(raw: alias)."OwnerId" = \(user.id) OR \(raw: alias)."Id" IN \
      (SELECT record FROM share WHERE user = \(user.id)))
      """
  }

  /// For one row at a time: a look-up instead of a list.
  ///
  /// Nil when everything is visible.
  func probe(_ object: ObjectSchema, _ alias: String) -> SQL? {
    guard !isUnlimited(object) else { return nil }
    return """
      (\(raw: alias)."OwnerId" = \(user.id) OR EXISTS (SELECT 1 FROM share s \
      WHERE s.user = \(user.id) AND s.record = \(raw: alias)."Id"))
      """
  }
}
