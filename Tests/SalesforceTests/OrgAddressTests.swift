import Salesforce
import Testing

struct OrgAddressTests {
  @Test(arguments: [
    ("https://example.my.salesforce.com", true), ("https://example.my.site.com/field", true),
    ("https://example.com:8443/", true), ("http://127.0.0.1:8080", true),
    ("http://[::1]:8080", true), ("http://example.com", false), ("example.com", false),
    ("https://example.com:65536", false), ("https://example.com:0", false),
    ("https://example.com:", false), ("https://[::1]:x", false),
    ("https://example.com/?q", false), ("https://example.com#top", false),
    ("https://ada:passw0rd@example.com", false),
  ])
  func `a client has only a URL that an org can have, and no fault shows a password`(
    _ url: String, _ isPossible: Bool
  ) throws {
    do throws(OrgError) {
      _ = try Org(url: url, credentials: .accessToken("token"), concurrency: 1)
      #expect(isPossible)
    } catch {
      #expect(!isPossible && error.kind == .configuration)
      #expect(!error.description.contains("passw0rd"))
    }
  }
}
