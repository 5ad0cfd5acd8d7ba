import JSON
import Ledger
import Reports
import Returns
import System

/// The open items of a pipeline, read from its ledger and directories.
package struct PipelineStatus: Sendable {
  /// A snapshot and its newest generation.
  package struct Snapshot: Sendable {
    /// The user's ID, or `global`.
    package var id: String
    package var username: String
    /// The number of its newest generation.
    package var generation: Int
  }

  package var pipeline: String
  /// The word that names the pipeline in a command (`Pipeline.called`).
  package var called: String
  package var snapshots: [Snapshot] = []
  /// The files in the inbox.
  package var waiting: [String] = []
  /// The returns that a run has taken but not finished.
  package var processing: [String] = []
  package var quarantined = 0
  /// The number of edits that were ingested and wait for the next reconciliation.
  package var unjudged = 0
  /// The number of open edits, by last verdict.
  package var unsettled: [Verdict: Int] = [:]
  /// The open edits, in the order of their arrival.
  package var open: [ReportEdit] = []
  /// Other items that need review: refused returns in quarantine, files left in the inbox, users
  /// skipped at their last prime, guards, and incomplete snapshots.
  package var findings: [Finding] = []
  package var directory: String
  /// Whether any run has used the directory.
  package var hasRun = false
  /// The last runs, newest first.
  package var runs: [RunRow] = []

  /// Reads the state of a pipeline.
  ///
  /// It is empty if the pipeline never ran.
  ///
  /// Throws a `PipelineError` if there are snapshots but no ledger.
  package static func read(_ pipeline: Pipeline, root: String) throws -> PipelineStatus {
    let data = DataDirectory(root: root, name: pipeline.name)
    var status = PipelineStatus(
      pipeline: pipeline.name, called: pipeline.called, directory: data.path)
    guard let state = try data.ledgerIfThere() else { return status }
    status.hasRun = true
    defer { state.close() }
    status.snapshots = try state.snapshotRows().map {
      Snapshot(id: $0.id, username: $0.username ?? $0.id, generation: Int($0.generation))
    }
    status.unjudged = try state.editNumbers(.unjudged).count
    status.unsettled = try state.unsettledEdits()
    status.open = try state.reportEdits(.unsettled)
    status.runs = try state.runs(limit: 5)
    let inbox = data.inbox(pipeline.inbox.path)
    if Files.isDirectory(inbox) {
      status.waiting = try Files.list(inbox).filter(Inbox.isCandidate)
    }
    if Files.isDirectory(data.processing) {
      status.processing = try Files.list(data.processing).filter { !$0.hasPrefix(".") }
    }
    status.findings = try waiting(state, data)
    status.quarantined = status.findings.count { $0.kind == .returnQuarantined }
    return status
  }

  /// Returns the open findings, updated by what happened in the quarantine since the last run.
  private static func waiting(
    _ state: LedgerDatabase, _ data: DataDirectory
  ) throws -> [Finding] {
    let open = try state.findings(.open)
    let changes = try Quarantine.changes(data.quarantine, since: open)
    // Refused by a version that kept no such list.
    let others = changes.untold.map {
      Finding(
        kind: .returnQuarantined, subject: $0.sha256, detail: $0.detail, run: "",
        time: $0.detail["arrived"]?.string.flatMap { Dates.milliseconds(iso8601: $0) } ?? 0)
    }
    return open.filter { !changes.gone.contains($0) } + others
  }

  /// The state as one JSON document.
  package var json: JSONValue {
    var counts = JSONObject()
    for verdict in Verdict.allCases {
      if let count = unsettled[verdict], count > 0 { counts[verdict.rawValue] = JSONValue(count) }
    }
    return [
      "pipeline": .string(pipeline),
      "snapshots": .array(
        snapshots.map {
          [
            "id": .string($0.id), "username": .string($0.username),
            "generation": JSONValue($0.generation),
          ]
        }),
      "inbox": .array(waiting.map { .string($0) }), "processing": JSONValue(processing.count),
      "quarantined": JSONValue(quarantined), "notReconciled": JSONValue(unjudged),
      "unsettled": .object(counts),
      "open": .array(open.map { Self.json($0, called: called) }),
      "waiting": .array(findings.map(Self.json)),
      "runs": .array(
        runs.map {
          [
            "run": .string($0.id),
            "exitStatus": $0.exitStatus.map { JSONValue(Int($0)) } ?? .null,
          ]
        }),
    ]
  }

  private static func json(_ edit: ReportEdit, called: String) -> JSONValue {
    var object: JSONObject = [
      "number": JSONValue(edit.number), "verdict": .string(edit.verdict.rawValue),
      "soup": .string(edit.soup),
    ]
    for (name, text) in [
      ("user", edit.username), ("sobject", edit.sobject), ("recordId", edit.recordID),
      ("localId", edit.localID), ("next", edit.nextStep(in: called)),
    ] {
      if let text { object[name] = .string(text) }
    }
    object["foundBy"] = .string(edit.foundBy)
    object["since"] = .string(Dates.utc(edit.foundAt))
    return .object(object)
  }

  private static func json(_ finding: Finding) -> JSONValue {
    var object: JSONObject = [
      "kind": .string(finding.kind.rawValue), "state": .string(finding.state),
    ]
    for (name, value) in finding.detail { object[name] = value }
    object["foundBy"] = .string(finding.run)
    object["since"] = .string(Dates.utc(finding.time))
    return .object(object)
  }
}
