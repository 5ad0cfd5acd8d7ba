import Crypto
import HTTP
import JSON
import Synchronization
import System

/// Serves an org over HTTP, and over TLS if it has an identity.
package final class OrgServer: Sendable {
  /// The org that is served.
  package let org: Org
  /// All requests in order.
  package let log: RequestLog
  /// The injected faults.
  package let faults: Faults
  /// The URL of the HTTP port: `http://127.0.0.1:PORT`.
  package let url: String
  /// The URL of the TLS port, if there is one.
  package let secureURL: String?

  private let desk: RequestHandler
  private let plain: HTTPServer
  private let secure: HTTPServer?

  /// Starts serving.
  package init(org: Org, options: Options = Options()) throws {
    self.org = org
    faults = Faults()
    log = RequestLog(path: options.writesLog ? org.directory + "/requests.jsonl" : nil)
    desk = try RequestHandler(org: org, options: options, log: log, faults: faults)
    var configuration = HTTPServer.Configuration()
    configuration.address = options.address
    configuration.port = options.port
    configuration.bodyLimitBytes = RequestHandler.mostUploadBytes
    plain = try HTTPServer(configuration) { [desk] in desk.answer($0, scheme: "http") }
    url = plain.url
    if let identity = options.identity {
      configuration.port = options.securePort
      configuration.identity = identity
      let listener = try HTTPServer(configuration) { [desk] in desk.answer($0, scheme: "https") }
      secure = listener
      secureURL = listener.url
    } else {
      secure = nil
      secureURL = nil
    }
  }

  /// Returns a token for a user without a login.
  package func token(for username: String, app clientID: String? = nil) throws(OrgError) -> String {
    guard let user = org.user(named: username) else { throw .notFound }
    return desk.sessions.issue(
      to: user, clientID: clientID, organizationID: org.organizationID)
  }

  /// Returns a refresh token for a user, as after the user has approved the app.
  package func refreshToken(
    for username: String, app clientID: String
  ) throws(OrgError) -> String {
    guard org.user(named: username) != nil else { throw .notFound }
    return desk.refreshTokens.issue(.init(username: username, clientID: clientID))
  }

  /// Ends all sessions: each client is refused once and must log in again.
  package func expireSessions() { desk.sessions.revokeAll() }

  /// The number of requests in transit, delayed by `Faults.Action.deliverLate`.
  package var heldRequests: Int { desk.heldCount }

  /// Delivers all requests in transit now, in the order in which they were sent.
  package func deliverHeld() { desk.deliverHeld() }

  /// The number of calls made today.
  package var usage: Int { desk.server.usage() }

  /// Stops serving after finishing the requests in progress.
  package func stop() {
    plain.stop()
    secure?.stop()
  }
}
