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
  /// The stages that it was asked for, by name; empty for a run of a ledger's first version.
  package var wanted: Set<String> = []
  /// Those of them that have done their work.
  package var finished: Set<String> = []
  /// Says whether a report of it was begun; which was written whole, unless the run died over it.
  package var hasReport = false

  /// The name of a run that begins at `now`, in ms.
  static func id(_ number: Int64, at now: Int64) -> String {
    "\(Dates.utcDigits(now))-\(number)"
  }

  /// The number in a run's name; nil for what is no such name.
  package static func number(ofID id: String) -> Int? {
    let parts = id.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 2, parts[0].utf8.count == 16, parts[0].last == "Z" else { return nil }
    return Int(parts[1])
  }

  /// The time in an id, as text that sorts as times do; empty where there is none.
  package static func time(ofID id: String) -> Substring { id.prefix { $0 != "-" } }

  /// No run yet.
  package static let none = RunRow(
    number: 0, id: "", pipeline: "", now: 0, started: 0, configHash: "", host: "")
}

extension LedgerDatabase {
  /// A run older than this is not resumed: its clock is too far from the org's.
  static let resumableMilliseconds: Int64 = 24 * 60 * 60 * 1000

  /// Begins a run with `now` as its clock, which is to do `stages`.
  package func beginRun(
    pipeline: String, now: Int64, configHash: String, host: String, stages: Set<String> = []
  ) throws -> RunRow {
    try connection.transaction {
      let number = try runNumber + 1
      try setMeta("runNumber", String(number))
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

  // MARK: stages

  /// Adds stages to those that a run which died was asked for: whoever goes on with it wants them.
  package func widen(_ run: RunRow, by stages: Set<String>) throws -> RunRow {
    var wider = run
    wider.wanted.formUnion(stages)
    try connection.run("UPDATE run SET wanted = \(Self.list(wider.wanted)) WHERE id = \(run.id)")
    return wider
  }

  /// Notes that a stage begins, perhaps again, or that it has done its work.
  package func note(stage: String, isFinished: Bool, run: String) throws {
    guard var finished = try self.run(id: run)?.finished else { throw LedgerError.unknownRun(run) }
    if isFinished { finished.insert(stage) } else { finished.remove(stage) }
    try connection.run("UPDATE run SET finished = \(Self.list(finished)) WHERE id = \(run)")
  }

  private static func list(_ stages: Set<String>) -> String {
    stages.sorted().joined(separator: ",")
  }

  private static func stages(_ text: String?) -> Set<String> {
    Set((text ?? "").split(separator: ",").map(String.init))
  }

  // MARK: the end

  /// Ends a run.
  package func endRun(id: String, exitStatus: Int32, summary: String) throws {
    try connection.run(
      """
      UPDATE run SET ended_ms = \(Clock.wallMilliseconds()), exit_status = \(Int64(exitStatus)),
        summary = \(summary) WHERE id = \(id)
      """)
    if connection.changes == 0 { throw LedgerError.unknownRun(id) }
  }

  /// The run that died and can be gone on with, on its own clock; one that is too old is closed
  /// here: its open edits pass to the next run, and what it found to the next report.
  ///
  /// `now` is the org's time; without it, where the org is not asked, the wall clock says how old a
  /// run is.
  package func openRun(now: Int64?) throws -> RunRow? {
    let open = try runs("WHERE ended_ms IS NULL ORDER BY number DESC")
    var resumable: RunRow?
    for run in open {
      let age = now.map { $0 - run.now } ?? Clock.wallMilliseconds() - run.started
      let isForgotten = LeftOut.rules.contains(.verdictsOfDeadRuns)
      if resumable == nil, age < Self.resumableMilliseconds, !isForgotten {
        resumable = run
      } else {
        try abandon(run)
      }
    }
    return resumable
  }

  private func abandon(_ run: RunRow) throws {
    try endRun(
      id: run.id, exitStatus: ExitStatus.failed.rawValue, summary: #"{"abandoned":true}"#)
  }

  /// Ends every run that is not over: nobody goes on with it.
  func abandonOpenRuns() throws {
    for run in try runs("WHERE ended_ms IS NULL") { try abandon(run) }
  }

  /// One run.
  package func run(id: String) throws -> RunRow? { try runs("WHERE id = \(id)").first }

  /// The latest runs, newest first.
  package func runs(limit: Int = 20) throws -> [RunRow] {
    try runs("ORDER BY number DESC LIMIT \(limit)")
  }

  /// The latest runs before one, newest first.
  package func runs(limit: Int, before number: Int64) throws -> [RunRow] {
    try runs("WHERE number < \(number) ORDER BY number DESC LIMIT \(limit)")
  }

  /// The latest of some runs, by their names; nil for none.
  ///
  /// A ledger's runs have the order of their numbers: one that did not ask the org is dated by the machine's
  /// clock, which may be ahead. A run that the ledger does not know is of one before it, which was lost, so it
  /// came before them all; numbers began anew then, and only the times order such runs.
  package func latestRun(of ids: [String]) throws -> String? {
    let known = Set(ids)
    return try connection.texts("SELECT id FROM run ORDER BY number DESC")
      .first(where: known.contains)
      ?? ids.max {
        (RunRow.time(ofID: $0), RunRow.number(ofID: $0) ?? 0)
          < (RunRow.time(ofID: $1), RunRow.number(ofID: $1) ?? 0)
      }
  }

  private func runs(_ clause: SQL) throws -> [RunRow] {
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
