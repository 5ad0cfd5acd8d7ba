import JSON
import Ledger
import Reconciliation
import Salesforce
import System

/// What a person who decides wants to know of the org first, and how it gets there.
extension PipelineDecisions {
  /// The run that carries decisions out, or with `isDryRun` only says what it would do.
  package func runOptions(
    carryingOut decided: [DecidedEdit], by name: String, isDryRun: Bool
  ) throws -> RunOptions {
    var run = RunOptions()
    run.stages = [.reconcile]
    run.isDryRun = isDryRun
    run.by = name
    if isDryRun { run.decisions = decided }
    run.only = try affected(by: decided.map(\.edit))
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
  ) async throws -> [PlannedEdit] {
    let again = try enter(
      [], Selection(edits: edits, .whole(.again)), by: "", isDryRun: true
    ).decided
    if again.isEmpty { return [] }
    let options = try runOptions(carryingOut: again, by: "", isDryRun: true)
    let summary = try await run(options, variables: variables, report: report)
    let asked = Set(edits)
    return summary.planned.filter { asked.contains($0.editID) }
  }

  /// The records that a create without an answer may have made, as the integration user reads them, by Id;
  /// those that do not read are missing.
  package func candidates(
    of edit: ReportEdit, variables: [String: String]
  ) async throws -> [String: JSONObject] {
    guard let sobject = edit.sobject, !edit.detail.candidates.isEmpty else { return [:] }
    let session = try await OrgAccess(pipeline, data, variables: variables).anySession()
    let describe = try await session.describe(sobject)
    let names = (edit.detail.fields.map(\.name) + ["Name", "CreatedDate", "LastModifiedDate"])
      .filter { describe.field($0) != nil }
    return try await session.records(
      sobject, ids: edit.detail.candidates, fields: Array(Set(names + ["Id"])).sorted())
  }
}
