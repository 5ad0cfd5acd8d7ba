import System

/// The access key of an S3 store.
package struct S3Credentials: Sendable, Hashable {
  /// The ID of the access key, which is sent with every request.
  package var accessKeyID: String
  /// The secret of the access key, which signs requests and is never sent.
  package var secret: Secret
  /// The token of temporary credentials; nil for lasting ones.
  package var sessionToken: Secret?

  package init(accessKeyID: String, secret: Secret, sessionToken: Secret? = nil) {
    self.accessKeyID = accessKeyID
    self.secret = secret
    self.sessionToken = sessionToken
  }

  /// The mask that removes the credentials from texts of the store.
  var mask: SecretMask {
    SecretMask([secret.text, sessionToken?.text, accessKeyID].compactMap { $0 })
  }
}
