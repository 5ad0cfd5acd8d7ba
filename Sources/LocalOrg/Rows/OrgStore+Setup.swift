import SQLite

/// The org's own records: organization, profiles, users.
extension OrgStore {
  /// Creates the records of a new org.
  func bootstrap() throws {
    let now = clock.now() / 1000 * 1000
    let admin = OrgStore.administratorID
    try insert(
      "Organization",
      [
        "Name": "Local Org", "OrganizationType": "Developer Edition", "IsSandbox": 1,
        "InstanceName": "LOCAL", "LanguageLocaleKey": "en_US", "TimeZoneSidKey": "GMT",
      ], by: admin, at: now)
    for (name, viewsAll, modifiesAll) in [
      ("System Administrator", true, true), ("Integration", true, true),
      ("Field Technician", false, false),
    ] {
      try insert(
        "Profile",
        [
          "Name": .text(name), "PermissionsViewAllData": .integer(viewsAll ? 1 : 0),
          "PermissionsModifyAllData": .integer(modifiesAll ? 1 : 0),
        ], by: admin, at: now)
    }
    try addUser(
      OrgUser.adminUsername, firstName: "Org", lastName: "Admin", profile: "System Administrator")
  }

  /// Returns the users for which a condition on `u` (User) and `p` (Profile) holds.
  func users(where condition: SQL) throws -> [OrgUser] {
    let sql: SQL = """
      SELECT u."Id", u."Username", u."Name", u."FirstName", u."LastName", u."Email", u."IsActive",
        p."Id", p."Name", p."PermissionsViewAllData", p."PermissionsModifyAllData"
      FROM "o_User" u JOIN "o_Profile" p ON p."Id" = u."ProfileId"
      WHERE u."IsDeleted" = 0 AND \(condition) ORDER BY u."seq"
      """
    return try connection.all(sql).map { row in
      OrgUser(
        id: row[0].text ?? "", username: row[1].text ?? "", name: row[2].text ?? "",
        firstName: row[3].text, lastName: row[4].text ?? "", email: row[5].text ?? "",
        isActive: row[6].integer == 1, profileID: row[7].text ?? "",
        profileName: row[8].text ?? "", viewsAll: row[9].integer == 1,
        modifiesAll: row[10].integer == 1)
    }
  }

  /// Returns the user with that name; throws if there is none.
  func user(named username: String) throws -> OrgUser {
    guard let user = try users(where: "u.\"Username\" = \(username) COLLATE NOCASE").first else {
      throw OrgError(
        status: 404, code: "NOT_FOUND", message: "there is no user \(username) in this org")
    }
    return user
  }

  @discardableResult
  func addUser(_ username: String, firstName: String?, lastName: String, profile: String) throws
    -> OrgUser
  {
    if try users(where: "u.\"Username\" = \(username) COLLATE NOCASE").first != nil {
      throw OrgError(
        code: "DUPLICATE_USERNAME", message: "Duplicate Username.", fields: ["Username"])
    }
    let now = clock.now() / 1000 * 1000
    let admin = OrgStore.administratorID
    let profileID = try self.profile(profile)
    try insert(
      "User",
      [
        "Username": .text(username), "FirstName": firstName.map { .text($0) } ?? .null,
        "LastName": .text(lastName), "Email": .text(username), "IsActive": 1,
        "Alias": .text(String(username.prefix { $0 != "@" }.prefix(8))),
        "ProfileId": .text(profileID), "UserType": "Standard", "TimeZoneSidKey": "GMT",
        "LocaleSidKey": "en_US", "LanguageLocaleKey": "en_US",
      ], by: admin, at: now)
    return try user(named: username)
  }

  /// Returns the ID of the profile with that name; a new one has no permissions.
  func profile(_ name: String) throws -> String {
    try connection.text("SELECT \"Id\" FROM \"o_Profile\" WHERE \"Name\" = \(name)")
      ?? insert(
        "Profile", ["Name": .text(name)], by: OrgStore.administratorID,
        at: clock.now() / 1000 * 1000)
  }

  /// The record types of an object, oldest first.
  func recordTypes(of object: String) throws -> [RecordType] {
    let sql: SQL = """
      SELECT "Id", "Name", "DeveloperName", "IsActive" FROM "o_RecordType" \
      WHERE "SobjectType" = \(object) AND "IsDeleted" = 0 ORDER BY "seq"
      """
    return try connection.all(sql).map { row in
      RecordType(
        id: row[0].text ?? "", name: row[1].text ?? "", developerName: row[2].text ?? "",
        isActive: row[3].integer == 1)
    }
  }

  func setActive(_ username: String, _ active: Bool) throws {
    let user = try user(named: username)
    try change(user.id, by: OrgStore.administratorID) { row, table in
      if let place = table.place("IsActive") { row[place] = .integer(active ? 1 : 0) }
    }
  }
}

/// A record type of an object.
struct RecordType: Sendable {
  let id: String
  let name: String
  let developerName: String
  let isActive: Bool
}
