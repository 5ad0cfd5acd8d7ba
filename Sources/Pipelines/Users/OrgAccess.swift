import Salesforce
import System

/// The org of a pipeline, and the sessions that act in it.
///
/// Salesforce decides what a user may see. A snapshot is therefore primed, and its edits are sent,
/// as its user, unless the pipeline says `integration`.
package final class OrgAccess: Sendable {
  package let org: Org
  /// The number of requests in progress at the same time.
  let concurrency: Int
  private let integrationUser: String?
  /// The users that the pipeline names; empty if they are queried from the org.
  private let names: [String]
  private let actsAsAnyone: Bool

  /// Opens the pipeline's org.
  ///
  /// Secrets are read; no request is sent.
  ///
  /// Refresh tokens that the org replaces are stored in `data`. `mostRequests` limits the requests
  /// further than the pipeline does.
  /// `workers` is the number of processes that share the pipeline's concurrent requests.
  package init(
    _ pipeline: Pipeline, _ data: DataDirectory, variables: [String: String],
    mostRequests: Int? = nil, workers: Int = 1, pause: RetryPause = .real,
    events: @escaping @Sendable (OrgEvent) -> Void = { _ in }
  ) throws {
    let settings = pipeline.org
    var credentials = try Self.credentials(pipeline, variables)
    credentials.keeper = RefreshTokenFile(data.tokens, pause: .real)
    concurrency = max(1, settings.concurrency / workers)
    org = try Org(
      url: try settings.url.resolve(variables), credentials: credentials,
      apiVersion: settings.apiVersion, features: pipeline.features, caFile: settings.caFile,
      concurrency: concurrency, requestTimeoutSeconds: settings.requestTimeoutSeconds,
      budget: APIBudget(
        perRun: [settings.apiBudget.perRun, mostRequests].compactMap(\.self).min(),
        leaveForOthersPercent: settings.apiBudget.leaveForOthers.value),
      keepsObjects: true, pause: pause, events: events)
    integrationUser = settings.login.integrationUser
    actsAsAnyone = credentials.canActAsAnyone
    names = actsAsAnyone ? try pipeline.users.names() ?? [] : []
  }

  private static func credentials(
    _ pipeline: Pipeline, _ variables: [String: String]
  ) throws -> Credentials {
    let login = pipeline.org.login
    let clientID = try login.clientId?.resolve(variables) ?? ""
    let empty = SecretSource.env("")
    switch login.method {
    case .jwt:
      let key = try (login.key ?? empty).resolve(variables)
      return Credentials(.jwt(clientID: clientID, key: key, audience: login.audience))
    case .clientCredentials:
      let secret = try (login.clientSecret ?? empty).resolve(variables)
      return Credentials(.clientCredentials(clientID: clientID, secret: secret))
    case .accessToken:
      return Credentials(.accessToken(try (login.accessToken ?? empty).resolve(variables)))
    case .refreshToken:
      let secret = try login.clientSecret?.resolve(variables)
      let token = try login.refreshToken?.resolve(variables)
      guard var tokens = try pipeline.users.refreshTokens() else {
        return Credentials(
          .refreshToken(clientID: clientID, secret: secret, token: token ?? Secret("")))
      }
      if let token, let user = login.integrationUser { tokens[user.lowercased()] = token }
      return Credentials(.refreshTokens(clientID: clientID, secret: secret, byUser: tokens))
    case .sf: return .sf(alias: login.alias ?? "")
    }
  }

  /// The number of requests sent so far.
  package var requestsMade: Int { org.requestsMade.reduce(0) { $0 + $1.count } }

  /// The requests sent so far, including logins, and the bytes received.
  package var spent: (requests: Int, bytes: Int) { (requestsMade, org.bytesReceived) }

  /// Returns a session of `username`, or of the only user if the login has just one.
  package func session(as username: String) async throws(OrgError) -> Session {
    try await login(username)
  }

  /// Returns a session of the integration user; nil if the pipeline has none.
  package func integrationSession() async throws(OrgError) -> Session? {
    guard actsAsAnyone else { return try await login(integrationUser) }
    guard let integrationUser else { return nil }
    return try await login(integrationUser)
  }

  /// Returns any session that works, for requests that do not depend on the user.
  package func anySession() async throws(OrgError) -> Session {
    if let session = try await integrationSession() { return session }
    var refusal: OrgError?
    for name in names {
      do throws(OrgError) {
        return try await login(name)
      } catch {
        guard error.kind == .authentication else { throw error }
        refusal = refusal ?? error
      }
    }
    if let refusal { throw refusal }
    return try await login(nil)
  }

  /// Logs in.
  ///
  /// The error of a refusal names the user.
  private func login(_ username: String?) async throws(OrgError) -> Session {
    do throws(OrgError) {
      return try await org.session(username: username)
    } catch {
      guard let username, error.kind == .authentication else { throw error }
      throw OrgError(
        error.kind, status: error.status, code: error.code,
        message: "\(error.message), for \(username)", fields: error.fields,
        request: error.request
      ).sent(to: error.address)
    }
  }
}
