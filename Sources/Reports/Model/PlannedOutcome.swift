import Ledger
import MobileSync
import SQLite

/// The expected outcome of one edit, from a dry run.
package struct PlannedOutcome: Sendable, Hashable {
  package var editID: Int64
  package var snapshotID: String
  package var soup: SoupKey
  package var sobject: String?
  package var recordID: String?
  /// The write that would be sent; nil if there is none.
  package var action: SyncUpAction?
  package var verdict: Verdict
  package var detail: OutcomeDetail

  package init(
    editID: Int64, snapshotID: String, soup: SoupKey, sobject: String? = nil,
    recordID: String? = nil, action: SyncUpAction? = nil, verdict: Verdict, detail: OutcomeDetail
  ) {
    self.editID = editID
    self.snapshotID = snapshotID
    self.soup = soup
    self.sobject = sobject
    self.recordID = recordID
    self.action = action
    self.verdict = verdict
    self.detail = detail
  }
}

extension LedgerDatabase {
  /// The outcomes of edits in a dry run, in order of arrival, including those from an interrupted
  /// earlier run that were not reported; `presumed` is where the dry run wrote to.
  package func plannedEdits(run: String, _ presumed: SimulatedOrg) throws -> [PlannedOutcome] {
    let rows = try connection.all(
      """
      SELECT x.edit_id, r.snapshot_id, e.store, e.soup, e.sobject, coalesce(e.record_id, e.local_id),
        x.verdict, x.detail,
        (SELECT o.action FROM operation o WHERE o.edit_id = e.id AND o.run_id = x.run_id
          AND o.sent_ms IS NOT NULL ORDER BY o.id DESC LIMIT 1)
      FROM outcome x JOIN edit e ON e.id = x.edit_id JOIN returned r ON r.id = e.return_id
      WHERE (x.run_id = \(run) OR x.reported_by IS NULL) AND x.run_id = (
        SELECT y.run_id FROM outcome y JOIN run n ON n.id = y.run_id WHERE y.edit_id = x.edit_id
        ORDER BY n.number DESC LIMIT 1)
      ORDER BY x.edit_id
      """)
    return try rows.compactMap { row in
      guard let id = row[0].integer, let verdict = Verdict(rawValue: row[6].text ?? "") else {
        return nil
      }
      var detail = OutcomeDetail(json: try parse(row[7].text ?? "{}", "a verdict"))
      // An invented ID does not name a record of the org.
      if let made = detail.recordID, presumed.hasMade(made) { detail.recordID = nil }
      return PlannedOutcome(
        editID: id, snapshotID: row[1].text ?? "",
        soup: SoupKey(store: StoreKey(text: row[2].text ?? ""), soup: row[3].text ?? ""),
        sobject: row[4].text, recordID: row[5].text,
        action: row[8].text.flatMap { SyncUpAction(rawValue: $0) }, verdict: verdict,
        detail: detail)
    }
  }
}
