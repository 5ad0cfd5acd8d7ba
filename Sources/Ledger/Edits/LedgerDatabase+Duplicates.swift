import SQLite

// A creation has at most two records, but there can be more: late requests create some, and then
// the device sends the row itself. Each of them is in the report of an edit that stays open until
// an operator decides. An edit that reports several has all of them as candidates.
extension LedgerDatabase {
  /// The records that an edit was reported with because of its duplicate: that of the edit, the first
  /// other one found, and further ones.
  package typealias Twins = (first: String, second: String, others: [String])

  /// The duplicate that an edit with the given alias was last reported with; null if there is none.
  private static func reportedDuplicate(of edit: String, _ member: String = "otherId") -> SQL {
    """
    (SELECT x.detail ->> \(raw: SQL.quoted(text: "$." + member)) FROM outcome x JOIN run n ON n.id = x.run_id
      WHERE x.edit_id = \(raw: edit).id AND x.verdict = \(Verdict.duplicateCreated)
      ORDER BY n.number DESC LIMIT 1)
    """
  }

  /// Whether an edit with the given alias was last reported with several duplicates, of which its
  /// creation has one at most.
  private static func hasSeveral(_ edit: String) -> SQL {
    "(\(reportedDuplicate(of: edit, "candidates")) IS NOT NULL)"
  }

  /// Whether the creation of an edit `e` has the duplicate that the edit reports.
  ///
  /// A later edit of the row then reports it as well. A device that sent the row itself can have
  /// named another record.
  static let isDuplicateOfCreation: SQL = """
    (e.verdict IS \(Verdict.duplicateCreated) AND NOT \(hasSeveral("e")) AND EXISTS (
      SELECT 1 FROM creation c WHERE c.id = e.creation_id
        AND \(reportedDuplicate(of: "e")) IN (c.record_id, c.device_record_id)))
    """

  /// Whether an edit `e` reports a duplicate that its creation no longer has, so that a later edit
  /// of the row does not report it.
  static let isOfThirdRecord: SQL = """
    (e.verdict IS \(Verdict.duplicateCreated) AND EXISTS (
      SELECT 1 FROM creation c WHERE c.id = e.creation_id AND c.chosen_id IS NULL
        AND (\(hasSeveral("e")) OR \(reportedDuplicate(of: "e")) NOT IN (
          coalesce(c.record_id, ''), coalesce(c.device_record_id, '')))))
    """

  /// Whether no edit other than `e` reports its duplicate: neither one that is open or was decided,
  /// nor one that a run is still to process.
  private static let isOnlyReport: SQL = """
    EXISTS (SELECT 1 FROM creation c WHERE c.id = e.creation_id AND c.chosen_id IS NULL
      AND \(reportedDuplicate(of: "e")) IS NOT NULL AND (\(hasSeveral("e")) OR NOT EXISTS (
        SELECT 1 FROM edit f WHERE f.creation_id = c.id AND f.id <> e.id
          AND f.verdict IS NOT \(Verdict.superseded) AND CASE
            WHEN \(reportedDuplicate(of: "f")) IS NOT NULL
              THEN \(reportedDuplicate(of: "f")) = \(reportedDuplicate(of: "e"))
            ELSE f.state <> 'closed' AND f.finding IS NULL AND c.record_id <> c.device_record_id
              AND \(reportedDuplicate(of: "e")) IN (c.record_id, c.device_record_id) END)))
    """

  /// Whether an edit `e` is open and its duplicate is in no other edit's report.
  static let isNeededReport: SQL = """
    (e.verdict IS \(Verdict.duplicateCreated) AND \(isOnlyReport))
    """

  /// Reopens superseded edits whose duplicate no other edit reports any more: the edit that
  /// superseded them was itself superseded, or the device named a third record.
  func reopenDuplicates() throws {
    let rows = try connection.all(
      """
      SELECT max(e.id) FROM creation c INDEXED BY creation_by_device_record
        CROSS JOIN edit e ON e.creation_id = c.id
      WHERE c.device_record_id IS NOT NULL AND c.chosen_id IS NULL
        AND e.state = 'closed' AND e.verdict = \(Verdict.superseded) AND \(Self.isOnlyReport)
      GROUP BY c.id, \(Self.reportedDuplicate(of: "e"))
      """)
    if rows.isEmpty { return }
    try connection.run(
      """
      UPDATE edit SET state = 'open', retries = retries + 1, superseded_by = NULL,
        verdict = \(Verdict.duplicateCreated)
      WHERE id IN (\(each: rows.compactMap { $0[0].integer }))
      """)
  }

  /// The records of an edit with a duplicate, as last reported; nil if none were reported.
  ///
  /// With `ifOpen`, also nil if the edit is no longer open because of its duplicate, or an operator
  /// has chosen one of a creation's records since.
  package func toldTwins(of edit: Int64, ifOpen: Bool = false) throws -> Twins? {
    let row = try connection.first(
      """
      SELECT x.detail FROM outcome x JOIN run n ON n.id = x.run_id
      WHERE x.edit_id = \(edit) AND x.verdict = \(Verdict.duplicateCreated)
        AND (NOT \(ifOpen) OR EXISTS (SELECT 1 FROM edit e JOIN creation c ON c.id = e.creation_id
          WHERE e.id = x.edit_id AND e.verdict = x.verdict AND c.chosen_id IS NULL))
      ORDER BY n.number DESC LIMIT 1
      """)
    guard let row else { return nil }
    let detail = OutcomeDetail(json: try parse(row[0].text, "a verdict"))
    guard let first = detail.recordID, let second = detail.otherID else { return nil }
    return (first, second, detail.candidates.filter { $0 != first && $0 != second })
  }

  /// How reports have named a record to an edit: as its duplicate, and as a candidate for its
  /// creation before an operator decided about the edit.
  package func reported(
    _ recordID: String, of edit: Int64
  ) throws -> (isDuplicate: Bool, isPassedOver: Bool) {
    let row = try connection.first(
      """
      SELECT max(x.verdict = \(Verdict.duplicateCreated) AND \(Self.names(recordID))),
        max(EXISTS (SELECT 1 FROM json_each(x.detail, '$.candidates') WHERE value = \(recordID))
          AND EXISTS (SELECT 1 FROM decision d JOIN run m ON m.id = d.run_id
            WHERE d.edit_id = x.edit_id AND d.state = 'done' AND m.number > n.number))
      FROM outcome x JOIN run n ON n.id = x.run_id WHERE x.edit_id = \(edit)
      """)
    return (row?[0].integer == 1, row?[1].integer == 1)
  }

  /// Whether a record is another one than those that creates without an answer may have made: it
  /// was issued before, and a create was sent for an edit of it, or a report has named it as the
  /// duplicate of some edit.
  func isToldApart(_ recordID: String) throws -> Bool {
    try connection.integer(
      """
      SELECT EXISTS (SELECT 1 FROM operation o JOIN edit e ON e.id = o.edit_id
            JOIN returned r ON r.id = e.return_id
          WHERE e.record_id = \(recordID) AND o.action = 'create' AND \(Self.isIssuedBeforeCreates))
        OR EXISTS (SELECT 1 FROM outcome WHERE \(raw: LedgerSchema.isUnsettledOutcome)
          AND verdict = \(Verdict.duplicateCreated) AND \(Self.names(recordID)))
      """) == 1
  }

  /// Whether the `detail` of an outcome names a record as a duplicate.
  private static func names(_ recordID: String) -> SQL {
    """
    (detail ->> '$.otherId' = \(recordID)
      OR EXISTS (SELECT 1 FROM json_each(detail, '$.candidates') WHERE value = \(recordID)))
    """
  }
}
