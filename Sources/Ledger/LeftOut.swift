/// Rules that a test disables to show that its histories need them; programs apply all of them.
package enum LeftOut {
  /// A rule that prevents edits from being lost, duplicated or left unreported.
  package enum Rule: String, Sendable, CaseIterable {
    /// A later edit of a device replaces one that waits for review.
    case laterEdits
    /// A create without an answer is looked for among the records that its sender created, not only
    /// by matching values.
    case unacknowledgedCreates
    /// A device that was restored from a backup is a fork.
    case forks
    /// The next run reports the verdicts of an interrupted run.
    case verdictsOfDeadRuns
  }

  /// The rules disabled in this task.
  @TaskLocal package static var rules: Set<Rule> = []
}
