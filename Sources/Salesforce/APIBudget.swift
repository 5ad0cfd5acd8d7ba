/// How many requests may be made.
package struct APIBudget: Sendable, Hashable {
  /// The most requests of one run; nil for as many as the org allows.
  package var perRun: Int?
  /// The share of the org's daily requests that is left alone, for everybody else.
  package var leaveForOthersPercent: Int

  /// A budget.
  package init(perRun: Int? = nil, leaveForOthersPercent: Int = 10) {
    self.perRun = perRun
    self.leaveForOthersPercent = leaveForOthersPercent
  }

  /// Why no further request may be made, nil if one may.
  func refusal(made: Int, usage: APIUsage?) -> String? {
    if let perRun, made >= perRun { return "the run's budget of \(perRun) requests is used up" }
    guard let usage, usage.maximum > 0 else { return nil }
    let reserve =
      usage.maximum / 100 * leaveForOthersPercent
      + usage.maximum % 100 * leaveForOthersPercent / 100
    guard usage.used >= usage.maximum - reserve else { return nil }
    return "the org counts \(usage.used) of \(usage.maximum) requests today, and "
      + "\(leaveForOthersPercent)% are left for others"
  }
}
