import JSON
import Ledger
import MobileSync
import SQLite

extension RunRow {
  /// Which reports are asked for, by their runs.
  package enum ReportSelection: Sendable {
    /// Those of runs that have ended, which may be incomplete.
    case unfinished
    /// Those that show the verdicts of a run.
    case showing(run: String)
  }
}

extension LedgerDatabase {
  // MARK: report of each verdict

  /// Whether a run's report has anything that no report has shown.
  ///
  /// This includes what its report was started for: an interrupted run is resumed and writes its
  /// files.
  package func hasNews(for run: String) throws -> Bool {
    try connection.integer(
      """
      SELECT EXISTS (SELECT 1 FROM run WHERE id = \(run) AND report = 'begun')
        OR EXISTS (SELECT 1 FROM outcome WHERE reported_by IS NULL)
        OR EXISTS (SELECT 1 FROM finding WHERE reported_by IS NULL
          AND kind IN (\(list: Self.kindsForPeople)))
      """) == 1
  }

  /// The number of verdicts that a run's report shows, counting the last one of each edit.
  func reportedCount(run: String) throws -> Int {
    let count = try connection.integer(
      "SELECT count(DISTINCT edit_id) FROM outcome WHERE reported_by = \(run)")
    return Int(count ?? 0)
  }

  package func reports(_ which: RunRow.ReportSelection) throws -> [String] {
    switch which {
    case .unfinished:
      try connection.texts(
        "SELECT id FROM run WHERE report = 'begun' AND ended_ms IS NOT NULL ORDER BY number")
    case .showing(let run):
      try connection.texts(
        """
        SELECT DISTINCT reported_by FROM outcome WHERE run_id = \(run) AND reported_by IS NOT NULL
        ORDER BY 1
        """)
    }
  }

  private static let kindsForPeople = Finding.Kind.allCases.filter(\.wantsPerson).map {
    SQLiteValue.text($0.rawValue)
  }

  // MARK: edits

  /// The edits whose verdicts a run's report is the first to show, each with its last one.
  func newlyReported(by run: String, count: Int) throws -> [ReportEdits.Row] {
    try reportRows(
      "SELECT x.edit_id, x.run_id, x.verdict \(Self.lastVerdicts(shownBy: run))", count: count)
  }

  /// The last verdict of each edit that a run's report is the first to show; an interrupted run may
  /// have given another one before.
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

  /// The edits whose last verdict in the reports up to a run's is unresolved.
  func unsettled(upTo run: RunRow) throws -> [ReportEdits.Row] {
    let last = Self.last(
      of: Self.everUnsettled,
      where: "+x.reported_by IN (SELECT id FROM run WHERE number <= \(run.number))")
    return try reportRows("\(last) WHERE \(raw: LedgerSchema.isUnsettled("l.verdict"))")
  }

  /// The last of the selected verdicts of each edit, as `l`.
  private static func last(of edits: SQL, where isSelected: SQL = "true") -> SQL {
    """
    SELECT l.edit_id, l.run_id, l.verdict FROM (
      SELECT x.edit_id, x.run_id, x.verdict, max(n.number)
      FROM outcome x JOIN run n ON n.id = x.run_id
      WHERE x.edit_id IN (\(edits)) AND \(isSelected) GROUP BY x.edit_id) l
    """
  }

  /// The selected edits, each with its last verdict; edits without a verdict are left out.
  package func reportEdits(_ which: ReportEdit.Selection) throws -> [ReportEdit] {
    let selection: SQL =
      switch which {
      case .unsettled:
        """
        \(Self.last(of: Self.everUnsettled)) JOIN edit e ON e.id = l.edit_id
        WHERE \(raw: LedgerSchema.isUnsettled("l.verdict")) AND e.verdict = l.verdict
        """
      case .numbered(let numbers): Self.last(of: "\(list: numbers.map { .integer($0) })")
      }
    var edits: [ReportEdit] = []
    try reportEdits(try reportRows(selection)) { edits.append($0) }
    return edits
  }

  /// The edits that ever had an unresolved verdict.
  ///
  /// An edit that is open over many runs has one for each, but only the last is used.
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

  /// The edits for which an earlier report has shown the same verdict as this run's report would.
  ///
  /// They are listed as still open instead of as new, unless a decision failed.
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
