import JSON
import Ledger
import MobileSync

/// The content of a run's report, queried from the ledger; the result is always the same.
///
/// A verdict is new in one report: that of its run, or the next one if the run was interrupted. An
/// unresolved edit is also in every later report, among the edits that are still open, until it is
/// resolved; these are counted separately.
package struct ReportModel {
  package let run: RunRow
  /// The name of the pipeline in commands.
  package let called: String
  package let organizationID: String
  package let names: OrgNames
  /// The names of the pipeline's users, by ID.
  package let usernames: [String: String]
  /// The edits with new verdicts.
  package var edits: ReportEdits
  /// The unresolved edits from earlier reports.
  package var stillOpen: ReportEdits
  /// The other findings of the run, and unreported ones from earlier runs.
  package let findings: [Finding]
  /// The findings of earlier reports that still need review.
  package let earlierFindings: [Finding]
  /// The runs before this one, oldest first, fewer than `EarlierRun.most`; none in the report of one
  /// user.
  package var history: [EarlierRun]
  /// Whether the report is of a dry run, in which nothing was sent.
  package let isRehearsal: Bool

  /// The model of a run's report; for a run that was interrupted before its report, whatever is
  /// known about it.
  ///
  /// - Parameters:
  ///   - called: The name of the pipeline in commands, quoted for a shell.
  ///   - user: Limits the report to this user's devices; nil for all.
  ///   - isRehearsal: Whether the report is of a dry run; IDs that are not from the org are left
  ///     out.
  package init(
    state: LedgerDatabase, run id: String, called: String, user: String? = nil,
    isRehearsal: Bool = false
  ) throws {
    guard let run = try state.run(id: id) else { throw LedgerError.unknownRun(id) }
    self.run = run
    self.called = called
    self.isRehearsal = isRehearsal
    organizationID = try state.organizationID ?? ""
    usernames = try state.snapshotRows().usernames
    let earlier =
      user == nil ? try state.runs(limit: EarlierRun.most - 1, before: run.number) : []
    history = earlier.reversed().compactMap { EarlierRun($0) }
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
      findings = part(try state.findings(.made(by: id)))
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
    findings = part(try state.findings(.shown(by: id)))
    earlierFindings = part(try state.findings(.left(before: run)))
  }

  /// The number of whole days between an edit or finding and the run.
  package func ageDays(since time: Int64) -> Int {
    Int(max(0, run.now - time) / (24 * 60 * 60 * 1000))
  }

  /// The findings of some kinds, in this report or in earlier ones.
  package func findings(_ kinds: Set<Finding.Kind>, earlier: Bool = false) -> [Finding] {
    (earlier ? earlierFindings : findings).filter { kinds.contains($0.kind) }
  }

  /// Whether there is anything to report.
  package var isWorthTelling: Bool {
    !edits.isEmpty || !stillOpen.isEmpty || !earlierFindings.isEmpty
      || findings.contains { $0.kind.wantsPerson }
  }

  /// The events before this report, in order of time.
  ///
  /// A device's clock cannot put its edits after their return, and the run comes last.
  package var timeline: [ReportMoment] {
    var run = ReportMoment(kind: .run, name: "", from: self.run.now, to: self.run.now)
    run.count = edits.count
    let before = edits.totals.moments.sorted {
      ($0.place, $0.kind.rawValue, $0.to, $0.name) < ($1.place, $1.kind.rawValue, $1.to, $1.name)
    }
    return before + [run]
  }

  package var everybody: [String] {
    let names = edits.totals.usernames.union(stillOpen.totals.usernames)
    return names.union((findings + earlierFindings).compactMap { $0.text("username") }).sorted()
  }
}
