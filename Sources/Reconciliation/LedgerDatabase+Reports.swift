import JSON
import Ledger
import MobileSync
import SQLite

extension LedgerDatabase {
  // MARK: which report shows what

  /// Enters everything that no report has shown yet as shown by this run's, whichever run gave it
  /// and however that run ended.
  ///
  /// The files are written next, then `endReport` is called.
  package func beginReport(run: String) throws {
    try connection.transaction {
      let isAlone: Int64 = LeftOut.rules.contains(.verdictsOfDeadRuns) ? 1 : 0
      try connection.run(
        """
        UPDATE outcome SET reported_by = \(run) WHERE reported_by IS NULL
          AND (\(isAlone) = 0 OR run_id = \(run))
        """)
      // A warning of an earlier run was told by that run, and is of no use any more.
      try connection.run(
        """
        UPDATE finding SET reported_by = \(run) WHERE reported_by IS NULL
          AND (run_id = \(run) OR kind <> \(Finding.Kind.warning.rawValue))
        """)
      try connection.run("UPDATE run SET report = 'begun' WHERE id = \(run)")
    }
  }

  /// Notes that the files of a run's report are all on the disk.
  package func endReport(run: String) throws {
    try connection.run("UPDATE run SET report = 'written' WHERE id = \(run)")
  }

  /// Gives back what a report was to show that was never written: the next one shows it.
  package func dropReport(run: String) throws {
    try connection.transaction {
      try connection.run("UPDATE outcome SET reported_by = NULL WHERE reported_by = \(run)")
      try connection.run("UPDATE finding SET reported_by = NULL WHERE reported_by = \(run)")
      try connection.run("UPDATE run SET report = NULL WHERE id = \(run)")
    }
  }

  /// The runs that are over and of whose report nobody knows whether it was written whole.
  package func unfinishedReports() throws -> [String] {
    try connection.texts(
      "SELECT id FROM run WHERE report = 'begun' AND ended_ms IS NOT NULL ORDER BY number")
  }

  /// Says whether there is anything that a run's report is to show and that none has shown.
  ///
  /// What it was begun for is that too: a run that died over its files goes on, and writes them.
  package func hasNews(for run: String) throws -> Bool {
    try connection.integer(
      """
      SELECT EXISTS (SELECT 1 FROM run WHERE id = \(run) AND report = 'begun')
        OR EXISTS (SELECT 1 FROM outcome WHERE reported_by IS NULL)
        OR EXISTS (SELECT 1 FROM finding WHERE reported_by IS NULL
          AND kind IN (\(list: Self.kindsForPeople)))
      """) == 1
  }

  /// How many verdicts a run's report shows: of each edit the last one.
  func reportedCount(run: String) throws -> Int {
    let count = try connection.integer(
      "SELECT count(DISTINCT edit_id) FROM outcome WHERE reported_by = \(run)")
    return Int(count ?? 0)
  }

  /// The runs whose reports show the verdicts that a run gave.
  package func reportsShowing(run: String) throws -> [String] {
    try connection.texts(
      """
      SELECT DISTINCT reported_by FROM outcome WHERE run_id = \(run) AND reported_by IS NOT NULL
      ORDER BY 1
      """)
  }

  private static let kindsForPeople = Finding.Kind.allCases.filter(\.wantsPerson).map {
    SQLiteValue.text($0.rawValue)
  }

  // MARK: findings

  /// The findings that a run's report is the first to show.
  func newFindings(report run: String) throws -> [Finding] {
    try findings("f.reported_by = \(run)")
  }

  /// The findings of earlier reports that were not settled when this run's was written.
  func earlierFindings(report run: RunRow) throws -> [Finding] {
    try findings(
      """
      (SELECT m.number FROM run m WHERE m.id = f.reported_by) < \(run.number)
      AND (f.settled_by IS NULL
        OR (SELECT s.number FROM run s WHERE s.id = f.settled_by) > \(run.number))
      """
    ).filter(\.kind.wantsPerson)
  }

  // MARK: edits

  /// The edits whose verdicts a run's report is the first to show, each with its last one.
  func newlyReported(by run: String, count: Int) throws -> [ReportEdits.Row] {
    try reportRows(
      "SELECT x.edit_id, x.run_id, x.verdict \(Self.lastVerdicts(shownBy: run))", count: count)
  }

  /// The last verdict of each edit that a run's report is the first to show: a dead run may have given
  /// another one before.
  private static func lastVerdicts(shownBy run: String) -> SQL {
    """
    FROM outcome x JOIN run n ON n.id = x.run_id WHERE x.reported_by = \(run) AND NOT EXISTS (
      SELECT 1 FROM outcome y JOIN run m ON m.id = y.run_id
      WHERE y.edit_id = x.edit_id AND +y.reported_by = \(run) AND m.number > n.number)
    """
  }

  /// The edits that a run gave a verdict, whichever report shows it.
  func settled(by run: String) throws -> [ReportEdits.Row] {
    try reportRows("SELECT edit_id, run_id, verdict FROM outcome WHERE run_id = \(run)")
  }

  /// The edits whose last verdict, as far as reports up to a run's show it, needs somebody still.
  func unsettled(upTo run: RunRow) throws -> [ReportEdits.Row] {
    try reportRows(
      """
      SELECT l.edit_id, l.run_id, l.verdict FROM (
        SELECT x.edit_id, x.run_id, x.verdict, max(n.number)
        FROM outcome x JOIN run n ON n.id = x.run_id JOIN run m ON m.id = x.reported_by
        WHERE m.number <= \(run.number) AND x.edit_id IN (\(Self.everUnsettled))
        GROUP BY x.edit_id) l
      WHERE \(raw: LedgerSchema.isUnsettled("l.verdict"))
      """)
  }

  /// The edits that wait for something now, reported or not: what `status` lists.
  package func unsettledEditList() throws -> [ReportEdit] {
    try reportEdits(
      """
      SELECT l.edit_id, l.run_id, l.verdict FROM (
        SELECT x.edit_id, x.run_id, x.verdict, max(n.number)
        FROM outcome x JOIN run n ON n.id = x.run_id
        WHERE x.edit_id IN (\(Self.everUnsettled)) GROUP BY x.edit_id) l
        JOIN edit e ON e.id = l.edit_id
      WHERE \(raw: LedgerSchema.isUnsettled("l.verdict")) AND e.verdict = l.verdict
      """)
  }

  /// Edits by their numbers, each with its last verdict; one that never had a verdict is missing.
  package func reportEdits(numbers: [Int64]) throws -> [ReportEdit] {
    let wanted = numbers.map { SQLiteValue.integer($0) }
    return try reportEdits(
      """
      SELECT l.edit_id, l.run_id, l.verdict FROM (
        SELECT x.edit_id, x.run_id, x.verdict, max(n.number)
        FROM outcome x JOIN run n ON n.id = x.run_id WHERE x.edit_id IN (\(list: wanted))
        GROUP BY x.edit_id) l
      """)
  }

  private func reportEdits(_ selection: SQL) throws -> [ReportEdit] {
    var edits: [ReportEdit] = []
    try reportEdits(try reportRows(selection)) { edits.append($0) }
    return edits
  }

  /// The edits that had an unsettled verdict in some run: an edit that waits through many nights has
  /// one of each, and only the last is asked for.
  private static let everUnsettled: SQL = """
    SELECT u.edit_id FROM outcome u WHERE \(raw: LedgerSchema.isUnsettled("u.verdict"))
    """

  /// The last verdict of an edit that a report before this run's has shown.
  private static func shownBefore(_ run: Int64) -> SQL {
    """
    (SELECT y.verdict FROM outcome y JOIN run o ON o.id = y.run_id JOIN run p ON p.id = y.reported_by
      WHERE y.edit_id = x.edit_id AND p.number < \(run) ORDER BY o.number DESC LIMIT 1)
    """
  }

  /// The edits of which an earlier report has shown the very verdict that this run's is to show:
  /// they are no news, unless a decision came to nothing, and stand among those that are still open.
  func repeated(in run: RunRow) throws -> Set<Int64> {
    Set(
      try connection.all(
        """
        SELECT x.edit_id \(Self.lastVerdicts(shownBy: run.id))
          AND \(raw: LedgerSchema.isUnsettled("x.verdict"))
          AND json_extract(x.detail, '$.decision.fate') IS NOT 'asked again'
          AND x.verdict = \(Self.shownBefore(run.number))
        """
      ).compactMap { $0[0].integer })
  }
}
