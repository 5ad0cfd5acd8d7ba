/// A user of the org, as identified by the token of a request.
package struct OrgUser: Sendable, Hashable {
  /// The administrator that every new org has.
  package static let adminUsername = "admin@example.com"
  /// The integration user of a seeded org.
  package static let integrationUsername = "attache@example.com"

  /// The 18-character ID.
  package let id: String
  package let username: String
  package let name: String
  package let firstName: String?
  package let lastName: String
  package let email: String
  package let isActive: Bool
  package let profileID: String
  package let profileName: String
  /// Whether the profile may read every record.
  package let viewsAll: Bool
  /// Whether the profile may change every record.
  package let modifiesAll: Bool
}
