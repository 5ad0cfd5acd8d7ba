import JSON
import Salesforce

/// The limits on the requests that a run may send to an org.
package struct BudgetSettings: Sendable, Hashable {
  /// The maximum number of requests in one run; nil for no such limit.
  package var perRun: Int?
  /// The share of the org's daily requests that is left to other clients.
  package var leaveForOthers = Percentage(APIBudget().leaveForOthersPercent)

  static let keys = ["perRun", "leaveForOthers"]

  init() {}

  init(_ object: ConfigurationObject) {
    perRun = object.optionalInt("perRun", in: 1...Int.max)
    leaveForOthers = object.percentage("leaveForOthers", default: leaveForOthers)
  }

  var json: JSONValue {
    JSONObject.of([
      ("perRun", perRun.map { JSONValue($0) }), ("leaveForOthers", .string("\(leaveForOthers)")),
    ])
  }
}
