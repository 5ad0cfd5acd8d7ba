import SQLite
import System

/// One execution of a pipeline.
package struct RunRow: Sendable, Hashable {
  /// The run's number, which increases over the ledger's life.
  package var number: Int64
  /// Its name, which sorts by time: `20260131T123456Z-7`.
  package var id: String
  package var pipeline: String
  /// The run's single clock, in ms of the org's time.
  package var now: Int64
  /// The start of the run, in ms of the wall clock.
  package var started: Int64
  /// The end of the run; nil while it is running, or if it was interrupted.
  package var ended: Int64?
  package var configHash: String
  /// The machine's name.
  package var host: String
  /// The exit status.
  package var exitStatus: Int32?
  package var summary: String?
  /// The names of the requested stages.
  package var wanted: Set<String> = []
  /// The requested stages that are complete.
  package var finished: Set<String> = []
  /// Whether the run started to write its report.
  ///
  /// The report is complete unless the run was interrupted meanwhile.
  package var hasReport = false

  /// The ID of a run that starts at `now`, in ms.
  static func id(_ number: Int64, at now: Int64) -> String {
    "\(Dates.utcDigits(now))-\(number)"
  }

  /// The number in a run ID; nil if the text is not a run ID.
  package static func number(ofID id: String) -> Int? {
    let parts = id.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 16, parts[0].last == "Z" else { return nil }
    return Int(parts[1])
  }

  /// The time in a run ID, as text that sorts chronologically; empty if there is none.
  package static func time(ofID id: String) -> Substring { id.prefix { $0 != "-" } }

  package static let none = RunRow(
    number: 0, id: "", pipeline: "", now: 0, started: 0, configHash: "", host: "")
}

/// What becomes known of a run.
package enum RunNote {
  /// A stage was started, possibly again.
  case started(stage: String)
  /// A stage is complete.
  case finished(stage: String)
  /// How far its report is.
  case report(Report)
  /// It has ended.
  case ended(exitStatus: Int32, summary: String)

  /// How far a run's report is.
  package enum Report: String, Sendable {
    /// Everything not reported yet is shown by it, whichever run it came from and however that run
    /// ended. Its files are written next.
    case begun
    /// All of its files are on disk.
    case written
    /// It was never written, and the next one shows its content.
    case dropped
  }
}

extension LedgerDatabase {
  /// The greatest age of a run that can be resumed.
  ///
  /// The clock of an older run is too far from the org's.
  static let resumableMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// Starts a run with `now` as its clock and `stages` as the work to do.
  package func beginRun(
    pipeline: String, now: Int64, configHash: String, host: String, stages: Set<String> = []
  ) throws -> RunRow {
    try connection.transaction {
      let number = try runNumber + 1
      try store(number, as: .runNumber)
      let row = RunRow(
        number: number, id: RunRow.id(number, at: now), pipeline: pipeline, now: now,
        started: Clock.wallMilliseconds(), configHash: configHash, host: host, wanted: stages)
      try connection.run(
        """
        INSERT INTO run (number, id, pipeline, now_ms, started_ms, config_hash, host, wanted)
        VALUES (\(number), \(row.id), \(pipeline), \(now), \(row.started), \(configHash), \(host),
          \(Self.list(stages)))
        """)
      return row
    }
  }

  /// Records how far a run is.
  package func note(_ fact: RunNote, run: String) throws {
    switch fact {
    case .started(let stage): try changeFinished(of: run) { $0.remove(stage) }
    case .finished(let stage): try changeFinished(of: run) { $0.insert(stage) }
    case .report(let report): try connection.transaction { try note(report, run) }
    case .ended(let status, let summary):
      try connection.run(
        """
        UPDATE run SET ended_ms = \(Clock.wallMilliseconds()), exit_status = \(Int64(status)),
          summary = \(summary) WHERE id = \(run)
        """)
      if connection.changes == 0 { throw LedgerError.unknownRun(run) }
    }
  }

  private func changeFinished(
    of run: String, _ change: (inout Set<String>) -> Void
  ) throws {
    guard var finished = try self.run(id: run)?.finished else { throw LedgerError.unknownRun(run) }
    change(&finished)
    try connection.run("UPDATE run SET finished = \(Self.list(finished)) WHERE id = \(run)")
  }

  private func note(_ report: RunNote.Report, _ run: String) throws {
    switch report {
    case .begun:
      try connection.run("UPDATE outcome SET reported_by = \(run) WHERE reported_by IS NULL")
      // Warnings of an earlier run were shown by that run and are no longer useful.
      try connection.run(
        """
        UPDATE finding SET reported_by = \(run) WHERE reported_by IS NULL
          AND (run_id = \(run) OR kind <> \(Finding.Kind.warning.rawValue))
        """)
    case .written: break
    case .dropped:
      try connection.run("UPDATE outcome SET reported_by = NULL WHERE reported_by = \(run)")
      try connection.run("UPDATE finding SET reported_by = NULL WHERE reported_by = \(run)")
    }
    let stored = report == .dropped ? nil : report.rawValue
    try connection.run("UPDATE run SET report = \(stored) WHERE id = \(run)")
  }

  private static func list(_ stages: Set<String>) -> String {
    stages.sorted().joined(separator: ",")
  }

  private static func stages(_ text: String?) -> Set<String> {
    Set((text ?? "").split(separator: ",").map(String.init))
  }

  // MARK: the end

  /// The interrupted run that can be resumed on its own clock, with `stages` added to its own.
  ///
  /// A run that is too old is closed here; its open edits pass to the next run, and its findings to
  /// the next report.
  ///
  /// `now` is the org's time. Without it, if the org is not contacted, the wall clock determines a
  /// run's age.
  package func openRun(now: Int64?, adding stages: Set<String> = []) throws -> RunRow? {
    let open = try runs("WHERE ended_ms IS NULL ORDER BY number DESC")
    var resumable: RunRow?
    for run in open {
      let age = now.map { $0 - run.now } ?? Clock.wallMilliseconds() - run.started
      if resumable == nil, age < Self.resumableMilliseconds {
        resumable = run
      } else {
        try abandon(run)
      }
    }
    guard var resumable else { return nil }
    resumable.wanted.formUnion(stages)
    try connection.run(
      "UPDATE run SET wanted = \(Self.list(resumable.wanted)) WHERE id = \(resumable.id)")
    return resumable
  }

  private func abandon(_ run: RunRow) throws {
    let status = ExitStatus.failed.rawValue
    try note(.ended(exitStatus: status, summary: #"{"abandoned":true}"#), run: run.id)
  }

  /// Ends every open run, so that none is resumed.
  func abandonOpenRuns() throws {
    for run in try runs("WHERE ended_ms IS NULL") { try abandon(run) }
  }

  /// One run.
  package func run(id: String) throws -> RunRow? { try runs("WHERE id = \(id)").first }

  /// The latest runs, or the latest before one, newest first; with `withStages`, of those that had
  /// any.
  package func runs(
    limit: Int = 20, before number: Int64 = .max, withStages: Bool = false
  ) throws -> [RunRow] {
    try runs(
      """
      WHERE number < \(number) AND (wanted <> '' OR NOT \(withStages)) ORDER BY number DESC
      LIMIT \(limit)
      """)
  }

  /// The latest of some runs, by their IDs; nil if there are none.
  ///
  /// Runs in the ledger are ordered by number, because the IDs of runs without access to the org
  /// have the machine's time, which may be ahead. A run that the ledger does not know belongs to a
  /// lost ledger and so came before all of them. Their numbers were reused, so only their times
  /// order such runs.
  package func latestRun(of ids: [String]) throws -> String? {
    let known = Set(ids)
    return try connection.texts("SELECT id FROM run ORDER BY number DESC")
      .first(where: known.contains)
      ?? ids.max {
        (RunRow.time(ofID: $0), RunRow.number(ofID: $0) ?? 0)
          < (RunRow.time(ofID: $1), RunRow.number(ofID: $1) ?? 0)
      }
  }

  func runs(_ clause: SQL) throws -> [RunRow] {
    let rows = try connection.all(
      """
      SELECT number, id, pipeline, now_ms, started_ms, ended_ms, config_hash, host, exit_status,
        summary, wanted, finished, report FROM run \(clause)
      """)
    return rows.map { row in
      RunRow(
        number: row[0].integer ?? 0, id: row[1].text ?? "", pipeline: row[2].text ?? "",
        now: row[3].integer ?? 0, started: row[4].integer ?? 0, ended: row[5].integer,
        configHash: row[6].text ?? "", host: row[7].text ?? "",
        exitStatus: row[8].integer.map { Int32(clamping: $0) }, summary: row[9].text,
        wanted: Self.stages(row[10].text), finished: Self.stages(row[11].text),
        hasReport: row[12].text != nil)
    }
  }
}
