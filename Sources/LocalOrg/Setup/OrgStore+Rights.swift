import JSON
import SQLite

/// The org's setup, and what follows from it for users.
extension OrgStore {
  static func makeSetupTable(_ connection: Connection) throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS setup (only INTEGER PRIMARY KEY CHECK (only = 1), text TEXT)")
  }

  /// Returns the stored setup.
  func keptSetup() throws -> OrgSetup {
    guard let text = try connection.text("SELECT text FROM setup") else { return .none }
    return try OrgSetup(parsing: Array(text.utf8))
  }

  /// Replaces the org's setup; users named by a profile are moved to it.
  func setUp(_ new: OrgSetup) throws {
    let admin = OrgStore.administratorID
    for grant in new.profiles {
      let profileID = try profile(grant.name)
      for name in grant.users {
        try change(try user(named: name).id, by: admin) { row, table in
          if let place = table.place("ProfileId") { row[place] = .text(profileID) }
        }
      }
    }
    for name in new.permissionSets.flatMap(\.users) { _ = try user(named: name) }
    let text = String(decoding: new.text, as: UTF8.self)
    try connection.run("INSERT OR REPLACE INTO setup (only, text) VALUES (1, \(text))")
  }

  /// Returns the objects and fields as a user sees them, without those that the user may not read.
  func catalog(of user: OrgUser) -> Catalog {
    guard let rights = setup.rights(of: user) else { return catalog }
    let names = [user.profileName] + rights.permissionSets.map(\.name)
    let key = names.joined(separator: "\n")
    if let known = views[key] { return known }
    let view = rights.view(of: catalog)
    views[key] = view
    return view
  }
}
