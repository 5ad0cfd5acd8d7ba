import JSON
import Ledger
import MobileSync

/// Everything that a report says about a run: a question to the ledger, the same answer each time.
///
/// A verdict is news in one report, that of the run that gave it, or of the next one where that run
/// died. An edit that is not settled by it stands in every later report too, among those that are
/// still open, until it is settled; those are counted apart.
package struct ReportModel {
  /// The run.
  package let run: RunRow
  /// The word that names the pipeline in a command.
  package let called: String
  /// The org of the ledger.
  package let organizationID: String
  /// What people call the things of the org.
  package let names: OrgNames
  /// The user names of the pipeline's users, by their Ids.
  package let usernames: [String: String]
  /// Every edit whose verdict is news.
  package var edits: ReportEdits
  /// The edits that earlier reports have shown and that are not settled yet.
  package var stillOpen: ReportEdits
  /// What else the run found, and runs before it that nobody told of.
  package let findings: [Finding]
  /// What earlier reports have told besides verdicts and what waits for a person still.
  package let earlierFindings: [Finding]
  /// The runs before this one, oldest first, at most `RunHistory.most`; none in the report of one user.
  package let history: [RunHistory]
  /// Says that nothing was sent: a dry run tells what it foresees.
  package let isRehearsal: Bool

  /// The model of a run's report; of a run that has none, because it died, what is known of it.
  ///
  /// - Parameters:
  ///   - called: The word that names the pipeline in a command, as a shell reads it.
  ///   - user: Only what this user's devices brought; nil for all.
  ///   - isRehearsal: The report is that of a dry run; Ids that the org has never given are left out.
  package init(
    state: LedgerDatabase, run id: String, called: String, user: String? = nil,
    isRehearsal: Bool = false
  ) throws {
    guard let run = try state.run(id: id) else { throw LedgerError.unknownRun(id) }
    self.run = run
    self.called = called
    self.isRehearsal = isRehearsal
    organizationID = try state.organizationID ?? ""
    usernames = try state.usernames()
    history = user == nil ? try state.runs(before: run.number).compactMap(RunHistory.init) : []
    names = try OrgNames(state)
    func edits(_ rows: [ReportEdits.Row]) throws -> ReportEdits {
      try ReportEdits(state, rows, user: user, isRehearsal: isRehearsal)
    }
    func part(_ findings: [Finding]) -> [Finding] {
      user.map { user in findings.filter { $0.text("username") == user } } ?? findings
    }
    guard run.hasReport else {
      self.edits = try edits(try state.settled(by: id))
      (stillOpen, earlierFindings) = (.none, [])
      findings = part(try state.findings("f.run_id = \(id)"))
      return
    }
    let count = try state.reportedCount(run: id)
    var news = try state.newlyReported(by: id, count: count)
    guard news.count == count else {
      throw LedgerError.unaccounted(run: id, edits: count, verdicts: news.count)
    }
    let repeated = try state.repeated(in: run)
    news.removeAll { repeated.contains($0.number) }
    self.edits = try edits(news)
    let numbers = Set(news.lazy.filter { !$0.verdict.isSettled }.map(\.number))
    stillOpen = try edits(try state.unsettled(upTo: run).filter { !numbers.contains($0.number) })
    findings = part(try state.newFindings(report: id))
    earlierFindings = part(try state.earlierFindings(report: run))
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
}
