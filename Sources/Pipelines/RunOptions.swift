import Ledger
import Reconciliation
import Salesforce

/// What one call of a pipeline is to do; the command line's side of it.
package struct RunOptions: Sendable {
  /// The stages to do, in their own order.
  package var stages: Set<Stage> = Set(Stage.allCases)
  /// Only these users' snapshots (usernames); empty for all.
  package var users: Set<String> = []
  /// Returns to ingest that are named one by one; empty for the inbox.
  package var files: [String] = []
  /// The snapshot and generation of a named return that lost its stamp.
  package var asSnapshot: (id: String, generation: Int)?
  /// Shows what would be done, and does nothing.
  package var isDryRun = false
  /// Where a dry run leaves the report that it foresees; nil for nowhere.
  package var rehearsal: String?
  /// The share of a soup that may be removed as ghosts in this run; nil for the pipeline's own.
  package var maxDeletes: Percentage?
  /// The digests of plans that a person confirmed.
  package var confirmed: Set<String> = []
  /// Edits of an earlier run to take up again.
  package var retry: Retry?
  /// What a run has changed in the org and is to be undone.
  package var undo: Undo?
  /// The only edits that a reconciliation takes up; nil for all that are open.
  package var only: Set<Int64>?
  /// What a dry run takes for decided, by whom.
  package var decisions: [EditDecision] = []
  /// Who asks for it: the name that stands beside decisions.
  package var by = ""
  /// Ends the run after so many seconds; nil for the pipeline's own limit.
  package var deadlineSeconds: Int?
  /// The most requests of this run, where the pipeline allows more; nil for what it allows.
  package var apiBudget: Int?
  /// How a request that failed waits for its repeat.
  package var retryPause = RetryPause.real

  /// Edits of an earlier run, by what became of them.
  package struct Retry: Sendable {
    /// The run's name.
    package var run: String
    /// What became of the edits.
    package var verdicts: Set<Verdict>

    /// Edits of a run.
    package init(run: String, verdicts: Set<Verdict>) {
      (self.run, self.verdicts) = (run, verdicts)
    }
  }

  /// Edits whose changes are to be undone.
  package struct Undo: Sendable {
    /// The run that made them.
    package var run: String
    /// The edits.
    package var edits: [Int64]
  }

  /// Whether a user's snapshot is to be primed and packed.
  func serves(_ username: String) -> Bool {
    users.isEmpty || users.contains { $0.lowercased() == username.lowercased() }
  }

  /// The whole pipeline.
  package init() {}
}
