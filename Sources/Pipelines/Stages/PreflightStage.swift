import JSON
import MobileSync
import Salesforce
import System

/// Validates the syncs of a run against its org, after ingest and before anything is sent or
/// fetched.
///
/// - It asks as the integration user, as each user with open edits, and as the first user to be
///   primed, with one request each. Only while all of them lack the same thing does it ask as
///   further users: the file is then wrong, or the org has changed for everyone, and the run stops
///   with all problems at once.
/// - If edits would lose a field, the run stops before they are sent. If records cannot be fetched,
///   only the prime stops; existing returns are reconciled first.
/// - If only some users lack something, it is reported, and only those users are not primed. Each
///   is asked right before its records are fetched (`PrimeJob`), so a run with a small budget still
///   makes progress.
/// - If the org cannot be asked, this stage does not stop the run. The other stages will report the
///   error if it persists.
struct PreflightStage {
  let run: RunContext

  /// The answer to one user.
  private struct Told {
    var username: String
    var faults: [Preflight.Fault]
  }

  private typealias Login = @Sendable () async throws(OrgError) -> Session?

  /// Asks once per run.
  ///
  /// Throws `Problems` if no user's syncs can do the work of `stage`.
  func perform(before stage: Stage) async throws {
    if !run.isChecked { try await ask(before: stage) }
    if stage == .prime, let problems = run.primeProblems { throw problems }
  }

  private func ask(before stage: Stage) async throws {
    run.isChecked = true
    let before = run.access.spent
    defer {
      let spent = run.access.spent
      run.checkSpent = (spent.requests - before.requests, spent.bytes - before.bytes)
    }
    let preflight = Preflight(run.pipeline, stages: run.options.stages)
    var found = PreflightFindings()
    do {
      try await askIntegration(preflight, &found)
      try await askUsers(preflight, &found)
      let stops = try await stopping(preflight, found)
      let named = Set(stops.map(\.problem))
      let problems = Problems(
        found.findings.map { named.contains($0.problem) ? $0.problem : $0.told })
      if stops.contains(where: { $0.isOfSyncUp || stage == .prime }) { throw problems }
      if !stops.isEmpty { run.primeProblems = problems }
    } catch let error as OrgError where error.kind != .cancelled {
      try Task.checkCancellation()
      return run.warn("the syncs could not be validated against the org before the run: \(error)")
    }
    run.preflight = preflight
    run.findings = found
    tell()
  }

  /// Reports what is new, except the problems for which users are skipped.
  func tell() {
    for finding in run.findings.findings
    where finding.fault.isOfSyncUp || !finding.fault.isFatal {
      guard run.toldProblems.insert(finding.problem).inserted else { continue }
      run.warn(finding.description)
    }
  }

  // MARK: asking

  private func askIntegration(
    _ preflight: Preflight, _ found: inout PreflightFindings
  ) async throws {
    guard preflight.concerns(.integration), try isPriming || !snapshotsWithEdits().isEmpty else {
      return
    }
    let access = run.access
    let answer = await Self.ask(preflight, as: .integration) { () throws(OrgError) in
      try await access.integrationSession()
    }
    if let told = try answer.get() { found.add(told.faults, of: told.username, as: .integration) }
  }

  private func askUsers(_ preflight: Preflight, _ found: inout PreflightFindings) async throws {
    guard preflight.concerns(.user) else { return }
    let senders = try snapshotsWithEdits().compactMap {
      try run.ledger.snapshotRow(id: $0)?.username
    }
    let isFetching = isPriming && run.pipeline.prime.fetchAs == .user
    // The stage that serves the users reports errors in the list of users.
    let primed = isFetching ? (try? await PipelineUsers(run: run).listed()) ?? [] : []
    try Task.checkCancellation()
    var waiting = (senders + primed.map(\.username))[...]
    var due = senders.count
    var size = 1
    while due > 0 || !found.hasAsked(.user) || !found.common(.user).isEmpty, !waiting.isEmpty {
      let names = waiting.prefix(size)
      waiting = waiting.dropFirst(names.count)
      due -= names.count
      // The first one is asked alone, in case no one gets an answer.
      size = run.pipeline.org.concurrency
      let access = run.access
      let answers = await InFlight.all(
        size,
        names.map { name in
          {
            await Self.ask(preflight, as: .user) { () throws(OrgError) in
              try await access.session(as: name)
            }
          }
        })
      for case let answer? in answers {
        if let told = try answer.get() { found.add(told.faults, of: told.username, as: .user) }
      }
    }
  }

  /// Returns the org's answer to one user; nil if the request failed, which the stages report.
  private static func ask(
    _ preflight: Preflight, as actor: Preflight.Actor, _ login: Login
  ) async -> Result<Told?, OrgError> {
    do throws(OrgError) {
      guard let session = try await login() else { return .success(nil) }
      let faults = try await preflight.faults(session, as: actor)
      return .success(Told(username: session.identity.username, faults: faults))
    } catch {
      let isOwn = error.isAboutTheUser || error.isAboutTheObject || error.kind == .configuration
      return isOwn ? .success(nil) : .failure(error)
    }
  }

  /// Returns the faults that stop the run: those that affect every user asked.
  ///
  /// Only a few users may have edits, so a fault of a sync up must affect the integration user too.
  private func stopping(
    _ preflight: Preflight, _ found: PreflightFindings
  ) async throws -> [Preflight.Fault] {
    let common = found.common(.user)
    var stops = found.common(.integration) + common.filter { !$0.isOfSyncUp }
    // Users who cannot see the field get no message, and the edits of the others would lose it.
    stops += found.findings.map(\.fault).filter { $0.isInOtherCase }
    let unsent = common.filter(\.isOfSyncUp)
    if unsent.isEmpty { return stops }
    guard let witness = try await run.access.integrationSession() else { return stops + unsent }
    let messages = Set(try await preflight.faults(witness, as: .user).map(\.problem.message))
    stops += unsent.filter { messages.contains($0.problem.message) }
    return stops
  }

  // MARK: users to ask

  private var isPriming: Bool { run.options.stages.contains(.prime) }

  /// The snapshots whose edits this run processes.
  private func snapshotsWithEdits() throws -> [String] {
    guard run.options.stages.contains(.reconcile) else { return [] }
    return try run.ledger.snapshotsWithOpenEdits(run: run.row.id, only: run.options.only)
  }
}

extension PipelineError {
  /// The error for a user who lacks access.
  init(lacking faults: [Preflight.Fault]) {
    self.init(
      .authentication, "preflight", "the user has no access to what the syncs fetch",
      reason: faults.map(\.problem.description).joined(separator: "; "),
      fix: "grant the user access, or correct the syncs")
  }
}
