import Ledger
import ObjectStore
import Salesforce
import System

/// The part of a run that this process performs.
package enum RunPart: Sendable, Hashable {
  case whole
  /// Everything up to the orders, which workers perform.
  case orders
  /// What follows when workers have performed the orders.
  case collect
}

/// The options of one execution of a pipeline.
package struct RunOptions: Sendable {
  /// The stages to run; they run in their own order.
  package var stages: Set<Stage> = Set(Stage.allCases)
  package var part = RunPart.whole
  /// The store of orders and results; nil for that of the pipeline.
  package var workStore: (any ObjectStore)?
  /// The users (by name) whose snapshots are served; empty for all.
  package var users: Set<String> = []
  /// The files to ingest; empty for the whole inbox.
  package var files: [String] = []
  /// The store from which returns are collected; nil for that of the pipeline.
  package var returnStore: (any ObjectStore)?
  /// The snapshot and generation of a named return that lost its stamp.
  package var asSnapshot: (id: String, generation: Int)?
  /// Whether to show the plan without doing anything.
  package var isDryRun = false
  /// The directory for a dry run's report; nil for none.
  package var rehearsal: String?
  /// The largest share of a soup that may be deleted as ghosts in this run; nil for the pipeline's
  /// setting.
  package var maxDeletes: Percentage?
  /// The digests of the plans that an operator confirmed.
  package var confirmed: Set<String> = []
  /// The changes of an earlier run to undo.
  package var undo: Undo?
  /// The only edits to reconcile; nil for all open ones.
  package var only: Set<Int64>?
  /// The decisions that a dry run assumes, made by `by`.
  package var decisions: [PendingDecision] = []
  /// The name of the operator, recorded with decisions.
  package var by = ""
  /// The limit in seconds after which the run stops; nil for the pipeline's limit.
  package var deadlineSeconds: Int?
  /// The maximum number of requests, if lower than the pipeline's limit; nil for that limit.
  package var apiBudget: Int?
  /// How retries wait.
  package var retryPause = RetryPause.real

  /// The edits whose changes are to be undone.
  package struct Undo: Sendable {
    /// The run that made the changes.
    package var run: String
    package var edits: [Int64]
  }

  /// Whether a user's snapshot is to be primed and packed.
  func serves(_ username: String) -> Bool {
    users.isEmpty || users.contains { $0.lowercased() == username.lowercased() }
  }

  /// Creates the options for the whole pipeline.
  package init() {}
}
