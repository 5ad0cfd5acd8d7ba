import JSON
import Ledger
import Reconciliation
import Salesforce
import System

/// What a person who decides wants to know of the org first, and how it gets there.
extension PipelineDecisions {
  /// The run that carries out what was decided about edits.
  package func runOptions(carryingOut edits: [Int64], by name: String) throws -> RunOptions {
    var run = RunOptions()
    run.stages = [.reconcile]
    run.by = name
    run.only = try affected(by: edits)
    return run
  }

  /// The dry run that says what decisions would do which are not entered.
  package func runOptions(
    trying decided: [EditDecision], by name: String
  ) throws -> RunOptions {
    var run = try runOptions(carryingOut: decided.map(\.edit), by: name)
    run.isDryRun = true
    run.decisions = decided
    return run
  }

  /// Runs the pipeline as `options` say.
  package func run(
    _ options: RunOptions, variables: [String: String],
    report: @escaping @Sendable (RunEvent) -> Void = { _ in }
  ) async throws -> RunSummary {
    try await PipelineRun.execute(
      pipeline, root: root, variables: variables, options: options, report: report)
  }

  /// What would become of edits if each were taken up now: the verdicts that the rules expect, beside the
  /// values that the org holds at this moment.
  ///
  /// Nothing is sent.
  /// An edit that cannot be taken up again, because a later hand-back stands for it, is missing.
  package func look(
    at edits: [Int64], variables: [String: String],
    report: @escaping @Sendable (RunEvent) -> Void = { _ in }
  ) async throws -> [PlannedOutcome] {
    let again = try enter(
      [], Selection(edits: edits, .whole(.retry)), by: "", isDryRun: true
    ).decided
    if again.isEmpty { return [] }
    let options = try runOptions(trying: again, by: "")
    let summary = try await run(options, variables: variables, report: report)
    let asked = Set(edits)
    return summary.planned.filter { asked.contains($0.editID) }
  }

  /// The records that creates without an answer may have made, by Id, as whoever logs in for the pipeline
  /// reads them; those that do not read are missing.
  package func candidates(
    of edits: [ReportEdit], variables: [String: String]
  ) async throws -> [String: JSONObject] {
    let edits = edits.filter { $0.sobject != nil && !$0.detail.candidates.isEmpty }
    if edits.isEmpty { return [:] }
    let session = try await OrgAccess(pipeline, data, variables: variables).anySession()
    var found: [String: JSONObject] = [:]
    for (sobject, group) in Dictionary(grouping: edits, by: { $0.sobject ?? "" }) {
      let describe = try await session.describe(sobject)
      let names = group.flatMap { $0.detail.fields.map(\.name) } + Self.shownOfCandidates
      let readable = Set(names).filter { describe.field($0) != nil }.union(["Id"]).sorted()
      let records = try await session.records(
        sobject, ids: group.flatMap(\.detail.candidates), fields: readable)
      found.merge(records) { $1 }
    }
    return found
  }

  /// What a person tells candidates by, beside the fields that the edits set.
  private static let shownOfCandidates = ["Name", "CreatedDate", "LastModifiedDate"]
}
