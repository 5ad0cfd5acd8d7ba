import HTTP
import JSON
import System

/// The client of an org.
///
/// It keeps one session per user, with one login at a time for each, and counts its requests.
///
/// ```swift
/// let org = try Org(url: words[1], credentials: .accessToken(words[2]))
/// let query = "SELECT COUNT() FROM Account"
/// print(try await org.send("GET", "query", query: [("q", query)]))
/// ```
public final class Org: Sendable {
  /// The default for the maximum number of requests in flight.
  package static let defaultConcurrency = HTTPClient.Configuration().concurrency
  /// The default for the maximum time of a request.
  package static let defaultTimeoutSeconds = HTTPRequest.defaultTimeoutSeconds

  private typealias LoginTask = Task<Result<Session, OrgError>, Never>

  /// The state of a user's login.
  ///
  /// A finished task retains kilobytes of memory, so it is not kept.
  private enum Entry {
    case underWay(LoginTask)
    case done(Session)
  }

  private struct State {
    var sessions: [String: Entry] = [:]
    /// The API version in use, once the org has listed its versions.
    var version: APIVersion?
  }

  /// The login address, without a trailing slash.
  package let url: String
  private let credentials: Credentials
  private let connection: OrgConnection
  private let login: Login
  private let askedVersion: String?
  private let features: Set<APIFeature>
  /// The object descriptions shared by all users; nil if sessions request them each time.
  private let objects: KnownObjects.Shared?
  private let state: Locked<State>

  /// Creates a client for an org at `url`, a My Domain or a login host.
  ///
  /// Sends nothing yet.
  ///
  /// Without `apiVersion`, the newest version that both attache and the org support is used.
  public convenience init(
    url: String, credentials: Credentials, apiVersion: String? = nil, caFile: String? = nil
  ) throws {
    try self.init(
      url: url, credentials: credentials, apiVersion: apiVersion, caFile: caFile,
      concurrency: Self.defaultConcurrency)
  }

  /// Creates a client with all settings of a pipeline file; `features` lists the API features that
  /// will be used.
  ///
  /// With `keepsObjects`, for the org of a single run, its sessions request each object description
  /// once.
  package init(
    url: String, credentials: Credentials, apiVersion: String? = nil,
    features: Set<APIFeature> = [.records], caFile: String? = nil,
    concurrency: Int, requestTimeoutSeconds: Int = defaultTimeoutSeconds,
    responseLimitBytes: Int = HTTPClient.Configuration().responseLimitBytes,
    budget: APIBudget = APIBudget(), keepsObjects: Bool = false,
    pause: RetryPause = .real, events: @escaping @Sendable (OrgEvent) -> Void = { _ in }
  ) throws(OrgError) {
    // An alias needs none.
    if !url.isEmpty, let fault = OrgAddress.fault(of: url) {
      throw OrgError(
        .configuration, message: "\(fault.what); \(fault.fix)", request: "connect")
    }
    var configuration = HTTPClient.Configuration()
    configuration.caFile = caFile
    configuration.concurrency = concurrency
    configuration.responseLimitBytes = responseLimitBytes
    let client: HTTPClient
    do throws(HTTPError) {
      client = try HTTPClient(configuration)
    } catch {
      throw OrgError(.configuration, message: error.description, request: "connect")
    }
    self.url = Grant.withoutSlash(url)
    self.credentials = credentials
    let observer = OrgObserver.current
    let seen: @Sendable (OrgEvent) -> Void = { event in
      events(event)
      observer?.see(event)
    }
    connection = OrgConnection(
      client: client, policy: RetryPolicy(), pause: pause, timeoutSeconds: requestTimeoutSeconds,
      budget: budget, events: seen)
    login = Login(credentials, loginURL: self.url, connection: connection)
    askedVersion = apiVersion
    self.features = features
    objects = keepsObjects ? KnownObjects.Shared([:]) : nil
    state = Locked(State())
  }

  /// The session of a user; logs in the first time.
  ///
  /// Without a name, it is the session of the credentials' user; a JWT has no such user.
  package func session(username: String? = nil) async throws(OrgError) -> Session {
    let key = credentials.canActAsAnyone ? (username ?? "").lowercased() : ""
    let entry = state.withLock { state in
      if let known = state.sessions[key] { return known }
      let started = Entry.underWay(
        LoginTask {
          do throws(OrgError) {
            return .success(try await self.begin(username))
          } catch {
            return .failure(error)
          }
        })
      state.sessions[key] = started
      return started
    }
    let session =
      switch entry {
      case .done(let session): session
      case .underWay(let task): try await end(of: task, as: key)
      }
    try check(session, isFor: username)
    return session
  }

  /// Returns the session of a login in progress.
  ///
  /// After a failed login, the next caller tries again.
  private func end(of task: LoginTask, as key: String) async throws(OrgError) -> Session {
    // If another task waits for the same login, that task starts a new one.
    let result = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    state.withLock { state in
      guard case .underWay(let current) = state.sessions[key], current == task else { return }
      state.sessions[key] = (try? result.get()).map(Entry.done)
    }
    return try result.get()
  }

  /// The number of requests so far by kind and user, including repeats.
  package var requestsMade: [RequestCount] { connection.counts }

  /// The size of all responses so far, decompressed, in bytes.
  package var bytesReceived: Int { connection.bytesReceived }

  /// The number of unpaired surrogates in the org's texts, each of which became U+FFFD.
  package var replacedHalves: Int { connection.replacedHalves }

  /// The org's clock in milliseconds, from its last response.
  package var serverDate: Int64? { connection.serverDate }

  /// The org's latest count of its daily requests.
  package var usage: APIUsage? { connection.usage }

  /// The number of requests that the budget allows; nil if no limit is known.
  package var requestsLeft: Int? { connection.requestsLeft }

  private func begin(_ username: String?) async throws(OrgError) -> Session {
    let acting = credentials.canActAsAnyone ? username : nil
    let login = self.login
    let connection = self.connection
    let grant = try await login.grant(for: acting)
    let token = SessionToken(grant) { () throws(OrgError) -> Grant in
      let grant = try await login.grant(for: acting)
      connection.report(.renewed(username: acting ?? ""))
      return grant
    }
    let version = try await apiVersion(at: grant.instanceURL)
    let identity: Session.Identity
    if let acting, credentials.namesUser, let organization = grant.organizationID,
      let user = grant.userID
    {
      identity = Session.Identity(organizationID: organization, userID: user, username: acting)
    } else {
      identity = try await UserInfo.fetch(connection, token).identity
    }
    connection.report(.loggedIn(username: identity.username, userID: identity.userID))
    return Session(
      identity: identity, apiVersion: version.description, connection: connection, token: token,
      objects: objects.map { KnownObjects(sharing: $0) })
  }

  /// The API version to use.
  ///
  /// A missing feature is reported before anything else is requested.
  private func apiVersion(at instanceURL: String) async throws(OrgError) -> APIVersion {
    if let known = state.withLock({ $0.version }) { return known }
    let version = try APIVersion.choose(
      asked: askedVersion, from: await Versions.fetch(connection, base: instanceURL), for: features)
    state.withLock { $0.version = version }
    return version
  }

  private func check(_ session: Session, isFor username: String?) throws(OrgError) {
    guard let username else { return }
    let actual = session.identity.username
    guard actual.lowercased() != username.lowercased() else { return }
    if credentials.canActAsAnyone {
      throw OrgError(
        .authentication, message: "the refresh token belongs to \(actual)",
        request: "POST " + Login.path)
    }
    throw OrgError(
      .configuration,
      message: "the login is for \(actual) and cannot act as \(username); a JWT login can",
      request: "POST " + Login.path)
  }
}
