import Salesforce

/// A user whose snapshot a pipeline keeps.
package struct SnapshotUser: Sendable, Hashable {
  /// The 18-character id, the snapshot's name on disk.
  package let id: String
  /// The name that logs in.
  package let username: String
}

extension PipelineRun {
  /// The users whose snapshots are to be primed, by id.
  ///
  /// A user of a list who cannot log in is skipped or stops the run, as `prime.onUserFailure` says.
  func users() async throws -> [SnapshotUser] {
    var users = try await resolveUsers()
    users.removeAll { pipeline.users.except.contains($0.username) }
    let (least, most) = (pipeline.users.atLeast, pipeline.users.atMost)
    guard users.count >= least, users.count <= most else {
      throw PipelineError(
        .configuration, "users.unexpected",
        "the pipeline has \(users.count) user\(users.count == 1 ? "" : "s"), and users.expect "
          + "allows \(least) to \(most)",
        location: pipeline.file, fix: "check users.query, or change users.expect")
    }
    if !options.users.isEmpty { users.removeAll { !options.users.contains($0.username) } }
    return users.sorted { $0.id < $1.id }
  }

  private func resolveUsers() async throws -> [SnapshotUser] {
    switch pipeline.users.source {
    case .query(let soql): return try await users(ofQuery: soql)
    case .list, .csv: return try await users(named: pipeline.users.listed())
    case .loginUser: return [try await ownUser()]
    }
  }

  private func ownUser() async throws -> SnapshotUser {
    let identity = try await access.anySession().identity
    return SnapshotUser(id: identity.userID, username: identity.username)
  }

  private func users(ofQuery soql: String) async throws -> [SnapshotUser] {
    guard let session = try await access.integrationSession() else {
      throw PipelineError(
        .configuration, "users.no-integration-user",
        "users.query needs a user that asks it", location: pipeline.file,
        fix: "name one in org.login.integrationUser")
    }
    var users: [SnapshotUser] = []
    for record in try await session.queryAllRecords(soql) {
      guard let id = record["Id"]?.string.flatMap({ RecordID($0) }),
        let username = record["Username"]?.string
      else {
        throw PipelineError(
          .configuration, "users.query", "users.query does not select Id and Username",
          location: pipeline.file, fix: "write SELECT Id, Username FROM User WHERE …")
      }
      users.append(SnapshotUser(id: id.text18, username: username))
    }
    return users
  }

  private func users(named names: [String]) async throws -> [SnapshotUser] {
    var users: [SnapshotUser] = []
    for name in names where !pipeline.users.except.contains(name) {
      if !options.users.isEmpty, !options.users.contains(name) { continue }
      do throws(OrgError) {
        let identity = try await access.session(as: name).identity
        users.append(SnapshotUser(id: identity.userID, username: name))
      } catch {
        try skip(username: name, error)
      }
    }
    return users
  }

  /// Takes note of a user who cannot be served, or stops the run.
  func skip(snapshot: String = "", username: String, _ error: any Error) throws {
    if let error = error as? OrgError, error.kind == .cancelled { throw error }
    if pipeline.prime.onUserFailure == .failRun { throw error }
    if Task.isCancelled { throw CancellationError() }
    let failure = PipelineError(describing: error)
    let reason = failure.description
    summary.findings.insert(.skippedUser)
    // The next run may do better without anybody's help.
    if failure.kind == .tryLater { summary.findings.insert(.limitReached) }
    report(.snapshotSkipped(snapshot: snapshot, username: username, reason: reason))
  }
}
