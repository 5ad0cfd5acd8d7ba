import JSON
import SQLite

/// One edit as a report tells of it.
package struct ReportEdit: Sendable, Hashable {
  /// Its number in the ledger.
  package var number: Int64
  /// What became of it.
  package var verdict: Verdict
  /// What stands beside the verdict.
  package var detail: OutcomeDetail
  /// The snapshot's user; nil for the global snapshot.
  package var username: String?
  /// The store.
  package var store: StoreKey
  /// The soup.
  package var soup: String
  /// The row in the device's store.
  package var soupEntryID: Int64
  /// What the device did.
  package var operation: EditOperation
  /// The sObject.
  package var sobject: String?
  /// The record's Id in the org, if it has one.
  package var recordID: String?
  /// The device's own id of a record that it made.
  package var localID: String?
  /// The member of the element that names the record, and its value.
  package var title: FieldDifference?
  /// The file that it came in.
  package var source: String
  /// `ios` or `android`.
  package var platform: String
  /// The generation of the bundle.
  package var generation: Int64
  /// The element, where the words beside the verdict may quote it.
  var element: JSONObject?
  /// The number of the device within the ledger: the report's own name for a lineage.
  package var device: Int64
}

/// Everything that a report says about a run: a question to the ledger, the same answer each time.
package struct ReportModel: Sendable {
  /// The run.
  package let run: RunRow
  /// The org of the ledger.
  package let organizationID: String
  /// Every edit that the run took up, in order of arrival.
  package let edits: [ReportEdit]

  /// The model of a run.
  package init(state: StateDatabase, run id: String) throws {
    guard let run = try state.run(id: id) else { throw StateError.unknownRun(id) }
    self.run = run
    organizationID = try state.organizationID ?? ""
    edits = try state.reportEdits(run: id)
    let account = try state.account(run: id)
    guard account.edits == edits.count, counts == account.verdicts else {
      throw StateError.unaccounted(run: id, edits: account.edits, verdicts: edits.count)
    }
  }

  /// How many edits have which verdict; they add up to the edits.
  package var counts: [Verdict: Int] {
    edits.reduce(into: [:]) { $0[$1.verdict, default: 0] += 1 }
  }

  /// The counts of each soup, by store and name.
  package var soups: [(soup: SoupKey, counts: [Verdict: Int])] {
    var groups: [SoupKey: [Verdict: Int]] = [:]
    for edit in edits {
      groups[SoupKey(store: edit.store, soup: edit.soup), default: [:]][edit.verdict, default: 0] +=
        1
    }
    return groups.map { (soup: $0.key, counts: $0.value) }.sorted {
      ($0.soup.store.text, $0.soup.soup) < ($1.soup.store.text, $1.soup.soup)
    }
  }

  /// The edits of a verdict.
  package func edits(with verdict: Verdict) -> [ReportEdit] {
    edits.filter { $0.verdict == verdict }
  }
}

extension StateDatabase {
  /// The edits of a run's outcomes.
  func reportEdits(run: String) throws -> [ReportEdit] {
    var edits: [ReportEdit] = []
    try connection.rows(
      """
      SELECT e.id, x.verdict, x.detail, s.username, e.store, e.soup, e.entry_id, e.operation,
        e.sobject, coalesce(c.record_id, e.record_id), e.local_id, e.element, r.source_name,
        r.platform, r.generation, e.lineage_id
      FROM outcome x JOIN edit e ON e.id = x.edit_id JOIN returned r ON r.id = e.return_id
        LEFT JOIN snapshot s ON s.id = r.snapshot_id LEFT JOIN creation c ON c.id = e.creation_id
      WHERE x.run_id = \(run) ORDER BY e.id
      """
    ) { row in
      let detail = OutcomeDetail(json: try parse(row.text(2), "an outcome"))
      let element = Array(row.bytes(11))
      edits.append(
        ReportEdit(
          number: row.integer(0), verdict: Verdict(rawValue: row.text(1) ?? "") ?? .failed,
          detail: detail, username: row.text(3), store: StoreKey(text: row.text(4) ?? ""),
          soup: row.text(5) ?? "", soupEntryID: row.integer(6),
          operation: EditOperation(rawValue: row.text(7) ?? "") ?? .update, sobject: row.text(8),
          recordID: detail.recordID ?? row.text(9), localID: row.text(10),
          title: Self.title(element), source: row.text(12) ?? "",
          platform: row.text(13) ?? "", generation: row.integer(14),
          element: detail.message == nil ? nil : (try? JSONValue(parsing: element))?.object,
          device: row.integer(15)))
    }
    return edits
  }

  /// What a person would call the record.
  private static func title(_ element: [UInt8]) -> FieldDifference? {
    // A row that is no JSON has no name; its finding says so.
    guard let object = (try? JSONValue(parsing: element))?.object else { return nil }
    for name in ["Name", "Subject", "LastName", "Title", "CaseNumber", "WorkOrderNumber"] {
      if let value = object[name], let text = value.string, !text.isEmpty {
        return FieldDifference(name: name, base: nil, device: value, server: nil)
      }
    }
    return nil
  }
}
