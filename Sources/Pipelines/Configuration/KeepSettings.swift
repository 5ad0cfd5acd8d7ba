import JSON
import Reconciliation

/// How long files and values of finished runs are kept.
package struct KeepSettings: Sendable, Hashable {
  /// Whether the pipeline file has the section.
  ///
  /// Without it, only `attache prune` removes anything.
  package var isAsked = false
  /// The number of newest generations of a snapshot whose stores and bundles are kept.
  package var generations = 3
  /// The days for which the issued records of older generations are kept.
  package var issuedRecordDays = 60
  /// The days for which a return is kept after its edits are in the ledger.
  package var returnedDays = 90
  /// The days for which reports, and the values of resolved edits, are kept.
  package var runsDays = 400

  /// One day longer than late requests are watched for.
  static let leastRunsDays = Int(Reconciler.watchMilliseconds / KeepRule.day) + 1

  static let keys = ["generations", "issuedRecordDays", "returnedDays", "runsDays"]

  init() {}

  /// Reads the section, if present.
  ///
  /// Defaults are never shorter than bundles are valid.
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
      runsDays = object.int("runsDays", default: runsDays, in: 1...36_500)
    }
  }

  var json: JSONValue {
    [
      "generations": JSONValue(generations), "issuedRecordDays": JSONValue(issuedRecordDays),
      "returnedDays": JSONValue(returnedDays), "runsDays": JSONValue(runsDays),
    ]
  }
}
