/// The limit on requests to an org.
package struct APIBudget: Sendable, Hashable {
  /// The maximum number of requests per run; nil for as many as the org allows.
  package var perRun: Int?
  /// The percentage of the org's daily requests that is left for other users.
  package var leaveForOthersPercent: Int

  /// The error code if no request is left for this client; no org returns it.
  package static let code = "API_BUDGET"
  /// The error code if the run's own budget is exhausted; no org returns it.
  package static let runCode = "RUN_BUDGET"

  package init(perRun: Int? = nil, leaveForOthersPercent: Int = 10) {
    self.perRun = perRun
    self.leaveForOthersPercent = leaveForOthersPercent
  }

  /// The number of requests still allowed; nil if neither the run nor the org has a known limit.
  package func left(made: Int, usage: APIUsage?) -> Int? {
    let ofOrg = usage.map { max(0, mostUsed(of: $0) - $0.used) }
    return [perRun.map { max(0, $0 - made) }, ofOrg].compactMap(\.self).min()
  }

  /// The number of the org's daily requests, by any user, up to which the run may send more.
  private func mostUsed(of usage: APIUsage) -> Int {
    let reserve =
      usage.maximum / 100 * leaveForOthersPercent
      + usage.maximum % 100 * leaveForOthersPercent / 100
    return usage.maximum - reserve
  }

  /// The error code of a refusal after `made` requests.
  package func code(made: Int) -> String {
    perRun.map { made >= $0 } == true ? Self.runCode : Self.code
  }

  /// The reason that no further request is allowed; nil if one is.
  package func refusal(made: Int, usage: APIUsage?) -> String? {
    if let perRun, made >= perRun { return "the run's budget of \(perRun) requests is exhausted" }
    guard let usage, usage.used >= mostUsed(of: usage) else { return nil }
    return "the org counts \(usage.used) of \(usage.maximum) requests today, and "
      + "\(leaveForOthersPercent)% are left for other users"
  }
}
