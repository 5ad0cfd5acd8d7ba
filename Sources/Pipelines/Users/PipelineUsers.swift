import JSON
import MobileSync
import Salesforce
import System

/// A user whose snapshot a pipeline keeps.
package struct SnapshotUser: Sendable, Hashable {
  /// The 18-character ID, which names the snapshot on disk.
  package let id: String
  /// The name used to log in.
  package let username: String
}

/// Determines the users of a pipeline: from its list, from its query, or the one who logs in.
struct PipelineUsers {
  let run: RunContext

  /// Returns the users whose snapshots are to be primed, by ID.
  ///
  /// Evaluated once per run.
  ///
  /// If a listed user cannot log in, the user is skipped or the run stops, as `prime.onUserFailure`
  /// says.
  func listed() async throws -> [SnapshotUser] {
    if let known = run.listed { return try known.get() }
    do {
      let users = try await list()
      run.listed = .success(users)
      return users
    } catch {
      run.listed = .failure(error)
      throw error
    }
  }

  private func list() async throws -> [SnapshotUser] {
    let users: [SnapshotUser]
    switch run.pipeline.users.source {
    case .list, .csv:
      let names = try run.pipeline.users.names() ?? []
      try check(names)
      users = try await self.users(named: names.filter(run.options.serves))
    case .query(let soql):
      let found = try await self.users(ofQuery: soql)
      try check(found.map(\.username))
      users = found.filter { run.options.serves($0.username) }
    case .loginUser:
      let user = try await ownUser()
      try check([user.username])
      users = [user]
    }
    // Two names of one user would write the same snapshot concurrently.
    var seen: Set<String> = []
    return users.filter { seen.insert($0.id).inserted }.sorted { $0.id < $1.id }
  }

  /// Checks that the number of users is as expected, and that the requested users are among them.
  private func check(_ names: [String]) throws {
    let (least, most) = (run.pipeline.users.atLeast, run.pipeline.users.atMost)
    guard names.count >= least, names.count <= most else {
      throw PipelineError(
        .configuration, "users.unexpected",
        "the pipeline has \(CountText.of(names.count, "user")), and users.expect "
          + "allows \(least) to \(most)",
        location: run.pipeline.file, fix: "check the source of the users, or change users.expect")
    }
    try checkAsked(names)
  }

  private func checkAsked(_ names: [String]) throws {
    try Self.check(run.options.users, areAmong: names, in: run.pipeline)
  }

  /// Checks that the requested users are among those of the pipeline.
  static func check(
    _ asked: Set<String>, areAmong names: [String], in pipeline: Pipeline
  ) throws {
    let known = Set(names.map { $0.lowercased() })
    guard let unknown = asked.sorted().first(where: { !known.contains($0.lowercased()) }) else {
      return
    }
    throw PipelineError(unknownUser: unknown, in: pipeline, near: names)
  }

  /// Checks the requested users before any other work.
  ///
  /// If nothing is primed, they must be in the pipeline's list or among the users primed before.
  func checkAsked() async throws {
    if run.options.users.isEmpty { return }
    if run.options.stages.contains(.prime) {
      _ = try await listed()
    } else {
      let known = try run.ledger.snapshotRows().usernames.values.sorted()
      try checkAsked(run.pipeline.users.names() ?? known)
    }
  }

  private func ownUser() async throws -> SnapshotUser {
    let identity = try await run.access.anySession().identity
    return SnapshotUser(id: identity.userID, username: identity.username)
  }

  private func users(ofQuery soql: String) async throws -> [SnapshotUser] {
    guard let session = try await run.access.integrationSession() else {
      throw PipelineError(
        .configuration, "users.no-integration-user",
        "users.query needs a user to run as", location: run.pipeline.file,
        fix: "name one in org.login.integrationUser")
    }
    return try await Self.users(ofQuery: soql, of: run.pipeline, as: session)
  }

  /// Returns the users that `users.query` selects, except those that the pipeline excludes.
  static func users(
    ofQuery soql: String, of pipeline: Pipeline, as session: Session
  ) async throws -> [SnapshotUser] {
    let records: [JSONValue]
    do throws(OrgError) {
      records = try await session.queryAllRecords(soql)
    } catch {
      guard error.kind.isRefusal, pipeline.users.source == .query(soql) else { throw error }
      throw refused(error, pipeline)
    }
    var users: [SnapshotUser] = []
    for record in records {
      guard let id = record["Id"]?.string.flatMap({ RecordID($0) }),
        let username = record["Username"]?.string
      else {
        throw PipelineError(
          .configuration, "users.query", "users.query does not select Id and Username",
          location: pipeline.file, fix: "write SELECT Id, Username FROM User WHERE …")
      }
      users.append(SnapshotUser(id: id.text18, username: username))
    }
    return users.filter { !pipeline.users.leavesOut($0.username) }
  }

  /// The error for a `users.query` that the org refuses, at its position in the file.
  private static func refused(_ error: OrgError, _ pipeline: Pipeline) -> PipelineError {
    var place = pipeline.file
    if let bytes = try? Files.read(place, limit: PipelineFile.limitBytes),
      let node = JSONNode.read(bytes).node?["users"]?["query"]
    {
      place += ":\(node.line):\(node.column)"
    }
    let request = PipelineError(describing: error).place.map { $0 + ": " } ?? ""
    return PipelineError(
      .configuration, "users.query", "the org refused users.query", location: place,
      reason: request + error.message, fix: "correct users.query in \(pipeline.file)")
  }

  /// Looks up the IDs of users who need no login because all share one view.
  private func usersByLookup(_ names: [String]) async throws -> [SnapshotUser] {
    var ids: [String: String] = [:]
    for part in names.parts(of: RequestLimits.listedValues) {
      let list = SOQLLiteral.list(part)
      for user in try await users(
        ofQuery: "SELECT Id, Username FROM User WHERE Username IN (\(list))")
      {
        ids[user.username.lowercased()] = user.id
      }
    }
    var users: [SnapshotUser] = []
    for name in names {
      guard let id = ids[name.lowercased()] else {
        try skip(
          username: name,
          PipelineError(
            .authentication, "users.not-found", "no visible user of the org has this name",
            location: run.pipeline.file, fix: "correct the name, or remove it from \"users\""))
        continue
      }
      users.append(SnapshotUser(id: id, username: name))
    }
    return users
  }

  private func users(named names: [String]) async throws -> [SnapshotUser] {
    if run.pipeline.prime.fetchAs == .integration { return try await usersByLookup(names) }
    var users: [SnapshotUser] = []
    for name in names {
      do throws(OrgError) {
        let identity = try await run.access.session(as: name).identity
        users.append(SnapshotUser(id: identity.userID, username: name))
      } catch {
        try skip(username: name, error)
      }
    }
    return users
  }

  /// Records a user who cannot be served, or stops the run.
  ///
  /// If the org refuses the user, that is only a finding. If the org is unreachable or this machine
  /// is at fault, the run's status changes as well.
  func skip(snapshot: String = "", username: String, _ error: any Error) throws {
    if Task.isCancelled || PipelineError.isCancellation(error) { throw CancellationError() }
    if run.pipeline.prime.onUserFailure == .failRun { throw error }
    let described = PipelineError(describing: error)
    // A configuration error or a full disk affects every user.
    if described.kind == .configuration || MachineTrouble.isFull(error) { throw error }
    run.summary.findings.insert(.skippedUser)
    // The next run may succeed without intervention.
    if described.kind == .tryLater { run.summary.findings.insert(.limitReached) }
    if described.kind == .failed, PipelineError.isOurs(error) {
      run.summary.findings.insert(.failedSnapshot)
    }
    var detail: JSONObject = ["username": .string(username), "reason": .string(described.message)]
    if !snapshot.isEmpty { detail["snapshot"] = .string(snapshot) }
    for (name, text) in [
      ("code", described.code), ("why", described.reason), ("where", described.location),
      ("fix", described.fix),
    ] {
      if let text { detail[name] = .string(text) }
    }
    try run.note(.userSkipped, username.lowercased(), detail)
    run.report(
      .snapshotSkipped(
        snapshot: snapshot, username: username, reason: described.description))
  }
}
