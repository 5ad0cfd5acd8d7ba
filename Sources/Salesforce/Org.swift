import HTTP
import JSON
import System

/// The client of one org.
///
/// It keeps one session for each user, with one login at a time for each, and counts what it asks.
///
/// ```swift
/// let org = try Org(url: words[1], credentials: .accessToken(words[2]))
/// let query = "SELECT COUNT() FROM Account"
/// print(try await org.send("GET", "query", query: [("q", query)]))
/// ```
public final class Org: Sendable {
  /// The most requests in flight, unless told otherwise.
  package static let defaultConcurrency = HTTPClient.Configuration().concurrency
  /// The longest that a request may take, unless told otherwise.
  package static let defaultTimeoutSeconds = HTTPRequest.defaultTimeoutSeconds

  private typealias LoginTask = Task<Result<Session, OrgError>, Never>

  /// How far a user's login is.
  ///
  /// A task that is over holds kilobytes of its memory: it is not kept.
  private enum Entry {
    case underWay(LoginTask)
    case done(Session)
  }

  private struct State {
    var sessions: [String: Entry] = [:]
    /// The version that is spoken, once the org has said which it has.
    var version: APIVersion?
  }

  /// The address that logins go to, without a slash at its end.
  package let url: String
  private let credentials: Credentials
  private let connection: OrgConnection
  private let login: Login
  private let askedVersion: String?
  private let features: Set<APIFeature>
  /// What all users were told of objects; nil where sessions ask each time.
  private let objects: KnownObjects.Shared?
  private let state: Locked<State>

  /// An org at `url`, a My Domain or a login host; nothing is sent yet.
  ///
  /// Without `apiVersion` it is the org's newest, as far as we know it.
  public convenience init(
    url: String, credentials: Credentials, apiVersion: String? = nil, caFile: String? = nil
  ) throws {
    try self.init(
      url: url, credentials: credentials, apiVersion: apiVersion, caFile: caFile,
      concurrency: Self.defaultConcurrency)
  }

  /// An org with everything that a pipeline file may say of it; `features` is what will be asked of it.
  ///
  /// With `keepsObjects`, for an org of one run, its sessions ask once what an object is.
  package init(
    url: String, credentials: Credentials, apiVersion: String? = nil,
    features: Set<APIFeature> = [.records], caFile: String? = nil,
    concurrency: Int, requestTimeoutSeconds: Int = defaultTimeoutSeconds,
    responseLimitBytes: Int = HTTPClient.Configuration().responseLimitBytes,
    budget: APIBudget = APIBudget(), keepsObjects: Bool = false,
    pause: RetryPause = .real, events: @escaping @Sendable (OrgEvent) -> Void = { _ in }
  ) throws(OrgError) {
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
    let observer = OrgObservation.observer
    let seen: @Sendable (OrgEvent) -> Void = { event in
      events(event)
      observer?(event)
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

  /// The session of a user, from a login of its own the first time.
  ///
  /// Without a name it is the one that the credentials are for; a JWT is for nobody in particular.
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

  /// The session of a login that is under way; after one that fails the next who asks tries again.
  private func end(of task: LoginTask, as key: String) async throws(OrgError) -> Session {
    // A login that somebody else waits for too is asked for anew by them.
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

  /// The requests so far, by kind and user; repeats count.
  package var requestsMade: [RequestCount] { connection.counts }

  /// The bytes of all answers so far, as they are when they are unpacked.
  package var bytesReceived: Int { connection.bytesReceived }

  /// How many halves of characters the org has sent in texts, each of which became U+FFFD.
  package var replacedHalves: Int { connection.replacedHalves }

  /// The org's clock in milliseconds, as its last answer told it.
  package var serverDate: Int64? { connection.serverDate }

  /// What the org last said of its daily requests.
  package var usage: APIUsage? { connection.usage }

  /// How many requests the budget leaves; nil where no limit is known.
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

  /// The version to speak; what the org has not is told before anything else is asked.
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
        .authentication, message: "the refresh token is of \(actual)",
        request: "POST " + Login.path)
    }
    throw OrgError(
      .configuration,
      message: "the login is for \(actual) and cannot act as \(username); a JWT login can",
      request: "POST " + Login.path)
  }
}
