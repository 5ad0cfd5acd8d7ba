import JSON

/// An org's setup, declared in a file and stored in the org.
///
/// In an org without a setup, all users may do everything that sharing allows.
package struct OrgSetup: Sendable {
  /// The rights of the users of a profile.
  var profiles: [AccessGrant] = []
  /// The additional rights of some users.
  var permissionSets: [AccessGrant] = []
  /// The rules for the records of objects, by object name.
  var objects: [String: ObjectRules] = [:]
  /// The custom settings.
  var settings = CustomSettings()
  /// Whether the org has person accounts.
  private(set) var hasPersonAccounts = false
  /// The file, as it was read.
  let text: [UInt8]

  /// The empty setup.
  static let none = OrgSetup(text: Array("{}".utf8))

  private init(text: [UInt8]) { self.text = text }

  /// Reads a setup file; `name` is its name in error messages.
  package init(parsing text: [UInt8], name: String = "setup") throws(Problems) {
    self.init(text: text)
    let reader = ConfigurationReader(file: name)
    guard let root = reader.parse(text),
      let object = reader.object(
        root,
        known: [
          "$schema", "objects", "profiles", "permissionSets", "customSettings", "personAccounts",
        ],
        what: "the setup of an org")
    else { throw Problems(reader.sorted) }
    hasPersonAccounts = object.bool("personAccounts", default: false)
    objects = Self.rules(object["objects"], standard, reader)
    let access = AccessReader(catalog: catalog, reader: reader)
    profiles = (object.elements("profiles") ?? []).compactMap { access.grant($0, "a profile") }
    permissionSets = (object.elements("permissionSets") ?? []).compactMap {
      access.grant($0, "a permission set")
    }
    settings = CustomSettings(object["customSettings"], reader)
    try reader.finish()
  }

  private static func rules(
    _ node: JSONNode?, _ standard: Catalog, _ reader: ConfigurationReader
  ) -> [String: ObjectRules] {
    guard let node else { return [:] }
    guard let members = node.members else {
      reader.wrongType(node, "an object", "name objects: {\"Case\": { … }}")
      return [:]
    }
    let named = members.compactMap { member in
      reader.object(named: member, in: standard).map { (node: member.value, schema: $0) }
    }
    // Formulas may name the custom fields of any object, so these are read first.
    let fields = CustomFieldReader(reader: reader)
    var found: [String: ObjectRules] = [:]
    for (node, schema) in named {
      found[schema.name] = ObjectRules(fields: fields.fields(node["fields"], of: schema))
    }
    let catalog = standard.adjusted(by: found)
    let rules = ObjectRulesReader(catalog: catalog, reader: reader)
    for (node, schema) in named {
      guard let whole = catalog.object(schema.name), let own = found[schema.name] else { continue }
      found[schema.name] = rules.rules(node, of: whole, own)
    }
    for (node, schema) in named { fields.refuseCircles(node["fields"], of: schema, in: found) }
    return found
  }

  /// The org's objects before the setup of their fields.
  private var standard: Catalog {
    hasPersonAccounts ? PersonAccounts.enabled(in: .standard) : .standard
  }

  /// The org's objects.
  var catalog: Catalog { objects.isEmpty ? standard : standard.adjusted(by: objects) }

  /// The formula of a formula field.
  func formula(_ field: String, of object: String) -> Formula? { objects[object]?.formulas[field] }

  /// Whether encrypted fields are shown to a user without their masks.
  func showsEncryptedData(to user: OrgUser) -> Bool {
    grants(of: user).contains(where: \.viewsEncryptedData)
  }

  /// Whether a user has a custom permission.
  func holds(_ permission: String, _ user: OrgUser) -> Bool {
    grants(of: user).contains { $0.customPermissions.contains(permission) }
  }

  /// The user's profile, if the setup has it, and permission sets.
  private func grants(of user: OrgUser) -> [AccessGrant] {
    let name = user.username.lowercased()
    let profile = profiles.last { $0.name == user.profileName }
    return [profile].compactMap(\.self) + permissionSets.filter { $0.users.contains(name) }
  }

  /// The rights of a user; nil if they are unrestricted.
  func rights(of user: OrgUser) -> UserRights? {
    let profile = profiles.last { $0.name == user.profileName }
    guard profile != nil else { return nil }
    let name = user.username.lowercased()
    return UserRights(
      profile: profile, permissionSets: permissionSets.filter { $0.users.contains(name) })
  }
}
