import HTTP
import JSON

/// The URL of an org or of its login host.
package enum OrgAddress {
  /// What is wrong with a URL, and what to write instead; nil if an org can have it.
  ///
  /// A user name or a password in it is not quoted.
  package static func fault(of url: String) -> (what: String, fix: String)? {
    if TransferRules.hasCredentials(url) {
      return (
        "a URL must not contain a user name or password",
        "remove what precedes the @; logins are configured in org.login"
      )
    }
    if url.hasPrefix("http://"), !TransferRules.isSafe(url) {
      return (
        "a login over plain http sends its secrets unencrypted", "write https://\(url.dropFirst(7))"
      )
    }
    guard TransferRules.isSafe(url), TransferRules.hasValidPort(url),
      !url.contains(where: { $0 == "?" || $0 == "#" })
    else {
      return (
        "\(JSONText.quoted(url)) is not the URL of an org", "write \"https://….my.salesforce.com\""
      )
    }
    return nil
  }
}
