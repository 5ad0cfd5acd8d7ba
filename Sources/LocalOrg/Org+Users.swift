/// Who may use the org.
extension Org {
  /// The user of that name, whatever its case; inactive ones too.
  package func user(named username: String) -> OrgUser? {
    (try? locked { try $0.users(where: "u.\"Username\" = \(username) COLLATE NOCASE").first })
      ?? nil
  }

  /// The user of that id.
  package func user(id: String) -> OrgUser? {
    guard let id = OrgID.normalize(id) else { return nil }
    return (try? locked { try $0.users(where: "u.\"Id\" = \(id)").first }) ?? nil
  }

  /// The first user.
  var administrator: OrgUser? { user(id: OrgStore.administratorID) }

  /// All users, in the order of their ids.
  package func users() -> [OrgUser] { (try? locked { try $0.users(where: "1") }) ?? [] }

  /// Adds an active user.
  ///
  /// Profiles: `System Administrator`, `Integration` (reads and writes everything) and `Field
  /// Technician`; another name becomes a profile without permissions.
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

  /// Makes a user active or inactive.
  package func setActive(_ username: String, _ active: Bool) throws(OrgError) {
    try locked { store in
      try store.transaction { try store.setActive(username, active) }
    }
  }
}
