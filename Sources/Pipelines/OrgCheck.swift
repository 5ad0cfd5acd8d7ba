import JSON
import Salesforce

/// What a pipeline's logins get from its org, before anything is run.
package struct OrgCheck: Sendable {
  /// What one login gets.
  package struct Identity: Sendable {
    /// The user.
    package var username: String
    /// Records that briefcases assign, by object.
    package var briefcase: [String: Int]
    /// How many rules failed.
    package var ruleErrors: Int
  }

  /// The org's 18-character id.
  package var organizationID = ""
  /// The API version spoken.
  package var apiVersion = ""
  /// Requests that are left of the day's, and how many a day has.
  package var requests: (remaining: Int, maximum: Int)?
  /// The users looked at.
  package var identities: [Identity] = []
  /// Whether the pipeline has a briefcase sync.
  package var hasBriefcases = true
  /// What the syncs need and the org has not, for the users looked at.
  package var findings: [PreflightFindings.Finding] = []
  /// Logins that failed, each with its reason.
  package var failures: [String] = []

  /// How many of a pipeline's users are looked at.
  private static let sample = 3

  /// Logs in and looks; reads only.
  ///
  /// `root` is the directory that holds `<pipeline>/`; `pause` waits before requests that are repeated.
  package static func run(
    _ pipeline: Pipeline, root: String, variables: [String: String], pause: RetryPause = .real
  ) async throws -> OrgCheck {
    let data = DataDirectory(root: root, name: pipeline.name)
    let access = try OrgAccess(pipeline, data, variables: variables, pause: pause)
    let session = try await access.anySession()
    var check = OrgCheck()
    check.organizationID = session.identity.organizationID
    check.apiVersion = session.apiVersion
    check.hasBriefcases = pipeline.features.contains(.briefcases)
    check.requests = try await requestsLeft(session)
    for field in pipeline.reconcile.correlationFields {
      do {
        if let problem = field.problem(try await session.describe(field.sobject)) {
          check.failures.append("reconcile.correlationField: \(problem)")
        }
      } catch {
        try check.note(error, of: "reconcile.correlationField")
      }
    }
    let preflight = Preflight(pipeline)
    var found = PreflightFindings()
    do {
      if let session = try await access.integrationSession() {
        let faults = try await preflight.faults(session, as: .integration)
        found.add(faults, of: session.identity.username, as: .integration)
      }
    } catch {
      try check.note(error, of: "the integration user")
    }
    for username in try await usernames(pipeline, access).prefix(sample) {
      do {
        let session = try await access.session(as: username)
        found.add(try await preflight.faults(session, as: .user), of: username, as: .user)
        var identity = Identity(username: username, briefcase: [:], ruleErrors: 0)
        if check.hasBriefcases { try await count(&identity, session) }
        check.identities.append(identity)
      } catch {
        try check.note(error, of: username)
      }
    }
    check.findings = found.findings
    return check
  }

  /// Notes what a part of the check has met; an org that takes no more now would answer no other part either.
  private mutating func note(_ error: any Error, of subject: String) throws {
    let told = PipelineError(describing: error)
    if told.kind == .tryLater { throw error }
    failures.append("\(subject): \(told.description)")
  }

  /// What is left of the day's requests; nil for a user who may not see it, as those with few rights may not.
  private static func requestsLeft(
    _ session: Session
  ) async throws -> (remaining: Int, maximum: Int)? {
    do throws(OrgError) {
      return try await session.limits()["DailyApiRequests"].map { ($0.remaining, $0.maximum) }
    } catch {
      guard error.kind == .permission || error.kind == .notFound else { throw error }
      return nil
    }
  }

  private static func usernames(
    _ pipeline: Pipeline, _ access: OrgAccess
  ) async throws -> [String] {
    // Several users who share the view of the one that the login is.
    if pipeline.isOneUserLogin, pipeline.users.source.mayBeSeveral {
      return [try await access.anySession().identity.username]
    }
    switch pipeline.users.source {
    case .list, .csv: return try pipeline.users.names() ?? []
    case .query(let soql):
      guard let session = try await access.integrationSession() else { return [] }
      return try await PipelineUsers.users(ofQuery: soql, of: pipeline, as: session).map(\.username)
    case .loginUser: return [try await access.anySession().identity.username]
    }
  }

  private static func count(_ identity: inout Identity, _ session: Session) async throws {
    var token: String?
    repeat {
      let page = try await session.primingRecords(relayToken: token)
      for (object, records) in page.records {
        identity.briefcase[object, default: 0] += records.count
      }
      identity.ruleErrors += page.ruleErrors.count
      token = page.relayToken
    } while token != nil
  }

  /// The findings in lines.
  package var lines: [String] {
    var lines = ["org \(organizationID), API version \(apiVersion)"]
    lines.append(
      requests.map { "requests left today: \($0.remaining) of \($0.maximum)" }
        ?? "requests left today: this user may not see the limits")
    for identity in identities {
      let objects = identity.briefcase.sorted { $0.key < $1.key }
        .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      let briefcases = objects.isEmpty ? "no briefcase is assigned to this user and app" : objects
      lines.append("\(identity.username): " + (hasBriefcases ? briefcases : "logged in"))
      if identity.ruleErrors > 0 { lines.append("  \(identity.ruleErrors) rules failed") }
    }
    return lines + findings.map(\.description) + failures.map { "failed: \($0)" }
  }

  /// The findings as one JSON document.
  package var json: JSONValue {
    func number(_ value: Int) -> JSONValue { .number(String(value)) }
    return [
      "organizationId": .string(organizationID), "apiVersion": .string(apiVersion),
      "requestsRemaining": requests.map { number($0.remaining) } ?? .null,
      "users": .array(
        identities.map { identity in
          var counts = JSONObject()
          for (object, count) in identity.briefcase.sorted(by: { $0.key < $1.key }) {
            counts[object] = number(count)
          }
          return [
            "username": .string(identity.username), "briefcase": .object(counts),
            "ruleErrors": number(identity.ruleErrors),
          ]
        }),
      "problems": .array(
        findings.map { finding in
          let problem = finding.problem
          return [
            "file": .string(problem.file), "line": number(problem.line),
            "column": number(problem.column), "path": .string(problem.path),
            "message": .string(problem.message), "fix": .string(problem.fix),
            "users": .array(finding.users.map { .string($0) }),
            "fatal": .bool(finding.fault.isFatal),
          ]
        }),
      "failures": .array(failures.map { .string($0) }),
    ]
  }
}
