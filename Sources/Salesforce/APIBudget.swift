/// How many requests may be made.
package struct APIBudget: Sendable, Hashable {
  /// The most requests of one run; nil for as many as the org allows.
  package var perRun: Int?
  /// The share of the org's daily requests that is left alone, for everybody else.
  package var leaveForOthersPercent: Int

  /// The code of the error where a budget is used up; no org gives it.
  package static let code = "API_BUDGET"

  /// A budget.
  package init(perRun: Int? = nil, leaveForOthersPercent: Int = 10) {
    self.perRun = perRun
    self.leaveForOthersPercent = leaveForOthersPercent
  }

  /// How many requests may be made still; nil where neither the run nor the org has a limit that is known.
  package func left(made: Int, usage: APIUsage?) -> Int? {
    let ofOrg = usage.map { max(0, mostUsed(of: $0) - $0.used) }
    return [perRun.map { max(0, $0 - made) }, ofOrg].compactMap(\.self).min()
  }

  /// How many of the org's daily requests may be used, by whomever, before the run leaves the rest to others.
  private func mostUsed(of usage: APIUsage) -> Int {
    let reserve =
      usage.maximum / 100 * leaveForOthersPercent
      + usage.maximum % 100 * leaveForOthersPercent / 100
    return usage.maximum - reserve
  }

  /// Why no further request may be made, nil if one may.
  package func refusal(made: Int, usage: APIUsage?) -> String? {
    if let perRun, made >= perRun { return "the run's budget of \(perRun) requests is used up" }
    guard let usage, usage.used >= mostUsed(of: usage) else { return nil }
    return "the org counts \(usage.used) of \(usage.maximum) requests today, and "
      + "\(leaveForOthersPercent)% are left for others"
  }
}
