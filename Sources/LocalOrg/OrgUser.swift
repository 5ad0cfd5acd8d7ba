/// A user of the org, as the token of a request names one.
package struct OrgUser: Sendable, Hashable {
  /// The administrator whom every org has from its beginning.
  package static let adminUsername = "admin@example.com"
  /// The integration user of a seeded org.
  package static let integrationUsername = "attache@example.com"

  /// The 18-character id.
  package let id: String
  /// The user name, in the form of an e-mail address.
  package let username: String
  /// First and last name.
  package let name: String
  /// The first name, where there is one.
  package let firstName: String?
  /// The last name.
  package let lastName: String
  /// The e-mail address.
  package let email: String
  /// Whether the user may log in.
  package let isActive: Bool
  /// The id of the profile.
  package let profileID: String
  /// The name of the profile.
  package let profileName: String
  /// Whether the profile reads every record.
  package let viewsAll: Bool
  /// Whether the profile changes every record.
  package let modifiesAll: Bool
}
