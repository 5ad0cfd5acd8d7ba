import JSON
import Ledger
import Reports
import Salesforce
import System

/// Queries and runs that help an operator decide.
extension PipelineDecisions {
  /// Returns the options of a run that applies the decisions about some edits.
  package func runOptions(carryingOut edits: [Int64], by name: String) throws -> RunOptions {
    var run = RunOptions()
    run.stages = [.reconcile]
    run.by = name
    run.only = try affected(by: edits)
    return run
  }

  /// Returns the options of a dry run that shows the effect of decisions that are not recorded yet.
  package func runOptions(
    trying decided: [PendingDecision], by name: String
  ) throws -> RunOptions {
    var run = try runOptions(carryingOut: decided.map(\.edit), by: name)
    run.isDryRun = true
    run.decisions = decided
    return run
  }

  /// Runs the pipeline with the given options.
  package func run(
    _ options: RunOptions, variables: [String: String],
    report: @escaping @Sendable (RunEvent) -> Void = { _ in }
  ) async throws -> RunSummary {
    try await PipelineRun.execute(
      pipeline, root: root, variables: variables, options: options, report: report)
  }

  /// Returns the expected verdict of each edit if it were processed now, with the values that the
  /// org has at the moment.
  ///
  /// Nothing is sent. Edits that cannot be processed again, because a later return replaces them,
  /// are left out.
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

  /// Returns the records, by ID, that unconfirmed creates may have made, read as the user who logs
  /// in for the pipeline.
  ///
  /// Records that cannot be read are left out.
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

  /// The fields shown to tell candidates apart, in addition to those that the edits set.
  private static let shownOfCandidates = ["Name", "CreatedDate", "LastModifiedDate"]
}
