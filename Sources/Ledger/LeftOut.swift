/// Rules that a test leaves out, to show that its histories need them; every program has them all.
package enum LeftOut {
  /// A rule that keeps edits from being lost, doubled or passed over in silence.
  package enum Rule: String, Sendable, CaseIterable {
    /// A later edit of a phone replaces one that waits for a person.
    case laterEdits
    /// A create without an answer is looked for by what its sender has made, not by likeness alone.
    case unacknowledgedCreates
    /// A phone that was restored from a backup is a fork.
    case forks
    /// The verdicts of a run that died are told by the next.
    case verdictsOfDeadRuns
  }

  /// What is left out in this task.
  @TaskLocal package static var rules: Set<Rule> = []
}
