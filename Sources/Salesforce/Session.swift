import HTTP
import JSON
import System

/// What one user may ask an org; each resource is an extension in a file of its own.
package final class Session: Sendable {
  /// Who the session is.
  package struct Identity: Sendable, Hashable {
    /// The org's 18-character id.
    package let organizationID: String
    /// The user's 18-character id.
    package let userID: String
    /// The user's name.
    package let username: String
  }

  /// Who the session is.
  package let identity: Identity
  /// The version of the resources, such as `66.0`.
  package let apiVersion: String
  package let connection: OrgConnection
  package let token: SessionToken
  /// What the org said of its objects; nil where that is asked for each time.
  let objects: KnownObjects?

  package init(
    identity: Identity, apiVersion: String, connection: OrgConnection, token: SessionToken,
    objects: KnownObjects? = nil
  ) {
    self.identity = identity
    self.apiVersion = apiVersion
    self.connection = connection
    self.token = token
    self.objects = objects
  }

  /// The session for the length of a run, in which each object is described once.
  package var keepingObjects: Session {
    if objects != nil { return self }
    return Session(
      identity: identity, apiVersion: apiVersion, connection: connection, token: token,
      objects: KnownObjects())
  }

  /// The org's clock in milliseconds, as its last answer told it.
  package var serverDate: Int64? { connection.serverDate }

  /// The org's clock in milliseconds now, as well as its answers tell.
  package var estimatedServerDate: Int64 { connection.estimatedServerNow }

  /// How far the dates of the org's answers are ahead of this machine's clock, in milliseconds.
  package var clockOffset: Int64 { connection.clockOffset }

  /// How long an answer is waited for, in milliseconds.
  package var timeoutMilliseconds: Int64 { Int64(connection.timeoutSeconds) * 1000 }

  /// The address of the org's resources.
  package var instanceURL: String { token.current.instanceURL }

  /// The path of a resource: `query` is `/services/data/v66.0/query`.
  package func path(_ resource: String) -> String { "/services/data/v\(apiVersion)/\(resource)" }

  /// Sends any call; what is not an answer of success is an error.
  package func send(_ call: OrgCall) async throws(OrgError) -> HTTPResponse {
    try await connection.perform(
      call, base: token.current.instanceURL, token: token, identity: identity.username)
  }

  /// Sends a call and reads its answer.
  package func json(_ call: OrgCall) async throws(OrgError) -> JSONValue {
    try Self.parse(try await send(call), call)
  }

  static func parse(_ response: HTTPResponse, _ call: OrgCall) throws(OrgError) -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(parsing: response.body)
    } catch {
      throw OrgError(
        .invalidResponse, status: response.status,
        message: "the answer is not JSON: \(error.message)",
        request: call.name, isAmbiguous: !call.isRead)
    }
  }

  /// An answer of another shape than the resource has.
  static func invalidResponse(_ message: String, _ call: OrgCall) -> OrgError {
    OrgError(.invalidResponse, message: message, request: call.name, isAmbiguous: !call.isRead)
  }
}
