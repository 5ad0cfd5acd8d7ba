/// What to do when a briefcase rule failed in the org.
package enum RuleErrorPolicy: String, Sendable, Hashable, CaseIterable {
  /// Keep every record that is there, and warn.
  case keepAndWarn
  /// Fail the run.
  case fail
}
