import JSON
import Reconciliation

/// What is kept of the nights that are over, and for how long.
package struct KeepSettings: Sendable, Hashable {
  /// Whether the pipeline file asks for it: without the section only `attache prune` removes anything.
  package var isAsked = false
  /// The newest generations of a snapshot whose stores and bundles stay.
  package var generations = 3
  /// For how many days the issued records of an older generation stay.
  package var issuedRecordDays = 60
  /// For how many days a return stays whose edits are in the ledger.
  package var returnedDays = 90
  /// For how many days reports stay, and the values of settled edits in the ledger.
  package var runsDays = 400

  /// A day more than requests that may still arrive are looked out for.
  private static let leastRunsDays = Int(Reconciler.watchMilliseconds / KeepRule.day) + 1

  static let keys = ["generations", "issuedRecordDays", "returnedDays", "runsDays"]

  init() {}

  /// Reads the section, where there is one; what it does not say is no shorter than bundles are good.
  init(_ object: ConfigurationObject?, bundlesAreGood days: Int) {
    isAsked = object != nil
    issuedRecordDays = max(issuedRecordDays, days)
    if let object {
      generations = object.int("generations", default: generations, in: 1...10_000)
      issuedRecordDays = object.int("issuedRecordDays", default: issuedRecordDays, in: 1...36_500)
      returnedDays = object.int("returnedDays", default: returnedDays, in: 1...36_500)
    }
    runsDays = max(runsDays, issuedRecordDays)
    if let object {
      runsDays = object.int("runsDays", default: runsDays, in: Self.leastRunsDays...36_500)
    }
  }

  var json: JSONValue {
    [
      "generations": JSONValue(generations), "issuedRecordDays": JSONValue(issuedRecordDays),
      "returnedDays": JSONValue(returnedDays), "runsDays": JSONValue(runsDays),
    ]
  }
}
