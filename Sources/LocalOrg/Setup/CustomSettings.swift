import JSON

/// Custom settings with a hierarchy: the value for a user or, without
/// one, for the profile, and the default without either.
struct CustomSettings: Sendable {
  private struct Field: Sendable {
    let standard: String?
    let profiles: [String: String]
    /// By user name in lower case.
    let users: [String: String]
  }

  /// By setting and field: `Fleet__c.Region__c`.
  private var fields: [String: Field] = [:]

  init() {}

  /// Reads `{"Fleet__c": {"Region__c": {"default": "west", "profiles": {…}, "users": {…}}}}`.
  init(_ node: JSONNode?, _ reader: ConfigurationReader) {
    guard let node else { return }
    if node.members == nil {
      reader.wrongType(node, "an object", "name settings: {\"Fleet__c\": { … }}")
    }
    for setting in node.members ?? [] {
      for field in setting.value.members ?? [] {
        let known = ["default", "profiles", "users"]
        guard
          let object = reader.object(field.value, known: known, what: "a custom setting's field")
        else { continue }
        func texts(_ name: String) -> [(String, String)] {
          (object[name]?.members ?? []).compactMap { member in
            reader.string(member.value).map { (member.name, $0) }
          }
        }
        fields[setting.name + "." + field.name] = Field(
          standard: object.string("default"),
          profiles: Dictionary(texts("profiles")) { _, last in last },
          users: Dictionary(texts("users").map { ($0.0.lowercased(), $0.1) }) { _, last in last })
      }
    }
  }

  /// The value for a user; null if there is none.
  func value(_ name: String, _ user: OrgUser) -> FormulaValue {
    guard let field = fields[name] else { return .null }
    let value =
      field.users[user.username.lowercased()] ?? field.profiles[user.profileName] ?? field.standard
    return value.map { .text($0) } ?? .null
  }
}
