import SQLite
import System

/// One execution of a pipeline.
package struct RunRow: Sendable, Hashable {
  /// Its number, ascending over the ledger's life.
  package var number: Int64
  /// Its name, which sorts by time: `20260131T123456Z-7`.
  package var id: String
  /// The pipeline.
  package var pipeline: String
  /// The run's one clock, in ms of the org's time.
  package var now: Int64
  /// When it began, in ms of the wall clock.
  package var started: Int64
  /// When it ended; nil while it runs, or when it died.
  package var ended: Int64?
  /// The digest of the configuration.
  package var configHash: String
  /// The machine.
  package var host: String
  /// Its exit status.
  package var exitStatus: Int32?
  /// Its summary, as JSON text.
  package var summary: String?
}

extension StateDatabase {
  /// A run older than this is not resumed: its clock is too far from the org's.
  package static let resumableMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// Begins a run with `now` as its clock.
  package func beginRun(
    pipeline: String, now: Int64, configHash: String, host: String
  ) throws -> RunRow {
    try connection.transaction {
      let number = try runNumber + 1
      try setMeta("runNumber", String(number))
      let time = Dates.utcSeconds(now).filter { $0 != "-" && $0 != ":" }
      let row = RunRow(
        number: number, id: "\(time)-\(number)", pipeline: pipeline, now: now,
        started: Clock.wallMilliseconds(), configHash: configHash, host: host)
      try connection.run(
        """
        INSERT INTO run (number, id, pipeline, now_ms, started_ms, config_hash, host) VALUES
        (\(number), \(row.id), \(pipeline), \(now), \(row.started), \(configHash), \(host))
        """)
      return row
    }
  }

  /// A run that is not in the ledger: it looks, and does nothing.
  package func unrecordedRun(pipeline: String, now: Int64) -> RunRow {
    RunRow(
      number: 0, id: "dry-run", pipeline: pipeline, now: now, started: Clock.wallMilliseconds(),
      configHash: "", host: "")
  }

  /// Ends a run.
  package func endRun(id: String, exitStatus: Int32, summary: String) throws {
    try connection.run(
      """
      UPDATE run SET ended_ms = \(Clock.wallMilliseconds()), exit_status = \(Int64(exitStatus)),
        summary = \(summary) WHERE id = \(id)
      """)
    if connection.changes == 0 { throw StateError.unknownRun(id) }
  }

  /// The run that died and can be resumed with its own clock; one that is too old is closed here,
  /// and its open edits pass to the next run.
  package func openRun(now: Int64) throws -> RunRow? {
    let open = try runs("WHERE ended_ms IS NULL ORDER BY number DESC")
    var resumable: RunRow?
    for run in open {
      if resumable == nil, now - run.now < Self.resumableMilliseconds {
        resumable = run
      } else {
        try endRun(id: run.id, exitStatus: 1, summary: #"{"abandoned":true}"#)
      }
    }
    return resumable
  }

  /// One run.
  package func run(id: String) throws -> RunRow? { try runs("WHERE id = \(id)").first }

  /// The latest runs, newest first.
  package func runs(limit: Int = 20) throws -> [RunRow] {
    try runs("ORDER BY number DESC LIMIT \(limit)")
  }

  private func runs(_ clause: SQL) throws -> [RunRow] {
    let rows = try connection.all(
      """
      SELECT number, id, pipeline, now_ms, started_ms, ended_ms, config_hash, host, exit_status,
        summary FROM run \(clause)
      """)
    return rows.map { row in
      RunRow(
        number: row[0].integer ?? 0, id: row[1].text ?? "", pipeline: row[2].text ?? "",
        now: row[3].integer ?? 0, started: row[4].integer ?? 0, ended: row[5].integer,
        configHash: row[6].text ?? "", host: row[7].text ?? "",
        exitStatus: row[8].integer.map { Int32(clamping: $0) }, summary: row[9].text)
    }
  }
}
