import JSON
import Salesforce

/// How many of an org's requests a run may use.
package struct BudgetSettings: Sendable, Hashable {
  /// The most requests of a run; nil for no limit of its own.
  package var perRun: Int?
  /// The share of the org's daily requests that is left to others.
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
