/// What to do if a briefcase rule failed in the org.
package enum RuleErrorPolicy: String, Sendable, Hashable, CaseIterable {
  /// Keep all records and warn.
  case keepAndWarn
  /// Fail the run.
  case fail

  /// The default policy.
  package static let standard = keepAndWarn

  /// Returns the warning about failed rules, or nil if none failed; throws under `fail`.
  ///
  /// The records of those rules are missing from the list, so `BriefcaseListing.remoteIDs` reports
  /// nothing as removed.
  func warning(ofFailed rules: [String]) throws(SyncError) -> String? {
    if rules.isEmpty { return nil }
    let words = "the org could not run the briefcase rules " + rules.joined(separator: ", ")
    switch self {
    case .keepAndWarn: return words + "; records may be missing, so none was removed"
    case .fail:
      throw SyncError(
        .ruleErrors, words,
        fix: "fix the rules in Briefcase Builder, or set onRuleErrors to keepAndWarn")
    }
  }
}
