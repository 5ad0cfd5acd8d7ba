import JSON
import Salesforce
import System

/// Checks a pipeline's logins and compares its syncs with the org, before anything runs.
package struct OrgCheck: Sendable {
  /// The result of one login.
  package struct Identity: Sendable {
    package var username: String
    /// The number of records that briefcases assign, by object.
    package var briefcase: [String: Int]
    /// The number of briefcase rules that failed.
    package var ruleErrors: Int
  }

  /// The org's 18-character ID.
  package var organizationID = ""
  package var apiVersion = ""
  /// The remaining and maximum number of requests of the day.
  package var requests: (remaining: Int, maximum: Int)?
  package var identities: [Identity] = []
  /// Whether the pipeline has a briefcase sync.
  package var hasBriefcases = true
  /// What the syncs need and the org lacks, for the users checked.
  package var findings: [PreflightFindings.Finding] = []
  /// What the users would fetch for each other; nil if it was not asked for.
  package var sharing: SharingCheck?
  /// The failed logins, each with its reason.
  package var failures: [String] = []

  /// The number of users that are checked.
  private static let sample = 3

  /// Logs in and checks the pipeline against the org without writing to it.
  ///
  /// `root` is the directory that holds `<pipeline>/`; `pause` waits before retries. For `sharing`,
  /// every user logs in.
  package static func run(
    _ pipeline: Pipeline, root: String, variables: [String: String], sharing: Bool = false,
    pause: RetryPause = .real
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
    if sharing { check.sharing = SharingCheck(pipeline) }
    let isShared = sharing && pipeline.prime.fetchAs == .user
    for username in try await usernames(pipeline, access).prefix(isShared ? Int.max : sample) {
      do {
        let session = try await access.session(as: username)
        found.add(try await preflight.faults(session, as: .user), of: username, as: .user)
        if isShared { try await check.sharing?.list(session) }
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

  /// Records the error of one part of the check.
  ///
  /// Rethrows it if the org is unavailable, because the other parts would fail as well.
  private mutating func note(_ error: any Error, of subject: String) throws {
    let told = PipelineError(describing: error)
    if told.kind == .tryLater { throw error }
    var shown = told
    shown.location = told.place
    failures.append("\(subject): \(shown.description)")
  }

  /// Returns the remaining requests of the day; nil if the user may not see limits, as users with
  /// few permissions may not.
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
    // Several users share the view of the single login.
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

  /// The findings as lines of text.
  package var lines: [String] {
    var lines = ["org \(organizationID), API version \(apiVersion)"]
    lines.append(
      requests.map { "requests left today: \($0.remaining) of \($0.maximum)" }
        ?? "requests left today: this user has no access to the limits")
    for identity in identities {
      let objects = identity.briefcase.sorted { $0.key < $1.key }
        .map { "\($0.key) \($0.value)" }.joined(separator: ", ")
      let briefcases = objects.isEmpty ? "no briefcase is assigned to this user and app" : objects
      lines.append("\(identity.username): " + (hasBriefcases ? briefcases : "logged in"))
      if identity.ruleErrors > 0 {
        lines.append("  \(CountText.of(identity.ruleErrors, "rule")) failed")
      }
    }
    return lines + (sharing?.lines ?? []) + findings.map(\.description)
      + failures.map { "failed: \($0)" }
  }

  /// The findings as one JSON document.
  package var json: JSONValue {
    var object: JSONObject = [
      "organizationId": .string(organizationID), "apiVersion": .string(apiVersion),
      "requestsRemaining": requests.map { JSONValue($0.remaining) } ?? .null,
      "users": .array(
        identities.map { identity in
          var counts = JSONObject()
          for (object, count) in identity.briefcase.sorted(by: { $0.key < $1.key }) {
            counts[object] = JSONValue(count)
          }
          return [
            "username": .string(identity.username), "briefcase": .object(counts),
            "ruleErrors": JSONValue(identity.ruleErrors),
          ]
        }),
      "problems": .array(
        findings.map { finding in
          let problem = finding.problem
          return [
            "file": .string(problem.file), "line": JSONValue(problem.line),
            "column": JSONValue(problem.column), "path": .string(problem.path),
            "message": .string(problem.message), "fix": .string(problem.fix),
            "users": .array(finding.users.map { .string($0) }),
            "fatal": .bool(finding.fault.isFatal),
          ]
        }),
      "failures": .array(failures.map { .string($0) }),
    ]
    if let sharing { object["sharing"] = sharing.json }
    return .object(object)
  }
}
