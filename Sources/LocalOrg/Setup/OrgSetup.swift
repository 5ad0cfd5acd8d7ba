import JSON

/// What an administrator sets up in an org beside its records: declared in a file, kept in the org.
///
/// An org without one lets everybody do everything that sharing allows.
package struct OrgSetup: Sendable {
  /// What is left to the users of a profile.
  var profiles: [AccessGrant] = []
  /// What some users may do beyond that.
  var permissionSets: [AccessGrant] = []
  /// What holds for the records of objects, by their names.
  var objects: [String: ObjectRules] = [:]
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
        root, known: ["$schema", "objects", "profiles", "permissionSets"],
        what: "the setup of an org")
    else { throw Problems(reader.sorted) }
    objects = Self.rules(object["objects"], reader)
    let access = AccessReader(catalog: adjusted(.standard), reader: reader)
    profiles = (object.elements("profiles") ?? []).compactMap { access.grant($0, "a profile") }
    permissionSets = (object.elements("permissionSets") ?? []).compactMap {
      access.grant($0, "a permission set")
    }
    try reader.finish()
  }

  private static func rules(_ node: JSONNode?, _ reader: ConfigurationReader) -> [String:
    ObjectRules]
  {
    guard let node else { return [:] }
    guard let members = node.members else {
      reader.wrongType(node, "an object", "name objects: {\"Case\": { … }}")
      return [:]
    }
    let rules = ObjectRulesReader(catalog: .standard, reader: reader)
    var found: [String: ObjectRules] = [:]
    for member in members {
      guard let schema = reader.object(named: member, in: .standard) else { continue }
      found[schema.name] = rules.rules(member.value, of: schema)
    }
    return found
  }

  /// A catalog with what is set up for fields.
  func adjusted(_ catalog: Catalog) -> Catalog {
    guard !objects.isEmpty else { return catalog }
    return Catalog(catalog.objects.map { $0.adjusted(by: objects[$0.name] ?? ObjectRules()) })
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
