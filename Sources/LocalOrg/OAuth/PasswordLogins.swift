import Crypto

/// Logins with a user name and a password, which is the same for everybody.
struct PasswordLogins: Sendable {
  /// The password with the security token at its end; nil where there are no such logins.
  let password: String?

  /// The active user of that name, if the password is right.
  func user(_ username: String, _ given: String, in org: Org) -> OrgUser? {
    guard let password, !password.isEmpty,
      Digest.areEqual(Digest.sha256(Array(given.utf8)), Digest.sha256(Array(password.utf8))),
      let user = org.user(named: username), user.isActive
    else { return nil }
    return user
  }
}
