import JSON
import Reconciliation
import System

/// What is open in a pipeline, read from its ledger and directories.
package struct PipelineStatus: Sendable {
  /// A snapshot and its newest generation.
  package struct Snapshot: Sendable {
    /// The user's id, or `global`.
    package var id: String
    /// The user.
    package var username: String
    /// The newest generation.
    package var generation: Int
  }

  /// The pipeline's name.
  package var pipeline: String
  /// Its snapshots.
  package var snapshots: [Snapshot] = []
  /// Files in the inbox.
  package var waiting: [String] = []
  /// How many returns are in quarantine.
  package var quarantined = 0
  /// Edits that wait for something, by what became of them last.
  package var unsettled: [Verdict: Int] = [:]
  /// The last runs, newest first.
  package var runs: [RunRow] = []

  /// Reads the state of a pipeline; one that never ran has nothing.
  package static func read(_ pipeline: Pipeline, root: String) throws -> PipelineStatus {
    let data = DataDirectory(root: root, name: pipeline.name)
    var status = PipelineStatus(pipeline: pipeline.name)
    guard Files.exists(data.state) else { return status }
    let state = try StateDatabase(path: data.state)
    defer { state.close() }
    status.snapshots = try state.snapshotRows().map {
      Snapshot(id: $0.id, username: $0.username ?? $0.id, generation: Int($0.generation))
    }
    status.unsettled = try state.unsettledEdits()
    status.runs = try state.runs(limit: 5)
    let inbox = data.inbox(pipeline.inbox.path)
    if Files.isDirectory(inbox) {
      status.waiting = try Files.list(inbox).filter { !$0.hasPrefix(".") }
    }
    if Files.isDirectory(data.quarantine) {
      status.quarantined = try Files.list(data.quarantine).filter { $0.hasSuffix(".reason.json") }
        .count
    }
    return status
  }

  /// The state as one JSON document.
  package var json: JSONValue {
    func number(_ value: Int) -> JSONValue { .number(String(value)) }
    var open = JSONObject()
    for verdict in Verdict.allCases {
      if let count = unsettled[verdict], count > 0 { open[verdict.rawValue] = number(count) }
    }
    return [
      "pipeline": .string(pipeline),
      "snapshots": .array(
        snapshots.map {
          [
            "id": .string($0.id), "username": .string($0.username),
            "generation": number($0.generation),
          ]
        }),
      "inbox": .array(waiting.map { .string($0) }), "quarantined": number(quarantined),
      "unsettled": .object(open),
      "runs": .array(
        runs.map {
          [
            "run": .string($0.id),
            "exitStatus": $0.exitStatus.map { number(Int($0)) } ?? .null,
          ]
        }),
    ]
  }
}
