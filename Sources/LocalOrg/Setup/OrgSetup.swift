import JSON

/// What an administrator sets up in an org beside its records: declared in a file, kept in the org.
///
/// An org without one lets everybody do everything that sharing allows.
package struct OrgSetup: Sendable {
  /// What is left to the users of a profile.
  var profiles: [AccessGrant] = []
  /// What some users may do beyond that.
  var permissionSets: [AccessGrant] = []
  /// The file, as it was read.
  let text: [UInt8]

  /// Nothing is set up.
  static let none = OrgSetup(text: Array("{}".utf8))

  private init(text: [UInt8]) { self.text = text }

  /// Reads a setup file; `name` is what problems call it.
  package init(parsing text: [UInt8], name: String = "setup") throws(Problems) {
    self.init(text: text)
    let reader = ConfigurationReader(file: name)
    guard let root = reader.parse(text),
      let object = reader.object(
        root, known: ["$schema", "profiles", "permissionSets"], what: "the setup of an org")
    else { throw Problems(reader.sorted) }
    let access = AccessReader(catalog: .standard, reader: reader)
    profiles = (object.elements("profiles") ?? []).compactMap { access.grant($0, "a profile") }
    permissionSets = (object.elements("permissionSets") ?? []).compactMap {
      access.grant($0, "a permission set")
    }
    try reader.finish()
  }

  /// The rights of a user; nil when nobody took anything away.
  func rights(of user: OrgUser) -> UserRights? {
    let profile = profiles.last { $0.name == user.profileName }
    guard profile != nil else { return nil }
    let name = user.username.lowercased()
    return UserRights(
      profile: profile, permissionSets: permissionSets.filter { $0.users.contains(name) })
  }
}
