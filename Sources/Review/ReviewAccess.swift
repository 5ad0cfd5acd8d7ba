import Crypto
import HTTP
import System

/// Who may use the page: whoever has the address that was printed, once, and what its answer led to.
///
/// The printed address holds a token that one request may use. It leads to a path that nobody can guess,
/// where the page lives until the server ends; a path, because a cookie of 127.0.0.1 is sent to every port
/// of that machine. The names by which a browser may ask, and the pages from which, are the server's own:
/// another site can neither point at it by a name of its own nor send it a form.
final class ReviewAccess: Sendable {
  private let token: Locked<String?>
  /// The path of the page, with its slashes.
  let path: String
  private let hosts: Locked<Set<String>>

  /// A token and a path that nobody can guess.
  init() {
    token = Locked(Hex.encode(RandomBytes.make(24)))
    path = "/" + Hex.encode(RandomBytes.make(24)) + "/"
    hosts = Locked([])
  }

  /// Opens it under the names of a port; answers what follows the address of the server.
  func open(port: Int) -> String {
    hosts.withLock { $0 = ["127.0.0.1:\(port)", "localhost:\(port)"] }
    return "/?token=" + (token.withLock { $0 } ?? "")
  }

  /// Says whether a request comes from the page itself, or from nobody's page.
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

  /// Uses the token up; says whether it was the one.
  func use(_ offered: String) -> Bool {
    token.withLock { token in
      guard let own = token, Self.isSame(own, offered) else { return false }
      token = nil
      return true
    }
  }

  /// What follows the page's own path; nil where a request does not have it.
  func place(of request: ServerRequest) -> String? {
    guard request.path.utf8.count >= path.utf8.count else { return nil }
    let head = String(request.path.utf8.prefix(path.utf8.count)) ?? ""
    guard Self.isSame(head, path) else { return nil }
    return String(request.path.utf8.dropFirst(path.utf8.count)) ?? ""
  }

  /// Compares in a time that tells nothing of where two texts differ.
  private static func isSame(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    guard one.count == other.count else { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
