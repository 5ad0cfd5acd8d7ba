import Crypto
import HTTP
import JSON
import Synchronization
import System

/// Serves an org over HTTP, and over TLS when it is given an identity.
package final class OrgServer: Sendable {
  /// The org that is served.
  package let org: Org
  /// Every request in order.
  package let log: RequestLog
  /// Failures to inject.
  package let faults: Faults
  /// What the port's address is: `http://127.0.0.1:PORT`.
  package let url: String
  /// The address that speaks TLS, when there is one.
  package let secureURL: String?

  private let desk: RequestHandler
  private let plain: HTTPServer
  private let secure: HTTPServer?

  /// Begins to serve.
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

  /// A token for a user, without a login.
  package func token(for username: String, app clientID: String? = nil) throws(OrgError) -> String {
    guard let user = org.user(named: username) else { throw .notFound }
    return desk.sessions.issue(
      to: user, clientID: clientID, organizationID: org.organizationID)
  }

  /// A refresh token for a user, as after the user has approved the app.
  package func refreshToken(
    for username: String, app clientID: String
  ) throws(OrgError) -> String {
    guard org.user(named: username) != nil else { throw .notFound }
    return desk.refreshTokens.issue(.init(username: username, clientID: clientID))
  }

  /// Ends every session: each client is refused once and has to log in again.
  package func expireSessions() { desk.sessions.revokeAll() }

  /// How many requests have not arrived: those of `Faults.Action.deliverLate`.
  package var heldRequests: Int { desk.heldCount }

  /// Lets every request that is on its way arrive now, in the order in which they left.
  package func deliverHeld() { desk.deliverHeld() }

  /// How many calls of the day are used.
  package var usage: Int { desk.server.usage() }

  /// Ends serving; requests under way are finished.
  package func stop() {
    plain.stop()
    secure?.stop()
  }
}
