/// The org's users.
extension Org {
  /// The user with that name, ignoring case; includes inactive users.
  package func user(named username: String) -> OrgUser? {
    (try? locked { try $0.users(where: "u.\"Username\" = \(username) COLLATE NOCASE").first })
      ?? nil
  }

  package func user(id: String) -> OrgUser? {
    guard let id = OrgID.normalize(id) else { return nil }
    return (try? locked { try $0.users(where: "u.\"Id\" = \(id)").first }) ?? nil
  }

  /// The first user.
  var administrator: OrgUser? { user(id: OrgStore.administratorID) }

  /// All users, ordered by ID.
  package func users() -> [OrgUser] { (try? locked { try $0.users(where: "1") }) ?? [] }

  /// Adds an active user.
  ///
  /// Profiles: `System Administrator`, `Integration` (reads and writes everything) and `Field
  /// Technician`; any other name creates a profile without permissions.
  @discardableResult
  package func addUser(
    _ username: String, firstName: String? = nil, lastName: String, profile: String
  ) throws(OrgError) -> OrgUser {
    try locked { store in
      try store.transaction {
        try store.addUser(
          username, firstName: firstName, lastName: lastName, profile: profile)
      }
    }
  }

  /// Activates or deactivates a user.
  package func setActive(_ username: String, _ active: Bool) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.setActive(username, active) }
    }
  }
}
