import CCurl
import Glibc
import System

/// The rules for every transfer of a client: trusted authorities and allowed addresses.
package struct TransferRules: Sendable {
  let configuration: HTTPClient.Configuration
  let caFile: String?

  init(_ configuration: HTTPClient.Configuration) throws(HTTPError) {
    self.configuration = configuration
    caFile =
      configuration.caFile ?? Self.variable("CURL_CA_BUNDLE") ?? Self.variable("SSL_CERT_FILE")
    guard let caFile else { return }
    do throws(SystemError) {
      // With a named pipe, curl would block until there is a writer.
      try Files.checkInput(caFile)
      if access(caFile, R_OK) != 0 {
        throw SystemError(
          operation: "read the file of certificate authorities", path: caFile, errno: errno)
      }
    } catch {
      throw HTTPError(
        .authorities, phase: .beforeSend, url: caFile, message: error.description)
    }
  }

  private static func variable(_ name: String) -> String? {
    guard let value = getenv(name), value.pointee != 0 else { return nil }
    return String(cString: value)
  }

  /// Validates an address: https for any host, http for loopback only, without user name or
  /// password.
  static func check(_ request: HTTPRequest) throws(HTTPError) -> (isPlain: Bool, isLoopback: Bool) {
    func refusal(_ message: String) -> HTTPError {
      HTTPError(
        .notAllowed, phase: .beforeSend, url: request.urlWithoutQuery, message: message)
    }
    guard let (scheme, authority) = parts(of: request.url) else {
      throw refusal("this is not an absolute address")
    }
    guard !authority.contains("@") else {
      throw HTTPError(
        .notAllowed, phase: .beforeSend, url: scheme + "://…",
        message: "an address must not contain a user name or password")
    }
    let loopback = isLoopback(host(of: authority))
    guard isSafe(scheme, isLoopback: loopback) else {
      throw refusal("plain HTTP is allowed for loopback addresses only")
    }
    return (scheme == "http", loopback)
  }

  /// Whether no one on the network can read what is sent to an address.
  ///
  /// The loopback interface does not need https.
  package static func isSafe(_ url: String) -> Bool {
    guard let (scheme, authority) = parts(of: url) else { return false }
    return isSafe(scheme, isLoopback: isLoopback(host(of: authority)))
  }

  /// Whether an address contains a user name or password, which would appear in logs.
  package static func hasCredentials(_ url: String) -> Bool {
    parts(of: url)?.authority.contains("@") ?? false
  }

  /// Whether an address has no port, or one that exists.
  package static func hasValidPort(_ url: String) -> Bool {
    guard let authority = parts(of: url)?.authority else { return false }
    let rest = authority.first == "[" ? authority.drop { $0 != "]" }.dropFirst() : authority
    guard let colon = rest.firstIndex(of: ":") else { return true }
    return UInt16(rest[rest.index(after: colon)...]).map { $0 > 0 } ?? false
  }

  private static func isSafe(_ scheme: String, isLoopback: Bool) -> Bool {
    scheme == "https" || (scheme == "http" && isLoopback)
  }

  private static func parts(of url: String) -> (scheme: String, authority: Substring)? {
    let parts = url.split(separator: "://", maxSplits: 1)
    guard parts.count == 2, !url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else {
      return nil
    }
    return (parts[0].lowercased(), parts[1].prefix { $0 != "/" && $0 != "?" && $0 != "#" })
  }

  private static func host(of authority: Substring) -> Substring {
    if authority.first == "[" { return authority.dropFirst().prefix { $0 != "]" } }
    return authority.prefix { $0 != ":" }
  }

  /// Literal loopback addresses and `localhost`, which curl never looks up in DNS.
  private static func isLoopback(_ host: Substring) -> Bool {
    if host.lowercased() == "localhost" || host == "::1" { return true }
    var address = in_addr()
    guard inet_pton(AF_INET, String(host), &address) == 1 else { return false }
    return UInt32(bigEndian: address.s_addr) >> 24 == 127
  }
}
