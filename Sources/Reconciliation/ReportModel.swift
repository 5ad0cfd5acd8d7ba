import JSON
import Ledger

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
  /// Whether the ledger has an Id of its record.
  var hasRecord = true
  /// Whether the row in the device's store could be read.
  var isReadable = true
  /// The run that gave the verdict.
  package var run = ""
  /// The run that gave the edit its first verdict: the one that found it.
  package var foundBy = ""
  /// That run's clock, in ms of the org's time.
  package var foundAt: Int64 = 0

  /// Its object, and the record by an Id, by the device's own id, or by its row.
  package var recordName: String {
    "\(sobject ?? soup) \(recordID ?? localID ?? "row \(soupEntryID)")"
  }

  /// Whose store it came from.
  package var owner: String { username ?? Self.globalOwner }

  /// What stands for a user where the store is everybody's.
  static let globalOwner = "the global store"

  /// What a person may decide about it.
  package var possible: [Decision.Kind] {
    DecisionRule.possible(
      .init(
        verdict: verdict, operation: operation, hasRecord: hasRecord, isReadable: isReadable))
  }

  /// The commands that decide about it, the likeliest first; a value and an id are to be put in.
  package func commands(pipeline: String) -> [String] {
    possible.map { "attache decide \(pipeline) \(number) \($0.option)" }
  }

  /// The member of an element by which a person would call its record.
  static func title(of element: JSONObject) -> FieldDifference? {
    for name in ["Name", "Subject", "LastName", "Title", "CaseNumber", "WorkOrderNumber"] {
      if let value = element[name], let text = value.string, !text.isEmpty {
        return FieldDifference(name: name, base: nil, device: value, server: nil)
      }
    }
    return nil
  }
}

/// Everything that a report says about a run: a question to the ledger, the same answer each time.
///
/// A verdict is news in one report, that of the run that gave it, or of the next one where that run
/// died. An edit that is not settled by it stands in every later report too, among those that are
/// still open, until it is settled; those are counted apart.
package struct ReportModel: Sendable {
  /// The run.
  package let run: RunRow
  /// The org of the ledger.
  package let organizationID: String
  /// Every edit whose verdict is news, in order of arrival.
  package let edits: [ReportEdit]
  /// The edits that earlier reports have shown and that are not settled yet, in order of arrival.
  package let stillOpen: [ReportEdit]
  /// What else the run found, and runs before it that nobody told of.
  package let findings: [Finding]
  /// What earlier reports have told besides verdicts and what waits for a person still.
  package let earlierFindings: [Finding]

  /// The model of a run's report; of a run that has none, because it died, what is known of it.
  package init(state: LedgerDatabase, run id: String) throws {
    guard let run = try state.run(id: id) else { throw LedgerError.unknownRun(id) }
    self.run = run
    organizationID = try state.organizationID ?? ""
    guard run.hasReport else {
      edits = try state.settled(by: id)
      (stillOpen, earlierFindings) = ([], [])
      findings = try state.findings("f.run_id = \(id)")
      return
    }
    let shown = try state.newlyReported(by: id)
    let count = try state.reportedCount(run: id)
    guard shown.count == count else {
      throw LedgerError.unaccounted(run: id, edits: count, verdicts: shown.count)
    }
    let repeated = try state.repeated(in: run)
    edits = shown.filter { !repeated.contains($0.number) }
    let news = Set(edits.map(\.number))
    stillOpen = try state.unsettled(upTo: run).filter { !news.contains($0.number) }
    findings = try state.newFindings(report: id)
    earlierFindings = try state.earlierFindings(report: run)
  }

  /// How many edits have which verdict; they add up to the edits.
  package var counts: [Verdict: Int] { Self.counts(edits) }

  /// How many edits of earlier reports are still open, by verdict.
  package var openCounts: [Verdict: Int] { Self.counts(stillOpen) }

  private static func counts(_ edits: [ReportEdit]) -> [Verdict: Int] {
    edits.reduce(into: [:]) { $0[$1.verdict, default: 0] += 1 }
  }

  /// How many whole days before the run an edit or a finding was found.
  package func ageDays(since time: Int64) -> Int {
    Int(max(0, run.now - time) / (24 * 60 * 60 * 1000))
  }

  /// The findings of some kinds, of this report or of earlier ones.
  package func findings(_ kinds: Set<Finding.Kind>, earlier: Bool = false) -> [Finding] {
    (earlier ? earlierFindings : findings).filter { kinds.contains($0.kind) }
  }

  /// Says whether there is anything to write a report for.
  package var isWorthTelling: Bool {
    !edits.isEmpty || !stillOpen.isEmpty || !earlierFindings.isEmpty
      || findings.contains { $0.kind.wantsPerson }
  }

  /// How many decisions came to what, of those that the edits tell of.
  package var decisions: [DecisionNote.Fate: Int] {
    edits.reduce(into: [:]) { counts, edit in
      if let fate = edit.detail.decision?.fate { counts[fate, default: 0] += 1 }
    }
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
