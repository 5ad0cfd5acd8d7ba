import JSON
import SQLite

/// Something besides the verdicts that a run came upon: what a report tells of returns, users and
/// limits.
package struct Finding: Sendable, Hashable {
  /// What sort of thing it is.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A return was proved, and its edits are in the ledger.
    case returnAccepted
    /// A return that was there before.
    case returnKnown
    /// A return was refused and lies in the quarantine.
    case returnQuarantined
    /// A file stays in the inbox, and why.
    case returnLeft
    /// A user's snapshot could not be primed.
    case userSkipped
    /// A snapshot may lack records: a rule failed in the org, or records could not be read.
    case incomplete
    /// More records would have left a soup than the guard allows; they are still there.
    case removalsHeld
    /// More edits would have been sent than the guard allows.
    case changesHeld
    /// What a person should know and that stopped nothing.
    case warning

    /// Says whether it stays in sight until it is settled.
    package var wantsPerson: Bool {
      switch self {
      case .returnQuarantined, .returnLeft, .userSkipped, .incomplete, .removalsHeld,
        .changesHeld:
        true
      case .returnAccepted, .returnKnown, .warning: false
      }
    }
  }

  /// What sort of thing it is.
  package var kind: Kind
  /// What it is about: a file's digest or path, a user name, a snapshot.
  ///
  /// Of one kind and subject a run has one finding.
  package var subject: String
  /// What there is to say, as `report.json` has it.
  package var detail: JSONObject
  /// The run that found it.
  package var run: String
  /// That run's clock, in ms of the org's time.
  package var time: Int64

  /// A finding.
  package init(kind: Kind, subject: String, detail: JSONObject, run: String, time: Int64) {
    (self.kind, self.subject, self.detail) = (kind, subject, detail)
    (self.run, self.time) = (run, time)
  }

  /// A text of the detail.
  package func text(_ name: String) -> String? { detail[name]?.string }
}

extension LedgerDatabase {
  /// Keeps a finding of a run; of one kind and subject a run has one, the last.
  package func note(
    _ kind: Finding.Kind, _ subject: String, _ detail: JSONObject, run: String
  ) throws {
    try connection.run(
      """
      INSERT INTO finding (run_id, kind, subject, detail) VALUES
        (\(run), \(kind.rawValue), \(subject), \(JSONValue.object(detail).text))
      ON CONFLICT (run_id, kind, subject) DO UPDATE SET detail = excluded.detail, settled_by = NULL
      """)
  }

  /// Says whether a run has found something of a kind about a subject.
  package func hasFound(_ kind: Finding.Kind, _ subject: String, run: String) throws -> Bool {
    try connection.integer(
      """
      SELECT 1 FROM finding
      WHERE run_id = \(run) AND kind = \(kind.rawValue) AND subject = \(subject)
      """) != nil
  }

  /// Settles the findings of a kind about a subject: it was served, or is gone.
  package func settleFindings(_ kind: Finding.Kind, subject: String, by run: String) throws {
    try connection.run(
      """
      UPDATE finding SET settled_by = \(run)
      WHERE kind = \(kind.rawValue) AND subject = \(subject) AND settled_by IS NULL
      """)
  }

  /// Settles what earlier runs found of a kind: this run has looked at everything again.
  package func settleEarlierFindings(_ kind: Finding.Kind, by run: String) throws {
    try connection.run(
      """
      UPDATE finding SET settled_by = \(run)
      WHERE kind = \(kind.rawValue) AND run_id <> \(run) AND settled_by IS NULL
      """)
  }

  /// The findings that wait for a person, oldest first.
  package func openFindings() throws -> [Finding] {
    try findings("f.settled_by IS NULL").filter(\.kind.wantsPerson)
  }

  /// The findings that a condition on `f` selects, in the order in which they were made.
  package func findings(_ condition: SQL) throws -> [Finding] {
    let rows = try connection.all(
      """
      SELECT f.kind, f.subject, f.detail, f.run_id, n.now_ms
      FROM finding f JOIN run n ON n.id = f.run_id WHERE \(condition) ORDER BY n.number, f.id
      """)
    return try rows.compactMap { row in
      // Of a kind that a later version knows.
      guard let kind = Finding.Kind(rawValue: row[0].text ?? "") else { return nil }
      return Finding(
        kind: kind, subject: row[1].text ?? "",
        detail: try parse(row[2].text, "a finding").object ?? [:], run: row[3].text ?? "",
        time: row[4].integer ?? 0)
    }
  }
}

extension Finding {
  /// What it is in a word or two, as reports name it.
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
