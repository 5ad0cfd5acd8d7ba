import HTTP
import JSON

/// The URL of an org or of its login host.
package enum OrgAddress {
  /// What is wrong with a URL, and what to write instead; nil if an org can have it.
  ///
  /// A user name or a password in it is not quoted.
  package static func fault(of url: String) -> (what: String, fix: String)? {
    if let credentials = credentials(in: url) { return credentials }
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

  /// The address of an org, if it has web pages.
  ///
  /// Every Salesforce org is on HTTPS. The embedded org has no pages: it is on plain HTTP, or on
  /// this machine.
  package static func webPages(of instance: String?) -> String? {
    guard let instance, instance.hasPrefix("https://") else { return nil }
    let isHere = ["localhost", "127.", "[::1]"].contains { instance.hasPrefix("https://" + $0) }
    return isHere ? nil : instance
  }

  /// The fault of any URL that contains a user name or a password; nil if it contains neither.
  package static func credentials(in url: String) -> (what: String, fix: String)? {
    guard TransferRules.hasCredentials(url) else { return nil }
    return (
      "a URL must not contain a user name or password",
      "remove what precedes the @; logins are configured in org.login"
    )
  }
}
