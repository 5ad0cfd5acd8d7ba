import JSON
import Ledger
import MobileSync

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
  /// Where people open the org, without a slash at its end; empty where no run has told it.
  package let instance: String
  /// What the org calls its objects, by API name, as far as the ledger knows.
  package let labels: [String: String]
  /// The user names of the pipeline's users, by their Ids.
  package let usernames: [String: String]
  /// Every edit whose verdict is news, in order of arrival.
  package internal(set) var edits: [ReportEdit]
  /// The edits that earlier reports have shown and that are not settled yet, in order of arrival.
  package internal(set) var stillOpen: [ReportEdit]
  /// What else the run found, and runs before it that nobody told of.
  package internal(set) var findings: [Finding]
  /// What earlier reports have told besides verdicts and what waits for a person still.
  package internal(set) var earlierFindings: [Finding]
  /// Says that nothing was sent: a dry run tells what it foresees.
  package private(set) var isRehearsal = false

  /// The model of a run's report; of a run that has none, because it died, what is known of it.
  package init(state: LedgerDatabase, run id: String) throws {
    guard let run = try state.run(id: id) else { throw LedgerError.unknownRun(id) }
    self.run = run
    organizationID = try state.organizationID ?? ""
    instance = try state.instance ?? ""
    labels = try state.labels()
    usernames = try state.usernames()
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

  /// The model of a dry run's report, which says so; Ids that the org has never given are left out.
  package static func rehearsal(state: LedgerDatabase, run id: String) throws -> ReportModel {
    var model = try ReportModel(state: state, run: id)
    model.isRehearsal = true
    for index in model.edits.indices {
      let edit = model.edits[index]
      if edit.recordID.map(PresumedWrites.isMade) == true { model.edits[index].recordID = nil }
      if edit.detail.recordID.map(PresumedWrites.isMade) == true {
        model.edits[index].detail.recordID = nil
      }
    }
    return model
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
}
