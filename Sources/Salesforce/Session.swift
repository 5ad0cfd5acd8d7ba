import HTTP
import JSON
import System

/// The requests that one user may send to an org.
///
/// Each resource is an extension in its own file.
package final class Session: Sendable {
  /// The identity of a session.
  package struct Identity: Sendable, Hashable {
    /// The org's 18-character ID.
    package let organizationID: String
    /// The user's 18-character ID.
    package let userID: String
    package let username: String
  }

  package let identity: Identity
  /// The API version of the resources, such as `66.0`.
  package let apiVersion: String
  package let connection: OrgConnection
  package let token: SessionToken
  /// The cached object descriptions; nil if they are requested each time.
  let objects: KnownObjects?
  /// The answers that queries have already got, by path.
  let answers: Locked<[String: GivenPage]>

  package init(
    identity: Identity, apiVersion: String, connection: OrgConnection, token: SessionToken,
    objects: KnownObjects? = nil, answers: [String: GivenPage] = [:]
  ) {
    self.identity = identity
    self.apiVersion = apiVersion
    self.connection = connection
    self.token = token
    self.objects = objects
    self.answers = Locked(answers)
  }

  /// The session for the length of a run, in which each object is described once.
  package var keepingObjects: Session {
    if objects != nil { return self }
    return Session(
      identity: identity, apiVersion: apiVersion, connection: connection, token: token,
      objects: KnownObjects())
  }

  /// The org's clock in milliseconds, from its last response.
  package var serverDate: Int64? { connection.serverDate }

  /// The estimated current time of the org's clock, in milliseconds.
  package var estimatedServerDate: Int64 { connection.estimatedServerNow }

  /// The difference between the dates of the org's responses and this machine's clock, in
  /// milliseconds; positive if the org is ahead.
  package var clockOffset: Int64 { connection.clockOffset }

  /// The maximum number of requests in flight, of all sessions of the org's client.
  package var concurrency: Int { connection.client.concurrency }

  /// The time limit for a response, in milliseconds.
  package var timeoutMilliseconds: Int64 { Int64(connection.timeoutSeconds) * 1000 }

  /// The base address of the org's resources.
  package var instanceURL: String { token.current.instanceURL }

  /// The path of a resource: `query` is `/services/data/v66.0/query`.
  package func path(_ resource: String) -> String { "/services/data/v\(apiVersion)/\(resource)" }

  /// Sends any call; throws unless the response is a success.
  package func send(_ call: OrgCall) async throws(OrgError) -> HTTPResponse {
    try await connection.perform(
      call, base: token.current.instanceURL, token: token, identity: identity.username)
  }

  /// Sends a call and parses its response.
  package func json(_ call: OrgCall) async throws(OrgError) -> JSONValue {
    try Self.parse(try await send(call), call)
  }

  static func parse(_ response: HTTPResponse, _ call: OrgCall) throws(OrgError) -> JSONValue {
    do throws(JSONError) {
      return try JSONValue(parsing: response.body)
    } catch {
      throw OrgError(
        .invalidResponse, status: response.status,
        message: "the response is not JSON: \(error.message)",
        request: call.name, isAmbiguous: !call.isRead)
    }
  }

  /// The error for a response that does not have the form of the resource.
  static func invalidResponse(_ message: String, _ call: OrgCall) -> OrgError {
    OrgError(.invalidResponse, message: message, request: call.name, isAmbiguous: !call.isRead)
  }
}
