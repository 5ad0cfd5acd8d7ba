import JSON
import SQLite

/// An event of a run other than a verdict: what a report shows about returns, users and limits.
package struct Finding: Sendable, Hashable {
  /// What sort of thing it is.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A return was validated, and its edits are in the ledger.
    case returnAccepted
    /// A return that the ledger already had.
    case returnKnown
    /// A return was refused and moved to the quarantine.
    case returnQuarantined
    /// A file was left in the inbox, with the reason.
    case returnLeft
    /// A user's snapshot could not be primed.
    case userSkipped
    /// A snapshot may lack records, because a rule failed in the org or records could not be read.
    case incomplete
    /// More records would have been removed from a soup than the guard allows; none were removed.
    case removalsHeld
    /// More edits would have been sent than the guard allows.
    case changesHeld
    /// Information for the operator about something that stopped nothing.
    case warning

    /// Whether the finding is reported until it is resolved.
    package var wantsPerson: Bool {
      switch self {
      case .returnQuarantined, .returnLeft, .userSkipped, .incomplete, .removalsHeld,
        .changesHeld:
        true
      case .returnAccepted, .returnKnown, .warning: false
      }
    }
  }

  /// Which findings are asked for.
  package enum Selection: Sendable {
    /// Those that need review.
    case open
    /// Those that a run made.
    case made(by: String)
    /// Those of a kind about a subject that a run made.
    case about(Kind, String, by: String)
    /// Those that a run's report is the first to show.
    case shown(by: String)
    /// Those of earlier reports that needed review when this run's report was written.
    case left(before: RunRow)
  }

  package var kind: Kind
  /// The subject: a file's digest or path, a user name, or a snapshot.
  ///
  /// A run has one finding for each kind and subject.
  package var subject: String
  /// The details, as in `report.json`.
  package var detail: JSONObject
  /// The run that made the finding.
  package var run: String
  /// The run's clock, in ms of the org's time.
  package var time: Int64

  package init(kind: Kind, subject: String, detail: JSONObject, run: String, time: Int64) {
    (self.kind, self.subject, self.detail) = (kind, subject, detail)
    (self.run, self.time) = (run, time)
  }

  package func text(_ name: String) -> String? { detail[name]?.string }
}

extension LedgerDatabase {
  /// Records a finding of a run.
  ///
  /// For each kind and subject a run keeps only the latest, and it replaces an open finding of an
  /// earlier run, so that one user or file is not counted twice.
  package func note(
    _ kind: Finding.Kind, _ subject: String, _ detail: JSONObject, run: String
  ) throws {
    try connection.run(
      """
      INSERT INTO finding (run_id, kind, subject, detail) VALUES
        (\(run), \(kind.rawValue), \(subject), \(JSONValue.object(detail).text))
      ON CONFLICT (run_id, kind, subject) DO UPDATE SET detail = excluded.detail, settled_by = NULL
      """)
    try connection.run(
      """
      UPDATE finding SET settled_by = \(run) WHERE settled_by IS NULL
        AND kind = \(kind.rawValue) AND subject = \(subject) AND NOT run_id = \(run)
      """)
  }

  /// Resolves the findings of a kind about a subject that was processed or no longer exists; without
  /// a subject, those of earlier runs, because this run has checked everything again.
  package func settleFindings(
    _ kind: Finding.Kind, subject: String? = nil, by run: String
  ) throws {
    let isMeant: SQL = subject.map { "subject = \($0)" } ?? "run_id <> \(run)"
    try connection.run(
      """
      UPDATE finding SET settled_by = \(run)
      WHERE kind = \(kind.rawValue) AND \(isMeant) AND settled_by IS NULL
      """)
  }

  /// The selected findings, in order of creation.
  package func findings(_ which: Finding.Selection) throws -> [Finding] {
    let condition: SQL =
      switch which {
      case .open: "f.settled_by IS NULL"
      case .made(let run): "f.run_id = \(run)"
      case .about(let kind, let subject, let run):
        "f.run_id = \(run) AND f.kind = \(kind.rawValue) AND f.subject = \(subject)"
      case .shown(let run): "f.reported_by = \(run)"
      case .left(let run):
        """
        (SELECT m.number FROM run m WHERE m.id = f.reported_by) < \(run.number)
        AND (f.settled_by IS NULL
          OR (SELECT s.number FROM run s WHERE s.id = f.settled_by) > \(run.number))
        """
      }
    let needsReview =
      switch which {
      case .open, .left: true
      case .made, .about, .shown: false
      }
    let rows = try connection.all(
      """
      SELECT f.kind, f.subject, f.detail, f.run_id, n.now_ms
      FROM finding f JOIN run n ON n.id = f.run_id WHERE \(condition) ORDER BY n.number, f.id
      """)
    return try rows.compactMap { row in
      // A kind from a later version.
      guard let kind = Finding.Kind(rawValue: row[0].text ?? ""), kind.wantsPerson || !needsReview
      else { return nil }
      return Finding(
        kind: kind, subject: row[1].text ?? "",
        detail: try parse(row[2].text, "a finding").object ?? [:], run: row[3].text ?? "",
        time: row[4].integer ?? 0)
    }
  }
}

extension Finding {
  /// A short name of the finding's state for reports.
  package var state: String {
    switch kind {
    case .returnAccepted: "accepted"
    case .returnKnown: "known"
    case .returnQuarantined: "quarantined"
    case .returnLeft: "left in the inbox"
    case .userSkipped: "skipped"
    case .incomplete: "incomplete"
    case .removalsHeld: "removals held"
    case .changesHeld: "changes held"
    case .warning: "warning"
    }
  }
}
