import Crypto

/// Logins with a user name and a password, which is the same for all users.
struct PasswordLogins: Sendable {
  /// The password with the security token appended; nil if such logins are disabled.
  let password: String?

  /// Returns the active user with that name if the password is correct.
  func user(_ username: String, _ given: String, in org: Org) -> OrgUser? {
    guard let password, !password.isEmpty,
      Digest.areEqual(Digest.sha256(Array(given.utf8)), Digest.sha256(Array(password.utf8))),
      let user = org.user(named: username), user.isActive
    else { return nil }
    return user
  }
}
