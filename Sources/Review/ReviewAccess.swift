import Crypto
import HTTP
import System

/// Controls access to the page: a token in the printed address, valid for one request, and a secret
/// path.
///
/// The printed address contains a token that one request may use. It redirects to an unguessable
/// path, where the page stays until the server stops. A path is used because browsers send a cookie
/// of 127.0.0.1 to every port of that machine. Only the server's own host names and origins are
/// accepted, so another site can neither reach it by its own host name nor post a form to it.
final class ReviewAccess: Sendable {
  private let token: Locked<String?>
  /// The path of the page, including its slashes.
  let path: String
  private let hosts: Locked<Set<String>>

  /// Creates a random token and a random path.
  init() {
    token = Locked(Hex.encode(RandomBytes.make(24)))
    path = "/" + Hex.encode(RandomBytes.make(24)) + "/"
    hosts = Locked([])
  }

  /// Accepts requests for the host names of a port.
  ///
  /// Returns the part of the URL after the server's address.
  func open(port: Int) -> String {
    hosts.withLock { $0 = ["127.0.0.1:\(port)", "localhost:\(port)"] }
    return "/?token=" + (token.withLock { $0 } ?? "")
  }

  /// Whether a request comes from the page itself, or from no page.
  func isOwn(_ request: ServerRequest) -> Bool {
    guard let host = request.headers["Host"]?.lowercased(),
      hosts.withLock({ $0.contains(host) })
    else { return false }
    let origin = request.headers["Origin"]?.lowercased()
    if let origin, origin != "http://\(host)" { return false }
    if let site = request.headers["Sec-Fetch-Site"], site != "same-origin", site != "none" {
      return false
    }
    return request.method == "GET" || origin != nil
  }

  /// Consumes the token.
  ///
  /// Returns whether the offered one matches.
  func use(_ offered: String) -> Bool {
    token.withLock { token in
      guard let own = token, Self.isSame(own, offered) else { return false }
      token = nil
      return true
    }
  }

  /// Returns the part of the path after the page's own; nil if the request has another path.
  func place(of request: ServerRequest) -> String? {
    guard request.path.utf8.count >= path.utf8.count else { return nil }
    let head = String(request.path.utf8.prefix(path.utf8.count)) ?? ""
    guard Self.isSame(head, path) else { return nil }
    return String(request.path.utf8.dropFirst(path.utf8.count)) ?? ""
  }

  /// Compares in constant time, so that the duration does not reveal where two texts differ.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
