/// What to do when a briefcase rule failed in the org.
package enum RuleErrorPolicy: String, Sendable, Hashable, CaseIterable {
  /// Keep every record that is there, and warn.
  case keepAndWarn
  /// Fail the run.
  case fail

  /// What is done unless somebody says otherwise.
  package static let standard = keepAndWarn

  /// The warning about rules that failed, nil where none did; under `fail` they are an error.
  ///
  /// What those rules would have given is missing in the list, so that `BriefcaseListing.remoteIDs` takes
  /// nothing for gone.
  func warning(ofFailed rules: [String]) throws(SyncError) -> String? {
    if rules.isEmpty { return nil }
    let words = "the org could not run the briefcase rules " + rules.joined(separator: ", ")
    switch self {
    case .keepAndWarn: return words + "; records may be missing, so none was removed"
    case .fail:
      throw SyncError(
        .ruleErrors, words,
        fix: "mend the rules in Briefcase Builder, or set onRuleErrors to keepAndWarn")
    }
  }
}
